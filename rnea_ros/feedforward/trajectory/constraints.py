# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
How far and how fast a motion goes between its points, and whether that is within the limits.

A spline swings out where it turns and where its speed changes. How far is exact: the extremes of
a polynomial are at its ends or where its slope is zero. Slopes are searched for zeros only where
the sizes of the coefficients leave it open whether a limit is kept.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from .rules import JointRules, TrajectoryReason, refuse_where
from .spline import turning_points, values_at
from .trajectory import Trajectory

OVERSHOOT = 1e-3
"""
How far a motion may be beyond a position limit between points, rad or m.

A spline swings out a little around a turning point: below the tracking error it does no harm.
"""

OVERSPEED = 1.05
"""
How many velocity limits a motion may reach.

Splines through samples of a motion at full speed swing over it: by 5 % where it speeds up by
15 rad/s^2 and is sampled every 0.1 s.
"""


def check_positions(trajectory: Trajectory, first_point: int, rules: JointRules) -> None:
    """
    Refuse a motion that goes beyond a position limit between two points that are within it.

    :param trajectory: the motion
    :param first_point: what its first knot counts as: a point, or -1 for the start state
    :param rules: what it is held to
    :raises TrajectoryError: if it does so by more than a milliradian or millimetre
    """
    q = trajectory.knots.positions
    lower = np.minimum(rules.lower, np.minimum(q[:-1], q[1:])) - OVERSHOOT
    upper = np.maximum(rules.upper, np.maximum(q[:-1], q[1:])) + OVERSHOOT
    lowest, highest = _extremes(trajectory.coefficients, lower, upper)
    refuse_where(
        (lowest < lower) | (highest > upper),
        TrajectoryReason.POSITION_LIMIT,
        lambda row, joint: f'moves from {lowest[row, joint]} to {highest[row, joint]} on the way, '
        f'which is not in [{rules.lower[joint]}, {rules.upper[joint]}]',
        trajectory.joint_names,
        first_point + 1,
    )


def check_velocities(trajectory: Trajectory, first_point: int, rules: JointRules) -> None:
    """
    Refuse a motion that is faster than a velocity limit, at a point or between points.

    :param trajectory: the motion; one of a single point has the velocity of that
    :param first_point: what its first knot counts as: a point, or -1 for the start state
    :param rules: what it is held to
    :raises TrajectoryError: if it is so by more than 5 %
    """
    limits = OVERSPEED * rules.velocity_limits
    knots = trajectory.knots
    speeds = np.abs(knots.velocities)
    if knots.times.size > 1:
        powers = np.arange(1.0, 6.0)[:, np.newaxis]
        slopes = powers / np.diff(knots.times)[:, np.newaxis, np.newaxis]
        slowest, fastest = _extremes(slopes * trajectory.coefficients[:, 1:], -limits, limits)
        speeds = np.maximum(-slowest, fastest)
        first_point += 1
    refuse_where(
        speeds > limits,
        TrajectoryReason.VELOCITY_LIMIT,
        lambda row, joint: f'moves at {speeds[row, joint]} on the way, '
        f'more than the limit of {rules.velocity_limits[joint]}',
        trajectory.joint_names,
        first_point,
    )


def _extremes(coefficients: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """
    Return the least and the greatest value of polynomials for s in [0, 1].

    Where those are seen to be between the bounds without a search, the values at 0 stand for them.

    :param coefficients: of s^0, s^1 and so on, shape (segments, powers, joints)
    :param lower: bounds, shape (segments, joints) or (joints,)
    :param upper: likewise
    :returns: two arrays of shape (segments, joints)
    """
    start = coefficients[:, 0]
    reach = np.abs(coefficients[:, 1:]).sum(axis=1)
    unclear = (start - reach < lower) | (start + reach > upper)
    lowest, highest = start.copy(), start.copy()
    if unclear.any():
        polynomials = np.moveaxis(coefficients, 1, 0)[:, unclear]
        values = values_at(polynomials, turning_points(polynomials))
        lowest[unclear], highest[unclear] = values.min(axis=0), values.max(axis=0)
    return lowest, highest
