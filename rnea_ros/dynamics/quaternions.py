# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Quaternions x, y, z, w as positions of spherical and floating joints."""

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
    Return q with its quaternions scaled to unit length, in place.

    :raises InputError: a quaternion whose length is not 1, with argument, joint and value
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


def rotation(quaternion: Array) -> Array:
    """Return the rotation matrix from body to parent coordinates, shape (3, 3)."""
    axis, w = quaternion[:3], quaternion[3]
    result: Array = np.eye(3) + 2.0 * (w * _skew(axis) + _skew(axis) @ _skew(axis))
    return result


def of_rotation(R: Array) -> Array:
    """Return a unit quaternion of a rotation matrix; its sign is that of its largest element."""
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()
    # Each row is the quaternion times four times one of its elements: the largest is accurate.
    rows = (
        (1.0 + a - e - i, d + b, g + c, h - f), (d + b, 1.0 - a + e - i, h + f, c - g),
        (g + c, h + f, 1.0 - a - e + i, d - b), (h - f, c - g, d - b, 1.0 + a + e + i),
    )
    row = max(zip(rows, range(4), strict=True), key=lambda pair: pair[0][pair[1]])[0]
    return np.array(row) / math.sqrt(sum(x * x for x in row))


def product(a: Array, b: Array) -> Array:
    """Return the quaternion a b, shape (4,), x, y, z, w."""
    (x, y, z, w), (u, v, s, t) = a.tolist(), b.tolist()
    return np.array([
        w * u + t * x + y * s - z * v, w * v + t * y + z * u - x * s,
        w * s + t * z + x * v - y * u, w * t - x * u - y * v - z * s,
    ])


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

    G = 1 + (1 - cos t)/t^2 [w] + (t - sin t)/t^3 [w]^2, with w the rotation vector ``turn``, shape
    (3,), rad, and t its length (Modern Robotics, eq. 3.88, for a unit axis).
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
