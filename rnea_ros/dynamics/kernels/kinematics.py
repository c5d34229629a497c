# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Poses, velocities and accelerations of bodies, and the Jacobian of a frame on a body."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ..compilation import entry
from .bodies import BASE
from .joints import joint_transform
from .rnea import move_body
from .simd import put
from .spatial import basis_vector, component, cross_motion, load, subtract, transform_motion
from .vectors import (
    add3,
    load3,
    load33,
    multiply3,
    rotate,
    rotate_back,
    store3,
    store33,
    transpose,
)


@entry
def place_bodies(bodies: NDArray[np.void], q: Array) -> None:
    """
    Write every body's pose: ``E``, ``r`` relative to the parent, ``R``, ``p`` in the base frame.

    :param bodies: base first, parent before child; the base's own ``R`` and ``p`` are read
    :param q: joint positions, shape (nq,), rad or m
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


@entry
def move_bodies(
    bodies: NDArray[np.void],
    q: Array,
    qd: Array,
    qdd: Array,
) -> None:
    """Write every body's ``E``, ``r``, ``v``, ``a``: the outward pass of RNEA without forces."""
    for i in range(1, bodies.shape[0]):
        parent = bodies[bodies[i]['parent']]
        move_body(bodies[i], load(parent['v']), load(parent['a']), q, qd, qdd)


@entry
def frame_jacobian(
    bodies: NDArray[np.void],
    carrier: int,
    E_F: Array,
    r_F: Array,
    jacobian: Array,
) -> None:
    """
    Write the Jacobian of a frame: v_frame = J qd, [angular; linear], in the frame's coordinates.

    For each body i from the frame to the base, X transforms motion vectors from body i to the
    frame; the columns of X S_i are those of joint i (Featherstone 2008, section 4.1).

    :param bodies: with ``E``, ``r`` of the present position
    :param carrier: the body that the frame is fixed to
    :param E_F: body to frame coordinates, shape (3, 3)
    :param r_F: the frame's origin in body coordinates, shape (3,), m
    :param jacobian: shape (6, nv); overwritten
    """
    for row in range(6):
        for j in range(jacobian.shape[1]):
            put(jacobian, (row, j), 0.0)
    E, r = load33(E_F), load3(r_F)
    i = carrier
    while i != BASE:
        body = bodies[i]
        for k in range(body['dofs']):
            S = basis_vector(body['column'] + k)
            column = transform_motion(E, r, S)
            for row in range(6):
                # Mimic joints between frame and base add to the column of their joint.
                jacobian[row, body['dof'] + k] += body['ratio'] * component(column, row)
        E_up, r_up = load33(body['E']), load3(body['r'])
        r = add3(r_up, rotate_back(E_up, r))
        E = multiply3(E, E_up)
        i = body['parent']


@entry
def frame_jacobian_rate(
    bodies: NDArray[np.void],
    carrier: int,
    E_F: Array,
    r_F: Array,
    jacobian_rate: Array,
) -> None:
    """
    Write the rate of :func:`frame_jacobian`'s numbers.

    S_i is constant in body i. In the frame's coordinates, which move with v_F::

        d/dt (X S_i) = (X v_i - v_F) x X S_i

    :param bodies: with ``E``, ``r`` and ``v`` of the present position and velocity
    :param carrier: the body that the frame is fixed to
    :param E_F: body to frame coordinates, shape (3, 3)
    :param r_F: the frame's origin in body coordinates, shape (3,), m
    :param jacobian_rate: shape (6, nv); overwritten
    """
    jacobian_rate[:] = 0.0
    E, r = load33(E_F), load3(r_F)
    v_F = transform_motion(E, r, load(bodies[carrier]['v']))
    i = carrier
    while i != BASE:
        body = bodies[i]
        v = subtract(transform_motion(E, r, load(body['v'])), v_F)
        for k in range(body['dofs']):
            S = transform_motion(E, r, basis_vector(body['column'] + k))
            column = cross_motion(v, S)
            for row in range(6):
                jacobian_rate[row, body['dof'] + k] += body['ratio'] * component(column, row)
        E_up, r_up = load33(body['E']), load3(body['r'])
        r = add3(r_up, rotate_back(E_up, r))
        E = multiply3(E, E_up)
        i = body['parent']
