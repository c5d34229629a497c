# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The articulated-body algorithm: qdd = FD(q, qd, tau, f_ext) (Featherstone 2008, table 7.1).

A body and the bodies that it carries have an articulated inertia I^A and a bias force p^A:
f = I^A a + p^A is the force that gives the body the acceleration a. The inward pass removes the
degrees of freedom of each joint from I^A and p^A of its body, and adds the result to the parent's.
The outward pass computes the accelerations, starting at the base.

A joint of several degrees of freedom is eliminated one column of S at a time. This is Gaussian
elimination on D = S^T I^A S: I^A already contains the effect of the previous columns.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ...arrays import Array
from ...compilation import compiled
from .bodies import BASE, Records, floats
from .joints import add_joint_motion, joint_transform, velocity_product
from .simd import number, put
from .spatial import (
    SpatialVector,
    add,
    apply_inertia,
    basis_vector,
    component,
    cross_force,
    dot,
    load,
    scale,
    store,
    subtract,
    transform_force_back,
    transform_motion,
)
from .vectors import (
    Matrix3,
    add3,
    add33,
    cross_columns,
    load3,
    load33,
    outer,
    rotate,
    rotate_back,
    rotate_matrix_back,
    rotate_symmetric_back,
    store3,
    store33,
    subtract33,
    trace,
    transpose,
)


@cache
def articulated_dtype(lanes: tuple[int, ...] = ()) -> np.dtype[np.void]:
    """Return the dtype of one body's record, with lanes as of :func:`.bodies.body_dtype`."""
    return floats(
        lanes,
        A=(3, 3), B=(3, 3), C=(3, 3),  # I^A = [[A, B], [B^T, C]]
        p=(6,), c=(6,),
        trace=(2,),  # of A and C: a D that is tiny relative to them is only rounding error
        U=(6, 6), D=(6,), u=(6,),  # by column of S: U = I^A S, D = S^T U, u = tau - S^T p^A
    )


@compiled
def forward_dynamics(
    bodies: Records, articulated: Records, q: Array, qd: Array, tau: Array, qdd: Array
) -> None:
    """
    Write the accelerations that efforts and external forces cause into qdd.

    No two bodies may share a coordinate: this algorithm does not support mimic joints. A joint
    that moves no inertia (D = 0) gives results that are not finite. Arguments as for
    :func:`.rnea.inverse_dynamics`; ``E``, ``r``, ``v``, ``a`` of the bodies are written.

    :param articulated: one record for each body, of dtype :func:`articulated_dtype`; overwritten
    """
    for i in range(1, bodies.shape[0]):
        _initialise(bodies, bodies[i], articulated[i], q, qd)
    for i in range(bodies.shape[0] - 1, 0, -1):
        body = bodies[i]
        _eliminate_joint(body, articulated[i], tau)
        if body['parent'] != BASE:
            _add_to_parent(body, articulated[i], articulated[body['parent']])
    for i in range(1, bodies.shape[0]):
        _accelerate(bodies, bodies[i], articulated[i], qdd)


@compiled
def _initialise(bodies: Records, body: np.void, own: np.void, q: Array, qd: Array) -> None:
    """Write a body's velocity and c, and I^A and p^A of the body alone."""
    E, r = joint_transform(body, q)
    v = add_joint_motion(body, transform_motion(E, r, load(bodies[body['parent']]['v'])), qd)
    store33(body['E'], E)
    store3(body['r'], r)
    store(body['v'], v)
    # c_i = v_i x S qd
    store(own['c'], velocity_product(body, v, qd))
    # I^A_i = I_i
    mass, h, J = body['mass'], load3(body['h']), load33(body['J'])
    store33(own['A'], J)
    store33(own['B'], ((0.0, -h[2], h[1]), (h[2], 0.0, -h[0]), (-h[1], h[0], 0.0)))
    store33(own['C'], ((mass, 0.0, 0.0), (0.0, mass, 0.0), (0.0, 0.0, mass)))
    # p^A_i = v_i x* I_i v_i - f_ext
    momentum = apply_inertia(mass, h, J, v)
    store(own['p'], subtract(cross_force(v, momentum), load(body['f_ext'])))


@compiled
def _eliminate_joint(body: np.void, own: np.void, tau: Array) -> None:
    """Replace I^A by I^a, and p^A by p^a - I^a c; :func:`_add_to_parent` adds the rest."""
    put(own['trace'], 0, trace(load33(own['A'])))
    put(own['trace'], 1, trace(load33(own['C'])))
    for k in range(body['qd_size']):
        A, B, C, p = load33(own['A']), load33(own['B']), load33(own['C']), load(own['p'])
        column = body['column'] + k
        # U = I^A S,  D = S^T U,  u = tau - S^T p^A
        U = _apply(A, B, C, basis_vector(column))
        D = component(U, column)
        u = number(tau, body['qd_index'] + k) - component(p, column)
        store(own['U'][k], U)
        put(own['D'], k, D)
        put(own['u'], k, u)
        # I^a = I^A - U D^-1 U^T, and p^a without its term I^a c
        over_D = scale(1.0 / D, U)
        store33(own['A'], subtract33(A, outer(over_D[0], U[0])))
        store33(own['B'], subtract33(B, outer(over_D[0], U[1])))
        store33(own['C'], subtract33(C, outer(over_D[1], U[1])))
        store(own['p'], add(p, scale(u, over_D)))


@compiled
def _add_to_parent(body: np.void, own: np.void, parent: np.void) -> None:
    """Add a body's I^a and p^a, in its parent's coordinates, to the parent's I^A and p^A."""
    E, r = load33(body['E']), load3(body['r'])
    A, B, C = load33(own['A']), load33(own['B']), load33(own['C'])
    # p^a = p^A + U D^-1 u + I^a c,  p^A_parent = p^A_parent + X_up^T p^a
    p = add(load(own['p']), _apply(A, B, C, load(own['c'])))
    store(parent['p'], add(load(parent['p']), transform_force_back(E, r, p)))
    # I^A_parent = I^A_parent + X_up^T I^a X_up: first the rotation E, then the translation r
    A, B, C = rotate_symmetric_back(E, A), rotate_matrix_back(E, B), rotate_symmetric_back(E, C)
    rC = cross_columns(r, C)
    rB = cross_columns(r, transpose(B))
    # (B + r x C) (r x)^T = (r x (B + r x C)^T)^T
    moved = transpose(cross_columns(r, transpose(add33(B, rC))))
    store33(parent['A'], add33(load33(parent['A']), add33(add33(A, rB), moved)))
    store33(parent['B'], add33(load33(parent['B']), add33(B, rC)))
    store33(parent['C'], add33(load33(parent['C']), C))


@compiled
def _accelerate(bodies: Records, body: np.void, own: np.void, qdd: Array) -> None:
    """Write the accelerations of a body and of its joint."""
    # a' = X_up a_parent + c,  qdd = D^-1 (u - U^T a'),  a = a' + S qdd
    E, r = load33(body['E']), load3(body['r'])
    a_up = transform_motion(E, r, load(bodies[body['parent']]['a']))
    store(body['a'], add(a_up, load(own['c'])))
    for k in range(body['qd_size'] - 1, -1, -1):
        U, a = load(own['U'][k]), load(body['a'])
        acceleration = (number(own['u'], k) - dot(a, U)) / number(own['D'], k)
        put(qdd, body['qd_index'] + k, acceleration)
        a_joint = scale(acceleration, basis_vector(body['column'] + k))
        store(body['a'], add(a, a_joint))


@compiled
def _apply(A: Matrix3, B: Matrix3, C: Matrix3, m: SpatialVector) -> SpatialVector:
    """Return [[A, B], [B^T, C]] m."""
    return (
        add3(rotate(A, m[0]), rotate(B, m[1])),
        add3(rotate_back(B, m[0]), rotate(C, m[1])),
    )
