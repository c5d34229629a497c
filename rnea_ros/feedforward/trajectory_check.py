# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Which desired motions are followed: request in, trajectory or set-point out, or a refusal.

A trajectory means what it means to ros2_control's joint_trajectory_controller (JTC), which
however accepts one wherever the robot is and whatever its limits are.
"""

from __future__ import annotations

from dataclasses import replace
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .trajectory import Knots, Setpoint, Trajectory, TrajectoryRequest
from .trajectory_read import check_times, joint_columns, read_points
from .trajectory_rules import JointRules, TrajectoryError, TrajectoryReason, refuse_where

# A spline swings out a little around a turning point: below the tracking error it does no harm.
_OVERSHOOT = 1e-3
# Where a segment is looked at for overshoot: close enough to miss at most 1 % of the swing.
_BETWEEN = np.linspace(0.0, 1.0, 33)[1:-1, np.newaxis] ** np.arange(6)
# A joint half a turn away, up to this many turns, is reached in the direction asked for (as JTC).
_HALF_TURN_ROUNDING = 1e-9


def compile_trajectory(
    request: TrajectoryRequest,
    rules: JointRules,
    *,
    now: float,
    position: ArrayLike,
    velocity: ArrayLike,
) -> Trajectory | Setpoint:
    """
    Check a request and make it ready to be followed; a refusal changes nothing.

    A first point after time 0 is reached from the start state by one more segment, of the degree
    of that point, with acceleration 0 at its start. Joints that the request leaves out hold
    ``position``. The motion of a continuous joint is shifted by whole turns, so that it starts
    within half a turn of ``position``; JTC shifts the measured position instead.

    A start that has passed is joined midway: the motion must then be near ``position`` where it
    is now, and a first point that is still ahead is reached from there. For a start that lies
    ahead, the state is the one expected then: the present one, at rest, if the robot holds until
    then, or that of the motion in force at that time.

    Position limits hold at the points, to 1e-6, and between them, to 1e-3 (looked at in 31
    places of each segment), except as far as the robot itself is beyond a limit at the start.

    :param request: a motion, with at least one point
    :param rules: the controller's joints and what their motion is held to
    :param now: seconds in the clock of ``request.start_time``
    :param position: joint positions at the start, measured or of the last reference, in the
        controller's order, shape (joints,), rad or m
    :param velocity: joint velocities at the start, shape (joints,), rad/s or m/s
    :returns: a :class:`.Setpoint` for a single point at time 0, else a :class:`.Trajectory`
    :raises TrajectoryError: if the request breaks a rule or the start state is not finite
    :raises InputError: if ``position`` or ``velocity`` has the wrong shape
    """
    columns = joint_columns(request.joint_names, rules)
    check_times(request, now)
    q_start, qd_start = _start_state(now, position, velocity, rules)
    points = read_points(request, rules, columns, q_start)
    joined = 0.0 if request.start_time is None else max(0.0, now - request.start_time)
    has_bridge = bool(points.times[0] > joined)

    # Finite values can overflow on the way: what comes of them is checked instead.
    with np.errstate(over='ignore', invalid='ignore', divide='ignore'):
        q_joined = _position_at(points, joined, rules)
        shift = _whole_turns(q_joined - q_start, rules.continuous)
        points = replace(points, positions=points.positions - shift)
        knots = points
        if has_bridge:
            knots = _with_bridge(points, columns, joined, q_start, qd_start)
        trajectory = Trajectory(rules.joint_names, request.start_time, knots)
        first_point = -1 if has_bridge else 0
        _check_overflow(trajectory, first_point)
    if not has_bridge:
        _check_start(q_joined - shift, q_start, joined, trajectory, rules)
    _check_overshoot(trajectory, first_point, rules)
    if request.is_setpoint:
        return Setpoint(
            request.start_time,
            rules.joint_names,
            points.positions[0],
            points.velocities[0],
            points.accelerations[0],
        )
    return trajectory


def _start_state(
    now: float, position: ArrayLike, velocity: ArrayLike, rules: JointRules
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if not math.isfinite(now):
        raise TrajectoryError(TrajectoryReason.START_NOT_FINITE, f'time {now}')
    shape = (len(rules.joint_names),)
    state = []
    for argument, value in (('position', position), ('velocity', velocity)):
        array = np.array(value, dtype=np.float64)
        if array.shape != shape:
            raise InputError(argument, f'shape {array.shape} is not {shape}')
        finite = np.isfinite(array)
        if not finite.all():
            joint = int(np.argmin(finite))
            raise TrajectoryError(
                TrajectoryReason.START_NOT_FINITE,
                f'{argument} {array[joint]}',
                joint=rules.joint_names[joint],
            )
        state.append(array)
    return state[0], state[1]


def _position_at(points: Knots, time: float, rules: JointRules) -> NDArray[np.float64]:
    """Return where the points' motion is at a time, or begins where that is still ahead."""
    q: NDArray[np.float64] = points.positions[0].copy()
    unused = np.empty_like(q)
    if time > points.times[0]:
        Trajectory(rules.joint_names, None, points).sample(time, q, unused, unused)
    return q


def _whole_turns(
    difference: NDArray[np.float64], continuous: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the whole turns, in rad, that are in an angular difference; 0 for other joints."""
    turns = difference / (2.0 * math.pi)
    whole = np.copysign(np.ceil(np.abs(turns) - 0.5 - _HALF_TURN_ROUNDING), turns)
    return np.where(continuous, 2.0 * math.pi * whole, 0.0)


def _with_bridge(
    points: Knots,
    columns: NDArray[np.intp],
    time: float,
    q_start: NDArray[np.float64],
    qd_start: NDArray[np.float64],
) -> Knots:
    """Return the points with the start state before them; joints that they leave out rest."""
    qd = np.zeros_like(qd_start)
    qd[columns] = qd_start[columns]
    return Knots(
        np.concatenate(([time], points.times)),
        np.vstack((q_start, points.positions)),
        np.vstack((qd, points.velocities)),
        np.vstack((np.zeros_like(qd), points.accelerations)),
        np.concatenate((points.degrees[:1], points.degrees)),
    )


def _check_overflow(trajectory: Trajectory, first_point: int) -> None:
    """Refuse a motion of which some sample would not be finite."""
    rate = 1.0 / np.diff(trajectory.knots.times)[:, np.newaxis]
    power = np.arange(6.0)
    weights = 1.0 + power * rate + power * (power - 1.0) * rate * rate
    # No partial sum of a position, velocity or acceleration in the segment is greater than this.
    bound = np.abs(trajectory.knots.positions)
    bound[1:] += np.einsum('sp,spj->sj', weights, np.abs(trajectory.coefficients))
    refuse_where(
        ~np.isfinite(bound),
        TrajectoryReason.NOT_FINITE,
        lambda knot, joint: f'too far or too fast for a number: the motion to '
        f'{trajectory.knots.positions[knot, joint]}',
        trajectory.joint_names,
        first_point,
    )


def _check_start(
    q: NDArray[np.float64],
    q_start: NDArray[np.float64],
    joined: float,
    trajectory: Trajectory,
    rules: JointRules,
) -> None:
    too_far = np.abs(q - q_start) > rules.start_tolerance
    if too_far.any():
        joint = int(np.argmax(too_far))
        raise TrajectoryError(
            TrajectoryReason.START_TOO_FAR,
            f'{q[joint]} at {joined} s is more than {rules.start_tolerance} '
            f'from {q_start[joint]}',
            joint=rules.joint_names[joint],
            point=int(np.searchsorted(trajectory.knots.times, joined, side='right')) - 1,
        )


def _check_overshoot(trajectory: Trajectory, first_point: int, rules: JointRules) -> None:
    """Refuse a motion that goes beyond a limit between two points that are within it."""
    q = trajectory.knots.positions
    lower = np.minimum(rules.lower, np.minimum(q[:-1], q[1:])) - _OVERSHOOT
    upper = np.maximum(rules.upper, np.maximum(q[:-1], q[1:])) + _OVERSHOOT
    lowest, highest = q[:-1].copy(), q[:-1].copy()
    for powers in _BETWEEN:
        between = powers @ trajectory.coefficients
        np.minimum(lowest, between, out=lowest)
        np.maximum(highest, between, out=highest)
    refuse_where(
        (lowest < lower) | (highest > upper),
        TrajectoryReason.POSITION_LIMIT,
        lambda row, joint: f'moves from {lowest[row, joint]} to {highest[row, joint]} on the way, '
        f'which is not in [{rules.lower[joint]}, {rules.upper[joint]}]',
        trajectory.joint_names,
        first_point + 1,
    )
