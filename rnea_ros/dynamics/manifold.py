# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Joint positions with quaternions: integration of a velocity, and the difference of two positions.

The position of a spherical joint is a quaternion, that of a floating joint a vector and a
quaternion. Their velocity is that of the moving body in its own axes. Integration is the
exponential map of SO(3) or SE(3), the difference its inverse, the logarithm (Lynch and Park,
*Modern Robotics*, 2017, sections 3.2.3 and 3.3.3). Coordinates of all other joints are added and
subtracted.
"""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import TypeAlias

import numpy as np

from ..arrays import Array
from ..errors import InputError

Quaternions: TypeAlias = Sequence[tuple[str, int, int, bool]]
"""Joints with a quaternion: name, index in q, index in qd, whether the joint is floating."""

UNIT_TOLERANCE = 1e-6
"""Largest deviation of a quaternion's length from 1."""


def with_unit_quaternions(argument: str, q: Array, quaternions: Quaternions) -> Array:
    """
    Return q with its quaternions scaled to unit length.

    :param argument: name of the argument, for the error
    :param q: joint positions, shape (nq,); changed in place
    :param quaternions: joints with a quaternion
    :raises InputError: a quaternion whose length is not 1, with joint and value
    """
    for joint, start, _, floats in quaternions:
        where = slice(start + 3, start + 7) if floats else slice(start, start + 4)
        length = math.hypot(*q[where])
        if not abs(length - 1.0) <= UNIT_TOLERANCE:
            raise InputError(
                argument,
                f'the quaternion of joint {joint!r} has length {length}: {q[where].tolist()}',
            )
        q[where] /= length
    return q


def normalised(q: Array, quaternions: Quaternions) -> Array:
    """
    Return joint positions with quaternions scaled to unit length.

    :param q: joint positions, shape (nq,); quaternions of any length but zero
    :param quaternions: joints with a quaternion
    :raises InputError: a quaternion of zeros, which is no rotation, with the joint
    """
    result = q.copy()
    for joint, start, _, floats in quaternions:
        where = slice(start + 3, start + 7) if floats else slice(start, start + 4)
        largest = np.abs(result[where]).max()
        if largest == 0.0:
            reason = f'the quaternion of joint {joint!r} is zero; no rotation is 0, 0, 0, 1'
            raise InputError('q', reason)
        result[where] /= largest  # the squares of its numbers now neither overflow nor vanish
        result[where] /= np.linalg.norm(result[where])
    return result


def position_rate(
    q: Array, v: Array, quaternions: Quaternions, vectors: Sequence[tuple[slice, slice]]
) -> Array:
    """
    Return the rate of change of every number of q.

    A quaternion changes by half its product with (omega, 0) (Featherstone 2008, eq. 4.13).

    :param q: joint positions, shape (nq,)
    :param v: joint velocities, shape (nv,)
    :param quaternions: joints with a quaternion
    :param vectors: parts of q and v of all other joints
    """
    rate = np.zeros_like(q)
    for positions, velocities in vectors:
        rate[positions] = v[velocities]
    for _, i, j, floats in quaternions:
        if floats:
            rate[i : i + 3] = rotation(q[i + 3 : i + 7]) @ v[j + 3 : j + 6]
            i += 3
        rate[i : i + 4] = 0.5 * product(q[i : i + 4], np.append(v[j : j + 3], 0.0))
    return rate


def integrate(
    q: Array, v: Array, dt: float, quaternions: Quaternions, vectors: Sequence[tuple[slice, slice]]
) -> Array:
    """
    Return the joint positions after a motion at constant velocity.

    :param q: joint positions, shape (nq,)
    :param v: joint velocities, shape (nv,)
    :param dt: duration, s
    :param quaternions: joints with a quaternion
    :param vectors: parts of q and v of all other joints
    """
    result = q.copy()
    for positions, velocities in vectors:
        result[positions] += v[velocities] * dt
    for _, i, j, floats in quaternions:
        turn = v[j : j + 3] * dt
        if floats:
            R = rotation(q[i + 3 : i + 7])
            result[i : i + 3] += R @ left_jacobian(turn) @ v[j + 3 : j + 6] * dt
            i += 3
        turned = product(q[i : i + 4], exponential(turn))
        result[i : i + 4] = turned / np.linalg.norm(turned)
    return result


def difference(
    q0: Array, q1: Array, quaternions: Quaternions, vectors: Sequence[tuple[slice, slice]], nv: int
) -> Array:
    """
    Return the velocity that leads from q0 to q1 in unit time: integrate(q0, result, 1) = q1.

    Quaternions take the shorter way.

    :param q0: joint positions, shape (nq,)
    :param q1: joint positions, shape (nq,)
    :param quaternions: joints with a quaternion
    :param vectors: parts of q and v of all other joints
    :param nv: the number of velocities
    """
    v = np.zeros(nv)
    for positions, velocities in vectors:
        v[velocities] = q1[positions] - q0[positions]
    for _, i, j, floats in quaternions:
        k = i + 3 if floats else i
        turn = logarithm(product(conjugate(q0[k : k + 4]), q1[k : k + 4]))
        v[j : j + 3] = turn
        if floats:
            moved = rotation(q0[k : k + 4]).T @ (q1[i : i + 3] - q0[i : i + 3])
            v[j + 3 : j + 6] = np.linalg.solve(left_jacobian(turn), moved)
    return v


def rotation(quaternion: Array) -> Array:
    """Return the rotation matrix from body to parent coordinates, shape (3, 3)."""
    axis, w = quaternion[:3], quaternion[3]
    result: Array = np.eye(3) + 2.0 * (w * _skew(axis) + _skew(axis) @ _skew(axis))
    return result


def product(a: Array, b: Array) -> Array:
    """Return the quaternion a b, shape (4,), x, y, z, w."""
    vector = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.append(vector, a[3] * b[3] - np.dot(a[:3], b[:3]))


def conjugate(quaternion: Array) -> Array:
    """Return the inverse of a unit quaternion."""
    inverse: Array = quaternion * np.array([-1.0, -1.0, -1.0, 1.0])
    return inverse


def exponential(turn: Array) -> Array:
    """Return the unit quaternion of a rotation vector, shape (3,), rad."""
    half = 0.5 * math.sqrt(np.dot(turn, turn))
    return np.append(0.5 * np.sinc(half / math.pi) * turn, math.cos(half))


def logarithm(quaternion: Array) -> Array:
    """Return the rotation vector of a unit quaternion, shape (3,), of length 0 to pi rad."""
    vector, w = quaternion[:3], quaternion[3]
    if w < 0.0:
        vector, w = -vector, -w
    sine = math.sqrt(np.dot(vector, vector))
    if sine < 1e-8:
        return 2.0 * vector  # 2 asin(s) / s = 2 + s^2 / 3
    turn: Array = 2.0 * math.atan2(sine, w) / sine * vector
    return turn


def left_jacobian(turn: Array) -> Array:
    """
    Return G: a body that moves with the twist (turn, u) for unit time arrives at G u.

    G = 1 + (1 - cos t)/t^2 [w] + (t - sin t)/t^3 [w]^2, with t the length of w (Modern
    Robotics, eq. 3.88, for a rotation vector instead of a unit axis).

    :param turn: rotation vector w, shape (3,), rad
    """
    angle = math.sqrt(np.dot(turn, turn))
    # 1 - cos t = 2 sin^2(t / 2) is accurate; (t - sin t) / t^3 is not below 1e-2
    first = 0.5 * np.sinc(0.5 * angle / math.pi) ** 2
    if angle < 1e-2:
        second = 1.0 / 6.0 - angle**2 / 120.0 + angle**4 / 5040.0
    else:
        second = (angle - math.sin(angle)) / angle**3
    W = _skew(turn)
    result: Array = np.eye(3) + first * W + second * W @ W
    return result


def _skew(a: Array) -> Array:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
