# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Splines: the points of a motion, and the polynomial of each segment between two points.

In: :class:`Knots`. Out: coefficients, shape (segments, 6, joints).

A segment is the polynomial of lowest degree through the fields that both its points have, as in
ros2_control's joint_trajectory_controller (JTC): linear for positions, cubic for positions and
velocities, quintic for positions, velocities and accelerations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array

# Degree of the polynomial between two points with the same fields.
LINEAR, CUBIC, QUINTIC = 1, 3, 5

# Rows: coefficients of s^0 to s^5 for s in [0, 1]. Columns: q0, h v0, h^2 a0, q1 - q0, h v1,
# h^2 a1 for a segment of h seconds. With q1 - q0 instead of q1, a joint many turns from zero
# keeps its digits, and a joint at rest gives exact zeros.
_FROM_ENDS = {
    LINEAR: (
        (1.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 1.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    ),
    CUBIC: (
        (1.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, 1.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, -2.0, 0.0, 3.0, -1.0, 0.0),
        (0.0, 1.0, 0.0, -2.0, 1.0, 0.0),
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    ),
    QUINTIC: (
        (1.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, 1.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.5, 0.0, 0.0, 0.0),
        (0.0, -6.0, -1.5, 10.0, -4.0, 0.5),
        (0.0, 8.0, 1.5, -15.0, 7.0, -1.0),
        (0.0, -3.0, -0.5, 6.0, -3.0, 0.5),
    ),
}


@dataclass(frozen=True, eq=False)
class Knots:
    """
    The points of a motion as read-only copies of arrays.

    :param times: strictly increasing times, shape (points,), s from the start
    :param positions: shape (points, joints), rad or m
    :param velocities: shape (points, joints), rad/s or m/s; 0 where a point has none
    :param accelerations: shape (points, joints), rad/s^2 or m/s^2; 0 where a point has none
    :param degrees: :data:`LINEAR`, :data:`CUBIC` or :data:`QUINTIC` by the fields of each point,
        shape (points,)
    :param efforts: efforts added to the output, shape (points, joints), N m or N; ``None`` for
        none
    """

    times: Array
    positions: Array
    velocities: Array
    accelerations: Array
    degrees: NDArray[np.int64]
    efforts: Array | None = None

    def __post_init__(self) -> None:
        for name, given in vars(self).items():
            if given is not None:
                copy = given.copy()
                copy.setflags(write=False)
                object.__setattr__(self, name, copy)


def coefficients(knots: Knots) -> Array:
    """Return the polynomials for s in [0, 1] in each segment, shape (segments, 6, joints)."""
    h = np.diff(knots.times)[:, np.newaxis]
    ends = np.stack(
        (
            knots.positions[:-1],
            h * knots.velocities[:-1],
            h * h * knots.accelerations[:-1],
            np.diff(knots.positions, axis=0),
            h * knots.velocities[1:],
            h * h * knots.accelerations[1:],
        ),
        axis=1,
    )
    polynomials = np.empty_like(ends)
    degrees = np.minimum(knots.degrees[:-1], knots.degrees[1:])
    for degree, from_ends in _FROM_ENDS.items():
        chosen = degrees == degree
        polynomials[chosen] = np.array(from_ends) @ ends[chosen]
    return polynomials


# Bisection steps for a zero of a slope: 2^-40, or 1e-12 of a segment.
_BISECTIONS = 40


def turning_points(polynomials: Array) -> Array:
    """
    Return 0, 1, and every s in between where the polynomials turn; perhaps others too.

    Between two of its own turning points a slope is monotone and has one zero at most. So the
    zeros of a slope are found by bisection between the turning points of the slope (recursion).

    :param polynomials: coefficients, shape (powers, k)
    :returns: values of s in increasing order, shape (powers, k)
    """
    ends = np.zeros((2, polynomials.shape[1]))
    ends[1] = 1.0
    if len(polynomials) <= 2:
        return ends
    # Scaling leaves the turning points in place and avoids overflow of the slopes.
    size = np.maximum(np.abs(polynomials).max(axis=0), np.finfo(np.float64).tiny)
    slope = np.arange(1.0, len(polynomials))[:, np.newaxis] * (polynomials[1:] / size)
    between = turning_points(slope)
    low, high = between[:-1], between[1:]
    rises = values_at(slope, low) > 0.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        passed = (values_at(slope, middle) > 0.0) != rises
        low, high = np.where(passed, low, middle), np.where(passed, middle, high)
    return np.concatenate((ends[:1], high, ends[1:]))


def values_at(polynomials: Array, s: Array) -> Array:
    """Return polynomials, shape (powers, k), at arguments, shape (points, k): (points, k)."""
    values = np.broadcast_to(polynomials[-1], s.shape)
    for coefficient in polynomials[-2::-1]:
        values = values * s + coefficient
    return values
