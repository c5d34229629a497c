# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Checks of the request itself: names, times, sizes and numbers.

In: a :class:`.TrajectoryRequest`. Out: its points as arrays, the input of :mod:`.compile`, or a
:class:`.TrajectoryError`.

Most of these rules are those of ros2_control's joint_trajectory_controller (JTC). JTC accepts,
and this module rejects: values that are not finite, duplicate joint names, accelerations without
velocities (JTC then commands position 0), effort fields of the wrong length, and negative times.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, Indices
from ..reasons import Reason
from .request import Column, TrajectoryRequest
from .rules import JointRules, TrajectoryError, TrajectoryReason, reject_where
from .spline import CUBIC, LINEAR, QUINTIC, Knots

# JTC's tolerance for a final velocity of zero, rad/s or m/s.
_FINAL_VELOCITY_TOLERANCE = float(np.finfo(np.float32).eps)

MAX_VALUES = 500_000
"""Points times joints of a request; each takes up to 300 bytes while the motion is computed."""


@dataclass(frozen=True, eq=False)
class ParsedRequest:
    """
    The points of a request that passed all checks of the request itself.

    :param columns: index of each joint of the request in the controller's order, shape (k,)
    :param points: values of the k joints of the request, in the order of the request
    """

    columns: Indices
    points: Knots


def parse(request: TrajectoryRequest, rules: JointRules, now: float) -> ParsedRequest:
    """
    Return a request's points, checked at a time of the clock of its stamp, s.

    :raises TrajectoryError: the request breaks a rule
    """
    columns = _columns(request.joint_names, rules)
    _check_times(request, rules, now)
    positions, _ = _table(request, 'positions')
    velocities, with_velocities = _table(request, 'velocities')
    accelerations, with_accelerations = _table(request, 'accelerations')
    efforts, with_efforts = _table(request, 'efforts')
    _check_combination(request, with_velocities, with_accelerations, with_efforts)
    if not (request.is_setpoint or rules.allow_nonzero_velocity_at_trajectory_end):
        _check_final_velocity(velocities[-1:], request)
    degrees = np.where(with_accelerations, QUINTIC, np.where(with_velocities, CUBIC, LINEAR))
    has_efforts = rules.use_trajectory_effort and bool(with_efforts.all())
    points = Knots(
        request.times.copy(), positions, velocities, accelerations, degrees,
        efforts if has_efforts else None,
    )
    return ParsedRequest(columns, points)


def _columns(joint_names: tuple[str, ...], rules: JointRules) -> Indices:
    """Return the index of each joint of the request in the controller's order."""
    for joint in joint_names:
        if joint not in rules.joint_names:
            raise TrajectoryError(
                TrajectoryReason.UNKNOWN_JOINT, f'not one of {rules.joint_names}', joint=joint
            )
    rules.check_names(joint_names)
    return np.array([rules.joint_names.index(joint) for joint in joint_names], dtype=np.intp)


def _check_times(request: TrajectoryRequest, rules: JointRules, now: float) -> None:
    """Reject too many points, times that do not increase from 0, and an end in the past."""
    if request.is_cancel:
        raise TrajectoryError(TrajectoryReason.NO_POINTS, 'the trajectory has no points')
    times, joints = request.times, len(rules.joint_names)
    if times.size * joints > MAX_VALUES:
        raise TrajectoryError(
            Reason.TOO_LARGE, f'{times.size} points of {joints} joints, at most '
            f'{MAX_VALUES // joints}: send fewer points, or parts one after the other'
        )
    broken = ~np.isfinite(times) | (times < 0.0)
    broken[1:] |= times[1:] <= times[:-1]
    if broken.any():
        raise _time_error(times, int(np.argmax(broken)))
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


def _time_error(times: Array, point: int) -> TrajectoryError:
    time = float(times[point])
    if not math.isfinite(time):
        reason, detail = TrajectoryReason.NOT_FINITE, f'time {time}'
    elif time < 0.0:
        reason, detail = TrajectoryReason.NEGATIVE_TIME, f'time {time} s'
    else:
        reason = TrajectoryReason.TIMES_NOT_INCREASING
        detail = f'time {time} s after {float(times[point - 1])} s'
    return TrajectoryError(reason, detail, point=point)


def _table(request: TrajectoryRequest, field: str) -> tuple[Array, NDArray[np.bool_]]:
    """Return a field, (points, joints), with 0 where absent, and which points have it."""
    column: Column = getattr(request, field)
    joints = len(request.joint_names)
    present = column.counts == joints
    wrong = ~present
    if field != 'positions':
        wrong &= column.counts > 0
    if wrong.any():
        point = int(np.argmax(wrong))
        raise TrajectoryError(
            TrajectoryReason.WRONG_SIZE, f'{column.counts[point]} {field} for {joints} joints',
            point=point,
        )
    table = np.zeros((present.size, joints))
    table[present] = column.values.reshape(-1, joints)
    reject_where(
        ~np.isfinite(table), TrajectoryReason.NOT_FINITE,
        lambda point, joint: f'{field} {table[point, joint]}', request.joint_names,
    )
    return table, present


def _check_combination(
    request: TrajectoryRequest, with_velocities: NDArray[np.bool_],
    with_accelerations: NDArray[np.bool_], with_efforts: NDArray[np.bool_],
) -> None:
    """Reject accelerations without velocities, and efforts at some points only."""
    wrong = with_accelerations & ~with_velocities
    if wrong.any():
        point = int(np.argmax(wrong))
        raise TrajectoryError(
            TrajectoryReason.ACCELERATIONS_WITHOUT_VELOCITIES,
            f'accelerations {request.accelerations.of_point(point)} but no velocities',
            point=point,
        )
    if with_efforts.any() and not with_efforts.all():
        point = int(np.argmin(with_efforts))
        raise TrajectoryError(
            TrajectoryReason.EFFORTS_INCOMPLETE, 'no efforts, but other points have efforts',
            point=point,
        )


def _check_final_velocity(qd: Array, request: TrajectoryRequest) -> None:
    reject_where(
        np.abs(qd) > _FINAL_VELOCITY_TOLERANCE, TrajectoryReason.FINAL_VELOCITY,
        lambda row, joint: f'{qd[row, joint]} at the last point is not 0', request.joint_names,
        first_point=request.times.size - 1,
    )
