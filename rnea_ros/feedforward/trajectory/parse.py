# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Reading a requested motion: every rule that the request can break by itself.

ros2_control's joint_trajectory_controller (JTC) has most of these rules. Refused here although
it takes them: values that are not finite, duplicate joint names, accelerations without
velocities (JTC then commands position 0), effort fields of the wrong length, negative times and
positions beyond a joint's limits.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .request import Column, TrajectoryRequest
from .rules import JointRules, TrajectoryError, TrajectoryReason, refuse_where
from .spline import CUBIC, LINEAR, QUINTIC, Knots

# JTC's own tolerance on what counts as a final velocity of zero.
_REST = float(np.finfo(np.float32).eps)
# What single precision leaves uncertain in an angle: a goal on the limit itself is no offence.
_LIMIT_ROUNDING = 1e-6


def joint_columns(joint_names: tuple[str, ...], rules: JointRules) -> NDArray[np.intp]:
    """
    Return where each joint of a request stands in the controller's order.

    :param joint_names: the joints of the request
    :param rules: the controller's joints, and whether some may be left out
    :returns: indices, shape (joints of the request,)
    :raises TrajectoryError: if a joint is unknown, named twice or missing
    """
    if not joint_names:
        raise TrajectoryError(TrajectoryReason.EMPTY_JOINT_NAMES, 'no joint is named')
    for index, joint in enumerate(joint_names):
        if joint not in rules.joint_names:
            raise TrajectoryError(
                TrajectoryReason.UNKNOWN_JOINT, f'not of {rules.joint_names}', joint=joint
            )
        if joint in joint_names[:index]:
            raise TrajectoryError(
                TrajectoryReason.DUPLICATE_JOINT, f'twice in {joint_names}', joint=joint
            )
    missing = [joint for joint in rules.joint_names if joint not in joint_names]
    if missing and not rules.allow_partial_joints_goal:
        raise TrajectoryError(
            TrajectoryReason.MISSING_JOINT, f'{missing} not in {joint_names}', joint=missing[0]
        )
    return np.array([rules.joint_names.index(joint) for joint in joint_names], dtype=np.intp)


def check_times(request: TrajectoryRequest, now: float) -> None:
    """
    Refuse a request whose points are not in order of time, or that ended before now.

    :param request: the desired motion
    :param now: seconds in the clock of the request's start time
    :raises TrajectoryError: if that is so, or if there are no points
    """
    if request.is_cancel:
        raise TrajectoryError(TrajectoryReason.NO_POINTS, 'there is no motion in a cancellation')
    times = request.times
    broken = ~np.isfinite(times) | (times < 0.0)
    broken[1:] |= times[1:] <= times[:-1]
    if broken.any():
        raise _wrong_time(times, int(np.argmax(broken)))
    if request.start_time is None:
        return
    if not math.isfinite(request.start_time):
        raise TrajectoryError(TrajectoryReason.NOT_FINITE, f'start time {request.start_time}')
    duration = float(times[-1])
    if request.start_time + duration < now:
        raise TrajectoryError(
            TrajectoryReason.ENDED_IN_PAST,
            f'start {request.start_time} s and duration {duration} s end before {now} s; '
            'a stamp of 0 starts at once',
            point=times.size - 1,
        )


def _wrong_time(times: NDArray[np.float64], point: int) -> TrajectoryError:
    time = float(times[point])
    if not math.isfinite(time):
        reason, detail = TrajectoryReason.NOT_FINITE, f'time {time}'
    elif time < 0.0:
        reason, detail = TrajectoryReason.NEGATIVE_TIME, f'time {time} s'
    else:
        reason = TrajectoryReason.TIMES_NOT_INCREASING
        detail = f'time {time} s after {float(times[point - 1])} s'
    return TrajectoryError(reason, detail, point=point)


def read_points(
    request: TrajectoryRequest,
    rules: JointRules,
    columns: NDArray[np.intp],
    q_start: NDArray[np.float64],
) -> Knots:
    """
    Return the points of a request as arrays, the joints that it leaves out at rest.

    :param request: the desired motion, its times already checked
    :param rules: the controller's joints and what their motion is held to
    :param columns: see :func:`joint_columns`
    :param q_start: where the joints that are left out stay, shape (joints,), rad or m
    :raises TrajectoryError: if values are too few, too many, not finite or beyond a limit, if
        only some points have efforts, or the last velocity is not 0 although it must
    """
    positions, _ = _table(request, 'positions')
    velocities, with_velocities = _table(request, 'velocities')
    accelerations, with_accelerations = _table(request, 'accelerations')
    efforts, with_efforts = _table(request, 'efforts')
    alone = with_accelerations & ~with_velocities
    if alone.any():
        point = int(np.argmax(alone))
        raise TrajectoryError(
            TrajectoryReason.ACCELERATIONS_WITHOUT_VELOCITIES,
            f'accelerations {request.accelerations.of_point(point)} but no velocities',
            point=point,
        )
    if with_efforts.any() and not with_efforts.all():
        point = int(np.argmin(with_efforts))
        raise TrajectoryError(
            TrajectoryReason.EFFORTS_INCOMPLETE, 'no efforts, but others have them', point=point
        )
    q = np.tile(q_start, (request.times.size, 1))
    qd, qdd, effort = (np.zeros_like(q) for _ in range(3))
    q[:, columns], qd[:, columns], qdd[:, columns] = positions, velocities, accelerations
    effort[:, columns] = efforts
    degrees = np.where(with_accelerations, QUINTIC, np.where(with_velocities, CUBIC, LINEAR))
    _check_limits(positions, request, rules, columns)
    if not (request.is_setpoint or rules.allow_nonzero_velocity_at_trajectory_end):
        _check_final_velocity(velocities[-1:], request)
    used = rules.use_efforts and bool(with_efforts.all())
    return Knots(request.times.copy(), q, qd, qdd, degrees, effort if used else None)


def _table(
    request: TrajectoryRequest, field: str
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """
    Return one field of all points, with 0 where it is absent, and where it is present.

    :returns: arrays of shape (points, joints of the request) and (points,)
    """
    column: Column = getattr(request, field)
    joints = len(request.joint_names)
    present = column.counts == joints
    wrong = ~present
    if field != 'positions':
        wrong &= column.counts > 0
    if wrong.any():
        point = int(np.argmax(wrong))
        raise TrajectoryError(
            TrajectoryReason.WRONG_SIZE,
            f'{column.counts[point]} {field} for {joints} joints',
            point=point,
        )
    table = np.zeros((present.size, joints))
    table[present] = column.values.reshape(-1, joints)
    refuse_where(
        ~np.isfinite(table),
        TrajectoryReason.NOT_FINITE,
        lambda point, joint: f'{field} {table[point, joint]}',
        request.joint_names,
    )
    return table, present


def _check_limits(
    q: NDArray[np.float64],
    request: TrajectoryRequest,
    rules: JointRules,
    columns: NDArray[np.intp],
) -> None:
    lower, upper = rules.lower[columns], rules.upper[columns]
    refuse_where(
        (q < lower - _LIMIT_ROUNDING) | (q > upper + _LIMIT_ROUNDING),
        TrajectoryReason.POSITION_LIMIT,
        lambda point, joint: f'{q[point, joint]} is not in [{lower[joint]}, {upper[joint]}]',
        request.joint_names,
    )


def _check_final_velocity(qd: NDArray[np.float64], request: TrajectoryRequest) -> None:
    refuse_where(
        np.abs(qd) > _REST,
        TrajectoryReason.FINAL_VELOCITY,
        lambda row, joint: f'{qd[row, joint]} at the last point is not 0',
        request.joint_names,
        first_point=request.times.size - 1,
    )
