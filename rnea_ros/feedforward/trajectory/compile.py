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

from ...errors import InputError
from .constraints import check_positions, check_velocities
from .parse import check_times, joint_columns, read_points
from .request import TrajectoryRequest
from .rules import JointRules, StartFrom, TrajectoryError, TrajectoryReason, refuse_where
from .spline import Knots
from .trajectory import MotionState, Setpoint, Trajectory

# A joint half a turn away, up to this many turns, is reached in the direction asked for (as JTC).
_HALF_TURN_ROUNDING = 1e-9


def compile_trajectory(
    request: TrajectoryRequest,
    rules: JointRules,
    *,
    now: float,
    position: ArrayLike,
    velocity: ArrayLike,
    wanted: MotionState | None = None,
) -> Trajectory | Setpoint:
    """
    Check a request and make it ready to be followed; a refusal changes nothing.

    A first point after time 0 is reached from the start state by one more segment, of the degree
    of that point. The start state is what is measured, with acceleration and effort 0, or what
    is wanted, if ``rules.start_from`` says so and anything is. In the second case the motion
    that is wanted goes on while this one is being checked: a stamp of 0 then means ``now``, not
    the first sample, so that the two meet. Joints that the request leaves out hold the start
    state's position. The motion of a continuous joint is shifted by whole turns, so that it
    starts within half a turn of that; JTC shifts the measured position instead.

    A start that has passed is joined midway: the motion must then be near ``position`` where it
    is now, and a first point that is still ahead is reached from there. For a start that lies
    ahead, the state is the one expected then: the present one, at rest, if the robot holds until
    then, or that of the motion in force at that time.

    Position limits hold at the points, to 1e-6, and between them, to 1e-3, except as far as the
    robot itself is beyond a limit at the start. Velocity limits hold everywhere, to 5 %.

    :param request: a motion, with at least one point
    :param rules: the controller's joints and what their motion is held to
    :param now: seconds in the clock of ``request.start_time``
    :param position: measured joint positions in the controller's order, shape (joints,), rad or m
    :param velocity: measured joint velocities, shape (joints,), rad/s or m/s
    :param wanted: what the motion in force wants now, or at the start if that is ahead; None if
        nothing is wanted
    :returns: a :class:`.Setpoint` for a single point at time 0, else a :class:`.Trajectory`
    :raises TrajectoryError: if the request breaks a rule or the start state is not finite
    :raises InputError: if ``position`` or ``velocity`` has the wrong shape
    """
    columns = joint_columns(request.joint_names, rules)
    check_times(request, now)
    start = measured = _measured_state(now, position, velocity, rules)
    if wanted is not None and rules.start_from is StartFrom.REFERENCE:
        start = wanted
    points = read_points(request, rules, columns, start.position)
    joined = 0.0 if request.start_time is None else max(0.0, now - request.start_time)
    has_bridge = bool(points.times[0] > joined)
    start_time = request.start_time
    if start_time is None and has_bridge and start is wanted:
        start_time = now

    # Finite values can overflow on the way: what comes of them is checked instead.
    with np.errstate(over='ignore', invalid='ignore', divide='ignore'):
        q_joined = _position_at(points, joined, rules)
        shift = _whole_turns(q_joined - start.position, rules.continuous)
        points = replace(points, positions=points.positions - shift)
        knots = points
        if has_bridge:
            knots = _with_bridge(points, columns, joined, start)
        trajectory = Trajectory(rules.joint_names, start_time, knots)
        first_point = -1 if has_bridge else 0
        _check_overflow(trajectory, first_point)
    if not has_bridge:
        check_start(q_joined - shift, measured.position, joined, trajectory, rules)
    check_positions(trajectory, first_point, rules)
    check_velocities(trajectory, first_point, rules)
    if request.is_setpoint:
        return Setpoint(
            start_time,
            rules.joint_names,
            points.positions[0],
            points.velocities[0],
            points.accelerations[0],
            None if points.efforts is None else points.efforts[0],
        )
    return trajectory


def _measured_state(
    now: float, position: ArrayLike, velocity: ArrayLike, rules: JointRules
) -> MotionState:
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
    return MotionState(*state, *np.zeros((2, *shape)))


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
    points: Knots, columns: NDArray[np.intp], time: float, start: MotionState
) -> Knots:
    """Return the points with the start state before them; joints that they leave out rest."""
    moving = MotionState.at_rest(start.position)
    for values, at_start in zip(moving[1:], start[1:], strict=True):
        values[columns] = at_start[columns]
    efforts = points.efforts
    return Knots(
        np.concatenate(([time], points.times)),
        np.vstack((moving.position, points.positions)),
        np.vstack((moving.velocity, points.velocities)),
        np.vstack((moving.acceleration, points.accelerations)),
        np.concatenate((points.degrees[:1], points.degrees)),
        None if efforts is None else np.vstack((moving.effort, efforts)),
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


def check_start(
    q: NDArray[np.float64],
    q_start: NDArray[np.float64],
    joined: float,
    trajectory: Trajectory,
    rules: JointRules,
) -> None:
    """
    Refuse a motion that is not near the robot where it is joined.

    :param q: where the motion is then, shape (joints,), rad or m
    :param q_start: where the robot is, shape (joints,), rad or m
    :param joined: time since the motion's start, s
    :param trajectory: the motion
    :param rules: have ``start_tolerance``
    :raises TrajectoryError: start_too_far
    """
    way = q - q_start
    way -= _whole_turns(way, rules.continuous)
    too_far = np.abs(way) > rules.start_tolerance
    if too_far.any():
        joint = int(np.argmax(too_far))
        raise TrajectoryError(
            TrajectoryReason.START_TOO_FAR,
            f'{q[joint]} at {joined} s is more than {rules.start_tolerance} '
            f'from {q_start[joint]}',
            joint=rules.joint_names[joint],
            point=int(np.searchsorted(trajectory.knots.times, joined, side='right')) - 1,
        )
