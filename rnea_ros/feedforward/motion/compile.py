# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Compiles a trajectory request into the motion that the robot follows.

A trajectory has the same meaning as in ros2_control's joint_trajectory_controller (JTC). Unlike
JTC, this module checks the compiled motion: finite, near the robot, within its limits. Between
points a spline moves further and faster than at its points; the extremes checked here are exact.

In the checks, positions q of the motion or the robot have shape (joints,), rad or m;
``first_point`` is the point of the request at the first knot; -1 for the start state.
"""

from __future__ import annotations

from dataclasses import replace
import math

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, Indices
from .parse import (
    Interpolation,
    JointRules,
    TrajectoryError,
    TrajectoryReason,
    TrajectoryRequest,
    parse,
    reject_where,
)
from .trajectory import (
    CUBIC,
    LINEAR,
    OVERSHOOT,
    QUINTIC,
    Handover,
    Knots,
    MotionState,
    Setpoint,
    Trajectory,
    derivative,
    join,
    turning_points,
    values_at,
)

MIN_BRIDGE = 0.5  # of a spline from the active trajectory, as a share of the segment after it

# Accepted velocity as a multiple of the limit: a spline through samples of a motion at full speed
# exceeds the limit a little, by 5 % at 15 rad/s^2 and a sample every 0.1 s.
OVERSPEED = 1.05

MAX_EXCESS = 0.5  # beyond a position limit from which a joint may come back, rad or m
EFFORT_RISE = 0.1  # time from zero to full effort at the default rate limit, s


def compile_trajectory(
    request: TrajectoryRequest, rules: JointRules, *, now: float, position: ArrayLike,
    velocity: ArrayLike, desired: MotionState | None = None, handover: Handover | None = None,
) -> Trajectory | Setpoint:
    """
    Return the set-point of a single point at time 0, else the trajectory of a request.

    - The start state is the measured one; with ``interpolate_from_desired_state`` the desired one,
      if there is one. With a bridge, a stamp of 0 then means ``now``, not the first sample, since
      the active trajectory continues during this check.
    - If the first point is after time 0, a bridge leads from the start state to it, a segment with
      the polynomial degree of that point. Joints that are not in the request rest.
    - With a stamp in the past, the robot joins the trajectory midway. Before the first point, the
      bridge starts at ``now``; after it, the trajectory must be near ``position`` at ``now``.
    - At a handover, the request takes over in the state that the active trajectory reaches then.
      Points until then are dropped, and a bridge leads to the next one, continuous in position and
      velocity. Joints that are not in the request go on.
    - With ``SPLINE``, points of positions get the other fields of a spline, whose first segment is
      the bridge: a handover is continuous in the acceleration too.
    - Positions of continuous joints are shifted by whole turns, so that the trajectory starts
      within half a turn of the start state. JTC shifts the measured position instead.

    :param now: time in the clock of ``request.start_time``, s; with a handover, its time
    :param position: measured positions in the controller's order, (joints,); so ``velocity``
    :param desired: state of the active trajectory now, or at the start time if that is later
    :param handover: not for a set-point, and not before the start time of the request
    :raises TrajectoryError: the request breaks a rule, or the measured state is not finite
    """
    columns, points = parse(request, rules, now)
    start = measured = _measured_state(now, position, velocity, rules)
    if handover is not None:
        start = handover.active.state(handover.time)
    elif desired is not None and rules.interpolate_from_desired_state:
        start = desired
    q = np.tile(start.position, (points.times.size, 1))
    q[:, columns] = points.positions[:, columns]
    points = replace(points, positions=q)
    elapsed = 0.0 if request.start_time is None else max(0.0, now - request.start_time)
    starts_midway = bool(points.times[0] <= elapsed)
    has_bridge = handover is not None or not starts_midway
    is_spline = bool(
        rules.interpolation is Interpolation.SPLINE
        and (points.degrees == LINEAR).all()
        and not request.is_setpoint
    )
    start_time = request.start_time
    if start_time is None and has_bridge and start is desired:
        start_time = now

    # Finite values may overflow here; check_finite rejects the result.
    with np.errstate(over='ignore', invalid='ignore', divide='ignore'):
        if is_spline and not has_bridge:
            points = _upsampled(points)
        q_joined = points.positions[0]
        if elapsed > points.times[0]:
            q_joined = Trajectory(rules.joint_names, None, points).state(elapsed).position
        shift = rules.whole_turns(q_joined - start.position)
        points = replace(points, positions=points.positions - shift)
        dropped = 0
        if handover is not None:
            dropped = _passed(points, elapsed, is_spline=is_spline)
            points = _after_handover(points.from_point(dropped), start, is_spline=is_spline)
        knots = _with_bridge(points, columns, elapsed, start) if has_bridge else points
        if is_spline and has_bridge:
            knots = _upsampled(knots, continues=handover is not None)
        trajectory = Trajectory(rules.joint_names, start_time, knots)
    # The start of the bridge is not a point of the request.
    first_point = dropped - 1 if has_bridge else 0
    check_finite(trajectory, first_point)
    q_robot = start.position if has_bridge else measured.position
    if starts_midway:
        check_start(trajectory, elapsed, q_joined - shift, q_robot, rules, max(first_point, 0))
    check_positions(trajectory, first_point, q_robot, rules)
    single_point = has_bridge and points.times.size == 1
    check_rates(trajectory, first_point, rules, single_point=single_point)
    if request.is_setpoint:
        return Setpoint(
            start_time, rules.joint_names, points.positions[0], points.velocities[0],
            points.accelerations[0], None if points.efforts is None else points.efforts[0],
        )
    if handover is None:
        return trajectory
    # Each part of the joined motion was checked, now or with the active trajectory.
    with np.errstate(over='ignore', invalid='ignore', divide='ignore'):
        joined = join(handover, knots, columns, start_time)
    check_finite(joined, first_point)
    return joined


def _measured_state(
    now: float, position: ArrayLike, velocity: ArrayLike, rules: JointRules
) -> MotionState:
    """Return the measured state, checked."""
    if not math.isfinite(now):
        raise TrajectoryError(TrajectoryReason.START_NOT_FINITE, f'time {now}')
    q, qd = (np.array(values, dtype=np.float64) for values in (position, velocity))
    for argument, values in (('position {}', q), ('velocity {}', qd)):
        reject_where(
            ~np.isfinite(values), TrajectoryReason.START_NOT_FINITE, rules.joint_names, None,
            argument, values,
        )
    return MotionState.at_rest(q)._replace(velocity=qd)


def _passed(points: Knots, time: float, *, is_spline: bool) -> int:
    """Return the number of points to drop, but not all: before a time, or too soon after it."""
    passed = int(np.searchsorted(points.times, time, side='right'))
    if passed == points.times.size:
        raise TrajectoryError(
            TrajectoryReason.ENDED_IN_PAST,
            f'the last point at {points.times[-1]} s is not after the start at {time} s',
            point=passed - 1,
        )
    if is_spline and passed + 1 < points.times.size:
        # The point may deviate a little from the active trajectory: a short way would be abrupt.
        before, after = points.times[passed : passed + 2] - time
        if before < MIN_BRIDGE * (after - before):
            passed += 1
    return passed


def _after_handover(points: Knots, start: MotionState, *, is_spline: bool) -> Knots:
    """Return points with fields for a smooth bridge from the start to the first one."""
    if points.degrees[0] == LINEAR and not is_spline:
        # A straight line would begin with a step of the velocity.
        degrees, qd = points.degrees.copy(), points.velocities.copy()
        degrees[0] = CUBIC
        if degrees.size > 1:
            q, times = points.positions, points.times
            qd[0] = (q[1] - q[0]) / (times[1] - times[0])
        points = replace(points, velocities=qd, degrees=degrees)
    if points.efforts is None and start.effort.any():
        # The active trajectory's efforts end at the first point.
        points = replace(points, efforts=np.zeros_like(points.positions))
    return points


def _with_bridge(points: Knots, columns: Indices, time: float, start: MotionState) -> Knots:
    """Return the points with the start state before them, s; joints not in the request rest."""
    first = MotionState.at_rest(start.position)
    for values, at_start in zip(first[1:], start[1:], strict=True):
        values[columns] = at_start[columns]
    efforts = points.efforts
    return Knots(
        np.append(time, points.times), np.vstack((first.position, points.positions)),
        np.vstack((first.velocity, points.velocities)),
        np.vstack((first.acceleration, points.accelerations)),
        np.append(points.degrees[:1], points.degrees),
        None if efforts is None else np.vstack((first.effort, efforts)),
    )


def _upsampled(knots: Knots, *, continues: bool = False) -> Knots:
    """
    Return points of positions with the other fields of a cubic spline that ends at rest.

    The acceleration is continuous (C2): inverse dynamics has no step at a point. The velocities
    are those of ``positions_upsampling`` in JTC. A motion that ``continues`` another one begins
    with its acceleration too, unlike in JTC: a stream of joined trajectories stays C2. Its first
    segment is a quartic; a single segment then ends with acceleration 0.

    With velocities v_i at the points, and segments of h_i seconds and length d_i, the acceleration
    of a cubic is (-4 v_i - 2 v_i+1) / h_i + 6 d_i / h_i^2 at its start and
    (2 v_i + 4 v_i+1) / h_i - 6 d_i / h_i^2 at its end. A quartic that starts with the acceleration
    a_0 ends with a_0 + 6 (v_0 + v_1) / h_0 - 12 d_0 / h_0^2. Two segments have the same
    acceleration at the point between them.
    """
    q, count = knots.positions, knots.times.size
    if count < 2:
        return knots
    rate = 1.0 / np.diff(knots.times)[:, np.newaxis]
    slope = rate * rate * np.diff(q, axis=0)
    before, after = 4.0 * rate[:-1], 6.0 * slope[:-1]
    qd, qdd = np.zeros_like(q), np.zeros_like(q)
    qd[0], qdd[0] = knots.velocities[0], knots.accelerations[0]
    if continues:
        before[:1], after[:1] = 6.0 * rate[0], 12.0 * slope[0] - qdd[0] - 6.0 * rate[0] * qd[0]
    else:
        after[:1] -= 2.0 * rate[0] * qd[0]
    diagonal, right = before + 4.0 * rate[1:], after + 6.0 * slope[1:]
    _solve(diagonal[:, 0], 2.0 * rate[1:-1, 0], right, qd)
    starts = slice(1 if continues else 0, None)
    qdd[:-1][starts] = (6.0 * slope - 2.0 * rate * (2.0 * qd[:-1] + qd[1:]))[starts]
    degrees = np.full(count, QUINTIC)
    if count > 2 or not continues:
        # A cubic too; JTC would go on with the acceleration of the last point.
        degrees[-1] = CUBIC
    return replace(knots, velocities=qd, accelerations=qdd, degrees=degrees)


def _solve(diagonal: Array, beside: Array, right: Array, solution: Array) -> None:
    """Solve symmetric tridiagonal equations into the rows between the first and the last."""
    pivots, factors, rows = diagonal.tolist(), beside.tolist(), list(right)
    for k, factor in enumerate(factors):
        share = factor / pivots[k]
        pivots[k + 1] -= share * factor
        rows[k + 1] = rows[k + 1] - share * rows[k]
    for k in range(len(rows), 0, -1):
        over = factors[k - 1] * solution[k + 1] if k <= len(factors) else 0.0
        solution[k] = (rows[k - 1] - over) / pivots[k - 1]


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
    """
    Return the extremes for s in [0, 1], which are at its ends or where the slope is zero.

    To save time, values are those at s = 0 where the coefficients are too small to break a limit.
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
