# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Checks of the compiled motion: finite, near the robot, within its limits.

Between points a spline moves further and faster than at its points. The extremes checked here are
exact: a polynomial has its extremes at its ends or where its slope is zero. To save time, slopes
are searched for zeros only in segments whose coefficients are large enough to break a limit.

Positions q of the motion or the robot have shape (joints,), rad or m. ``first_point`` is the point
of the request at the first knot; -1 for the start state.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from .parse import JointRules, TrajectoryReason, reject_where
from .trajectory import Knots, Trajectory, derivative, turning_points, values_at

# Accepted distance beyond a position limit, rad or m: a spline overshoots a little at a turning
# point, and less than the tracking error does no harm.
OVERSHOOT = 1e-3

# Accepted velocity as a multiple of the limit: a spline through samples of a motion at full speed
# exceeds the limit a little, by 5 % at 15 rad/s^2 and a sample every 0.1 s.
OVERSPEED = 1.05

MAX_EXCESS = 0.5  # beyond a position limit from which a joint may come back, rad or m
EFFORT_RISE = 0.1  # time from zero to full effort at the default rate limit, s


def check_points(points: Knots, rules: JointRules) -> None:
    """Reject accelerations and efforts of points that the robot cannot have."""
    efforts = np.zeros_like(points.positions) if points.efforts is None else points.efforts
    for reason, values, limits in (
        (TrajectoryReason.ACCELERATION_LIMIT, points.accelerations, rules.acceleration_limits),
        (TrajectoryReason.EFFORT_LIMIT, efforts, rules.effort_limits),
    ):
        reject_where(
            np.abs(values) > limits, reason, rules.joint_names, 0,
            '{:.6g}, the robot at most {:.6g}', values, limits,
        )


def check_finite(trajectory: Trajectory, first_point: int) -> None:
    """Reject a motion with a sample that overflows."""
    with np.errstate(over='ignore', invalid='ignore', divide='ignore'):
        rate = 1.0 / np.diff(trajectory.knots.times)[:, np.newaxis]
        power = np.arange(6.0)
        weights = 1.0 + power * rate + power * (power - 1.0) * rate * rate
        # An upper bound for every partial sum of a position, velocity or acceleration.
        bound = np.abs(trajectory.knots.positions)
        bound[1:] += np.einsum('sp,spj->sj', weights, np.abs(trajectory.coefficients))
    reject_where(
        ~np.isfinite(bound), TrajectoryReason.NOT_FINITE, trajectory.joint_names, first_point,
        'the motion to {} overflows', trajectory.knots.positions,
    )


def check_start(
    trajectory: Trajectory, elapsed: float, q: Array, q_measured: Array, rules: JointRules,
    first_point: int = 0,
) -> None:
    """Reject a motion whose q at a time, s, is not near the robot's."""
    knot = int(np.searchsorted(trajectory.knots.times, elapsed, side='right')) - 1
    reject_where(
        np.abs(rules.shortest_way(q - q_measured)) > rules.start_tolerance,
        TrajectoryReason.START_TOO_FAR, rules.joint_names, knot + first_point,
        '{} at {} s is more than {} from {}', q, elapsed, rules.start_tolerance, q_measured,
    )


def check_positions(
    trajectory: Trajectory, first_point: int, q_robot: Array, rules: JointRules
) -> None:
    """
    Reject a motion beyond the position limits by more than OVERSHOOT, also a single point.

    A robot beyond a limit may come back: each point is nearer to the limit than the one before.
    """
    q = trajectory.knots.positions
    before = np.vstack((np.clip(q_robot, *position_range(rules, q_robot)), q[:-1]))
    lower = np.minimum(rules.lower, np.maximum.accumulate(before)) - OVERSHOOT
    upper = np.maximum(rules.upper, np.minimum.accumulate(before)) + OVERSHOOT
    between = _extremes(trajectory.coefficients, lower[1:], upper[1:])
    lowest, highest = (np.vstack((q[:1], values)) for values in between)
    reject_where(
        (lowest < lower) | (highest > upper), TrajectoryReason.POSITION_LIMIT,
        trajectory.joint_names, first_point,
        'moves from {} to {} on the way, which is not in [{}, {}]',
        lowest, highest, lower + OVERSHOOT, upper - OVERSHOOT,
    )


def check_rates(
    trajectory: Trajectory, first_point: int, rules: JointRules, *, single_point: bool
) -> None:
    """
    Reject velocities above OVERSPEED, and impossible accelerations.

    Points are rounded and noisy: in a segment shorter than EFFORT_RISE, the change of velocity is
    limited. The way to a single point, as in a stream, may use half of that, or the arm lags.
    """
    knots, joints = trajectory.knots, trajectory.joint_names
    limits = OVERSPEED * rules.velocity_limits
    single = knots.times.size == 1
    speeds = np.abs(knots.velocities) if single else _peaks(trajectory, 1, limits)
    way_out = '; send several points, with allow_trajectory_replacement' if single_point else ''
    reject_where(
        speeds > limits, TrajectoryReason.VELOCITY_LIMIT, joints,
        first_point if single else first_point + 1,
        'moves at {} on the way, more than the limit of {}' + way_out,
        speeds, rules.velocity_limits,
    )
    durations = np.diff(knots.times)[:, np.newaxis]
    share = durations / EFFORT_RISE
    share = 0.5 * np.minimum(share, 1.0) if single_point else np.maximum(1.0 / share, 1.0)
    possible = share * rules.acceleration_limits
    peaks = _peaks(trajectory, 2, possible)
    if single_point:
        step = derivative(trajectory, 1)[:, 0] - knots.velocities[:1]
        peaks = np.maximum(peaks, share * np.abs(step) / durations)
    reject_where(
        peaks > possible, TrajectoryReason.ACCELERATION_LIMIT, joints, first_point + 1,
        'accelerates at {:.6g} on the way, the robot at most at {:.6g} in {:.3g} s' + way_out,
        peaks, possible, durations,
    )


def position_range(rules: JointRules, q_robot: Array) -> tuple[Array, Array]:
    """Return position limits, widened to a joint's position if it is near outside."""
    below = np.where(q_robot < rules.lower - MAX_EXCESS, np.inf, q_robot)
    above = np.where(q_robot > rules.upper + MAX_EXCESS, -np.inf, q_robot)
    return np.minimum(rules.lower, below), np.maximum(rules.upper, above)


def _peaks(trajectory: Trajectory, order: int, limits: Array) -> Array:
    """Return the magnitudes of a derivative, exact near the limits, shape (segments, joints)."""
    lowest, highest = _extremes(derivative(trajectory, order), -limits, limits)
    return np.maximum(-lowest, highest)


def _extremes(coefficients: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Return the extremes for s in [0, 1]; values at s = 0 where no bound is within reach."""
    start = coefficients[:, 0]
    reach = np.abs(coefficients[:, 1:]).sum(axis=1)
    unclear = (start - reach < lower) | (start + reach > upper)
    lowest, highest = start.copy(), start.copy()
    if unclear.any():
        polynomials = np.moveaxis(coefficients, 1, 0)[:, unclear]
        values = values_at(polynomials, turning_points(polynomials))
        lowest[unclear], highest[unclear] = values.min(axis=0), values.max(axis=0)
    return lowest, highest
