# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The Coriolis matrix C(q, qd), by composite bodies; dM/dt = C + C^T.

S. Echeandia and P. M. Wensing, *Numerical methods to compute the Coriolis matrix and Christoffel
symbols for rigid-body systems*, ASME J. Comput. Nonlinear Dynam. 16 (2021). Of all matrices for
which C qd are the Coriolis efforts, it is that of the Christoffel symbols; dM/dt - 2 C is skew.
With the velocity v and the momentum p = I v of a body, and I^c and B^c of composite bodies::

    B     = (Idot + [p]) / 2,   Idot = v x* I - I v x,   [p] m = m x* p
    C_ij  = S_i^T (I^c_j (v_j x S_j) + B^c_j S_j)                  for i between j and the base
    C_ji  = (v_i x S_i)^T I^c_j S_j + S_i^T B^c_j^T S_j

Idot is the rate of the inertia about a fixed point, seen from axes that do not turn. It has the
ten numbers of an inertia, with the mass 0. Idot is symmetric, [p] skew.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...compilation import compiled
from .bodies import BASE, Records, floats
from .joints import add_joint_motion, joint_transform
from .spatial import (
    ZERO,
    SpatialVector,
    add,
    apply_inertia,
    basis_vector,
    component,
    cross_force,
    cross_motion,
    dot,
    inertia_column,
    load,
    scale,
    store,
    subtract,
    transform_force_back,
    transform_inertia_back,
    transform_motion,
)
from .vectors import (
    Matrix3,
    Vector3,
    add3,
    add33,
    cross,
    cross_columns,
    dot3,
    load3,
    load33,
    outer,
    scale3,
    store3,
    store33,
    subtract33,
    transpose,
    with_diagonal,
)

MOVING_COMPOSITE = floats((), mass=(), h=(3,), J=(3, 3), h_rate=(3,), J_rate=(3, 3), p=(6,))
"""Inertia I^c, its rate, and momentum of a composite body."""


@compiled
def coriolis_matrix(bodies: Records, composites: Records, q: Array, qd: Array, C: Array) -> None:
    """
    Write the Coriolis matrix into C, shape (nv, nv), of a base at rest.

    :param bodies: base first, parent before child; ``E``, ``r`` and ``v`` are written
    :param composites: as many, of dtype :data:`MOVING_COMPOSITE`; overwritten
    """
    C[:] = 0.0
    for i in range(1, bodies.shape[0]):
        body = bodies[i]
        E, r = joint_transform(body, q)
        v = ZERO
        if body['parent'] != BASE:
            v = transform_motion(E, r, load(bodies[body['parent']]['v']))
        v = add_joint_motion(body, v, qd)
        store33(body['E'], E)
        store3(body['r'], r)
        store(body['v'], v)
        _initialise(body, composites[i], v)

    for i in range(bodies.shape[0] - 1, 0, -1):
        body, composite = bodies[i], composites[i]
        for k in range(body['qd_size']):
            _write_row_and_column(bodies, composite, i, k, C)
        if body['parent'] != BASE:
            _add_to_parent(body, composite, composites[body['parent']])


@compiled
def _initialise(body: np.void, composite: np.void, v: SpatialVector) -> None:
    """Write I, its rate, and p of the body alone."""
    mass, h, J = body['mass'], load3(body['h']), load33(body['J'])
    w, u = v
    composite['mass'] = mass
    store3(composite['h'], h)
    store33(composite['J'], J)
    # d/dt h = w x h + m u
    store3(composite['h_rate'], add3(cross(w, h), scale3(mass, u)))
    # d/dt J = w x J - J w x + 2 (h.u) 1 - h u^T - u h^T
    w_J = cross_columns(w, J)
    J_rate = add33(w_J, transpose(w_J))
    J_rate = subtract33(subtract33(J_rate, outer(h, u)), outer(u, h))
    store33(composite['J_rate'], with_diagonal(J_rate, 2.0 * dot3(h, u)))
    # p = I v
    store(composite['p'], apply_inertia(mass, h, J, v))


@compiled
def _write_row_and_column(bodies: Records, composite: np.void, j: int, k: int, C: Array) -> None:
    """Add to the elements of column k of joint j and of all joints i between it and the base."""
    body = bodies[j]
    mass, h, J = composite['mass'], load3(composite['h']), load33(composite['J'])
    column, own, ratio = body['column'] + k, body['qd_index'] + k, body['ratio']
    S = basis_vector(column)
    # I_rate S and [p] S = S x* p, both halved
    h_rate, J_rate = load3(composite['h_rate']), load33(composite['J_rate'])
    half_I_rate_S = scale(0.5, inertia_column(0.0, h_rate, J_rate, column))
    half_p_S = scale(0.5, cross_force(S, load(composite['p'])))
    # I^c (v x S) + B^c S,  I^c S,  B^c^T S
    I_S_rate = apply_inertia(mass, h, J, cross_motion(load(body['v']), S))
    F_1 = add(I_S_rate, add(half_I_rate_S, half_p_S))
    F_2 = inertia_column(mass, h, J, column)
    F_3 = subtract(half_I_rate_S, half_p_S)
    for other in range(body['qd_size']):
        C[body['qd_index'] + other, own] += ratio * ratio * component(F_1, body['column'] + other)
    while body['parent'] != BASE:
        E, r = load33(body['E']), load3(body['r'])
        F_1, F_2, F_3 = (
            transform_force_back(E, r, F_1),
            transform_force_back(E, r, F_2),
            transform_force_back(E, r, F_3),
        )
        body = bodies[body['parent']]
        for other in range(body['qd_size']):
            i, S_i = body['qd_index'] + other, basis_vector(body['column'] + other)
            both = ratio * body['ratio']
            C[i, own] += both * dot(S_i, F_1)
            S_i_rate = cross_motion(load(body['v']), S_i)
            C[own, i] += both * (dot(S_i_rate, F_2) + dot(S_i, F_3))


@compiled
def _add_to_parent(body: np.void, composite: np.void, parent: np.void) -> None:
    """Add I^c, its rate and p, in the parent's coordinates, to the parent's."""
    E, r, mass = load33(body['E']), load3(body['r']), composite['mass']
    h, J = transform_inertia_back(E, r, mass, load3(composite['h']), load33(composite['J']))
    parent['mass'] += mass
    _add_moments(parent['h'], parent['J'], h, J)
    h, J = load3(composite['h_rate']), load33(composite['J_rate'])
    h, J = transform_inertia_back(E, r, 0.0, h, J)
    _add_moments(parent['h_rate'], parent['J_rate'], h, J)
    p = transform_force_back(E, r, load(composite['p']))
    store(parent['p'], add(load(parent['p']), p))


@compiled
def _add_moments(h_sum: Array, J_sum: Array, h: Vector3, J: Matrix3) -> None:
    store3(h_sum, add3(load3(h_sum), h))
    store33(J_sum, add33(load33(J_sum), J))
