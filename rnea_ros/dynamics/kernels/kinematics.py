# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Poses, velocities and accelerations of bodies, Jacobians of a frame, mass and energy."""

from __future__ import annotations

from ...arrays import Array
from ...compilation import compiled, entry
from .bodies import BASE, Records
from .joints import add_joint_motion, joint_transform
from .rnea import move_body
from .spatial import (
    apply_inertia,
    basis_vector,
    component,
    cross_motion,
    dot,
    from_parent,
    load,
    store,
    subtract,
    transform_motion,
)
from .vectors import (
    Matrix3,
    Vector3,
    add3,
    load3,
    load33,
    multiply3,
    rotate,
    rotate_back,
    scale3,
    store3,
    store33,
    transpose,
)


@entry
def place_bodies(bodies: Records, q: Array) -> None:
    """
    Write every body's pose: ``E``, ``r`` relative to the parent, ``R``, ``p`` in the base frame.

    The base's own ``R`` and ``p`` are read.
    """
    for i in range(1, bodies.shape[0]):
        body = bodies[i]
        parent = bodies[body['parent']]
        E, r = joint_transform(body, q)
        R = load33(parent['R'])
        store33(body['E'], E)
        store3(body['r'], r)
        # R_i = R_parent E^T,  p_i = p_parent + R_parent r
        store33(body['R'], multiply3(R, transpose(E)))
        store3(body['p'], add3(load3(parent['p']), rotate(R, r)))


@compiled
def move_bodies(bodies: Records, q: Array, qd: Array, qdd: Array) -> None:
    """Write every body's ``E``, ``r``, ``v``, ``a``: the outward pass of RNEA without forces."""
    for i in range(1, bodies.shape[0]):
        parent = bodies[bodies[i]['parent']]
        move_body(bodies[i], load(parent['v']), load(parent['a']), q, qd, qdd)


@compiled
def frame_pose(bodies: Records, carrier: int, E: Matrix3, r: Vector3, q: Array, T: Array) -> None:
    """
    Write the pose of a frame on a body in the base frame, homogeneous, shape (4, 4), into T.

    E and r lead from body to frame coordinates.
    """
    i = carrier
    while i != BASE:
        E_up, r_up = joint_transform(bodies[i], q)
        E, r = from_parent(E, r, E_up, r_up)
        i = bodies[i]['parent']
    store33(T, transpose(E))
    for k in range(3):
        T[k, 3] = r[k]
        T[3, k] = 0.0
    T[3, 3] = 1.0


@compiled
def first_moment(bodies: Records, q: Array) -> tuple[float, Vector3]:
    """
    Return mass, kg, and mass times centre of mass, kg m, of all bodies in the base frame.

    From the leaves to the base, each body adds its sums, in ``f``, to those of its parent::

        m_parent += m,  h_parent += m r + E^T h
    """
    for body in bodies:
        store(body['f'], ((body['mass'], 0.0, 0.0), load3(body['h'])))
    for i in range(bodies.shape[0] - 1, BASE, -1):
        E, r = joint_transform(bodies[i], q)
        (m, _, _), h = load(bodies[i]['f'])
        sums = bodies[bodies[i]['parent']]['f']
        (m_parent, _, _), h_parent = load(sums)
        h_parent = add3(h_parent, add3(scale3(m, r), rotate_back(E, h)))
        store(sums, ((m_parent + m, 0.0, 0.0), h_parent))
    (m, _, _), h = load(bodies[BASE]['f'])
    return m, h


@compiled
def kinetic_energy(bodies: Records, q: Array, qd: Array) -> float:
    """Return the energy of all bodies, J: the sum of v^T I v / 2; ``v`` is overwritten."""
    twice = 0.0
    for i in range(bodies.shape[0]):
        body = bodies[i]
        v = load(body['v'])
        if i != BASE:
            E, r = joint_transform(body, q)
            v = transform_motion(E, r, load(bodies[body['parent']]['v']))
            v = add_joint_motion(body, v, qd)
            store(body['v'], v)
        twice += dot(v, apply_inertia(body['mass'], load3(body['h']), load33(body['J']), v))
    return 0.5 * twice


@compiled
def frame_jacobian(
    bodies: Records, carrier: int, E: Matrix3, r: Vector3, q: Array, jacobian: Array
) -> None:
    """
    Write the Jacobian of a frame: v_frame = J qd, [angular; linear], in the frame's coordinates.

    For each body i from the frame to the base, X transforms motion vectors from body i to the
    frame; the columns of X S_i are those of joint i (Featherstone 2008, section 4.1).

    :param carrier: the body that the frame is fixed to
    :param E: body to frame coordinates
    :param r: the frame's origin in body coordinates, m
    :param jacobian: shape (6, nv); overwritten
    """
    jacobian[:] = 0.0
    i = carrier
    while i != BASE:
        body = bodies[i]
        for k in range(body['qd_size']):
            S = basis_vector(body['column'] + k)
            column = transform_motion(E, r, S)
            for row in range(6):
                # Mimic joints between frame and base add to the column of the joint they follow.
                jacobian[row, body['qd_index'] + k] += body['ratio'] * component(column, row)
        E_up, r_up = joint_transform(body, q)
        E, r = from_parent(E, r, E_up, r_up)
        i = body['parent']


@compiled
def frame_jacobian_rate(
    bodies: Records, carrier: int, E: Matrix3, r: Vector3, jacobian_rate: Array
) -> None:
    """
    Write the time derivative of :func:`frame_jacobian`'s elements; arguments as there.

    S_i is constant in body i. In the frame's coordinates, which move with v_F::

        d/dt (X S_i) = (X v_i - v_F) x X S_i

    :param bodies: with ``E``, ``r`` and ``v`` of the present position and velocity
    """
    jacobian_rate[:] = 0.0
    v_F = transform_motion(E, r, load(bodies[carrier]['v']))
    i = carrier
    while i != BASE:
        body = bodies[i]
        v = subtract(transform_motion(E, r, load(body['v'])), v_F)
        for k in range(body['qd_size']):
            S = transform_motion(E, r, basis_vector(body['column'] + k))
            column = cross_motion(v, S)
            for row in range(6):
                jacobian_rate[row, body['qd_index'] + k] += body['ratio'] * component(column, row)
        E, r = from_parent(E, r, load33(body['E']), load3(body['r']))
        i = body['parent']
