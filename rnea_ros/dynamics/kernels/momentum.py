# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The generalised momentum p = M(q) qd and its rate without joint efforts, for observers.

::

    dp/dt = tau + C(q, qd)^T qd - g(q) + J^T f_ext

(De Luca and Mattone 2005, equations 4 to 6; Haddadin, De Luca and Albu-Schaeffer 2017, section
V-D, where C is the matrix with dM/dt = C + C^T.) Neither C nor dM/dt is computed. Let h_i be the
momentum of body i and of all bodies that it carries. In a frame that does not turn,
dh_i/dt = f_i + w_i with the force f_i through joint i and the bodies' weight w_i, and
dS_i/dt = v_i x S_i, because S_i is constant in the body. So::

    p_i     = S_i^T h_i
    dp_i/dt = S_i^T (f_i + w_i) + (v_i x S_i)^T h_i
            = tau_i + S_i^T (w_i - v_i x* h_i)

and S_i^T (w_i - v_i x* h_i) is element i of C^T qd - g: one pass outwards and one inwards, about
the work of RNEA. On a moving base all this is seen from a frame that moves with the origin of the
base but does not turn: there the base has only its angular velocity, and its acceleration is a
part of gravity. The angular acceleration of the base is not needed.
"""

from __future__ import annotations

from ...arrays import Array
from ...compilation import compiled
from .bodies import BASE, Records
from .joints import add_joint_efforts, add_joint_motion, joint_transform
from .spatial import (
    ZERO,
    add,
    apply_inertia,
    cross_force,
    load,
    store,
    subtract,
    transform_force_back,
    transform_motion,
)
from .vectors import add3, cross, load3, load33, rotate, scale3, store3, store33


@compiled
def generalised_momentum(
    bodies: Records, weights: Array, q: Array, qd: Array, p: Array, rate: Array
) -> None:
    """
    Write p = M qd and C^T qd - g, without external forces.

    :param bodies: as for :func:`.rnea.inverse_dynamics`; ``f`` becomes the momentum h_i
    :param weights: as many weights w_i, shape (bodies, 6); overwritten
    :param p: generalised momentum, shape (nv,), N m s or N s; overwritten
    :param rate: C^T qd - g, shape (nv,), N m or N; overwritten
    """
    base_v, base_a = load(bodies[BASE]['v']), load(bodies[BASE]['a'])
    # Acceleration of the base's origin, minus gravity (Featherstone 2008, section 2.11).
    base_d = add3(base_a[1], cross(base_v[0], base_v[1]))
    base_v = (base_v[0], ZERO[0])
    v, d = base_v, base_d
    for i in range(1, bodies.shape[0]):
        body = bodies[i]
        if body['parent'] == BASE:
            v, d = base_v, base_d
        elif body['parent'] != i - 1:  # otherwise v and d are already the parent's
            parent = bodies[body['parent']]
            v, d = load(parent['v']), load(parent['a'])[1]
        E, r = joint_transform(body, q)
        v = add_joint_motion(body, transform_motion(E, r, v), qd)
        d = rotate(E, d)
        store33(body['E'], E)
        store3(body['r'], r)
        store(body['v'], v)
        store(body['a'], (ZERO[0], d))
        # h_i = I_i v_i,  w_i = m_i g at the centre of mass, with d = -g
        h = load3(body['h'])
        store(body['f'], apply_inertia(body['mass'], h, load33(body['J']), v))
        store(weights[i], (cross(d, h), scale3(-body['mass'], d)))

    p[:] = 0.0
    rate[:] = 0.0
    for i in range(bodies.shape[0] - 1, 0, -1):
        body = bodies[i]
        h_i, w_i = load(body['f']), load(weights[i])
        # p_i = S_i^T h_i,  rate_i = S_i^T (w_i - v_i x* h_i)
        add_joint_efforts(body, h_i, p)
        add_joint_efforts(body, subtract(w_i, cross_force(load(body['v']), h_i)), rate)
        parent = body['parent']
        if parent != BASE:
            # h_parent = h_parent + X_up^T h_i, and the same for the weights
            E, r = load33(body['E']), load3(body['r'])
            momenta = bodies[parent]['f']
            store(momenta, add(load(momenta), transform_force_back(E, r, h_i)))
            store(weights[parent], add(load(weights[parent]), transform_force_back(E, r, w_i)))
