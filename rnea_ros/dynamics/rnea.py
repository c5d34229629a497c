# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The recursive Newton-Euler algorithm: tau = ID(q, qd, qdd, f_ext).

Two passes over the tree (Featherstone 2008, table 5.1, equations in body coordinates). Outwards,
from the base to the leaves, each body's velocity and acceleration follow from its parent's; what
force such motion needs is the body's equation of motion. Inwards, from the leaves to the base,
each joint carries its body's force and what its children passed on, and the joint's own direction
picks the torque out of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .compiled import compiled
from .joints import joint_effort, joint_motion, joint_transform
from .spatial import (
    ZERO,
    add,
    apply_inertia,
    cross_force,
    cross_motion,
    load,
    load3,
    load33,
    store,
    store3,
    store33,
    subtract,
    transform_force_back,
    transform_motion,
)


@compiled
def inverse_dynamics(
    bodies: NDArray[np.void],
    q: NDArray[np.float64],
    qd: NDArray[np.float64],
    qdd: NDArray[np.float64],
    tau: NDArray[np.float64],
) -> None:
    """
    Write into tau the generalised forces that the motion needs (tables 5.1 and 5.2).

    :param bodies: bodies of a :class:`~rnea_ros.dynamics.workspace.Workspace`, base first, parent
        before child; the base's ``a`` is minus gravity, ``f_ext`` is the force that the
        environment exerts on the body, [moment; force] in body coordinates. ``v``, ``a``, ``f``,
        ``E``, ``r`` are written
    :param q: joint positions, shape (n,), rad or m
    :param qd: joint velocities, shape (n,), rad/s or m/s
    :param qdd: joint accelerations, shape (n,), rad/s^2 or m/s^2
    :param tau: joint efforts, shape (n,), N m or N; overwritten
    """
    for j in range(tau.shape[0]):
        tau[j] = 0.0
    store(bodies[0]['f'], ZERO)

    for i in range(1, bodies.shape[0]):
        body = bodies[i]
        parent = bodies[body['parent']]
        kind, j, ratio = body['kind'], body['coordinate'], body['ratio']

        # X_up = X_J X_T,  v_J = S qd; a mimic joint's coordinate is that of the joint it follows
        E, r = joint_transform(
            kind, ratio * q[j] + body['offset'], load33(body['E_T']), load3(body['r_T'])
        )
        v_J = joint_motion(kind, ratio * qd[j])
        a_J = joint_motion(kind, ratio * qdd[j])

        # v_i = X_up v_parent + v_J                                           (5.14)
        v = add(transform_motion(E, r, load(parent['v'])), v_J)
        # a_i = X_up a_parent + S qdd + v_i x v_J, with a_0 = -g              (5.15)
        a = add(add(transform_motion(E, r, load(parent['a'])), a_J), cross_motion(v, v_J))
        # f_i = I_i a_i + v_i x* I_i v_i - f_ext                              (5.16)
        mass, h, J = body['mass'], load3(body['h']), load33(body['J'])
        f = subtract(
            add(
                apply_inertia(mass, h, J, a),
                cross_force(v, apply_inertia(mass, h, J, v)),
            ),
            load(body['f_ext']),
        )

        store33(body['E'], E)
        store3(body['r'], r)
        store(body['v'], v)
        store(body['a'], a)
        store(body['f'], f)

    for i in range(bodies.shape[0] - 1, 0, -1):
        body = bodies[i]
        parent = bodies[body['parent']]
        f = load(body['f'])
        # tau_i = S^T f_i                                                     (5.11)
        tau[body['coordinate']] += body['ratio'] * joint_effort(body['kind'], f)
        # f_parent = f_parent + X_up^T f_i                                    (5.20)
        f_at_parent = transform_force_back(load33(body['E']), load3(body['r']), f)
        store(parent['f'], add(load(parent['f']), f_at_parent))
