# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A requested trajectory: its fields as plain data, the rules for it, and the first checks.

Most of these rules are those of ros2_control's joint_trajectory_controller (JTC). JTC accepts,
and this module rejects: values that are not finite, duplicate joint names, accelerations without
velocities (JTC then commands position 0), effort fields of the wrong length, and negative times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
import enum
from itertools import chain
import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import Array, Indices
from ...errors import InputError, RneaError
from ...parameters import parameter
from ..reasons import Reason
from .trajectory import CUBIC, LINEAR, QUINTIC, Knots

Values: TypeAlias = Sequence[float] | Array

# Fields of a point with a value per joint, in the order of the message.
FIELDS = ('positions', 'velocities', 'accelerations', 'efforts')

MAX_VALUES = 500_000
"""Points times joints of a request; each takes up to 300 bytes while the motion is computed."""

# JTC's tolerance for a final velocity of zero, rad/s or m/s.
_FINAL_VELOCITY_TOLERANCE = float(np.finfo(np.float32).eps)

# A joint half a turn away goes in the requested direction (as in JTC). Share of a turn that
# rounding may add to the half.
_HALF_TURN_ROUNDING = 1e-9


class TrajectoryReason(enum.Enum):
    """Why a trajectory is rejected; the values appear in diagnostics and logs and are stable."""

    NO_POINTS = 'no_points'
    EMPTY_JOINT_NAMES = 'empty_joint_names'
    DUPLICATE_JOINT = 'duplicate_joint'
    UNKNOWN_JOINT = 'unknown_joint'
    MISSING_JOINT = 'missing_joint'
    WRONG_SIZE = 'wrong_size'
    EFFORTS_INCOMPLETE = 'efforts_incomplete'
    ACCELERATIONS_WITHOUT_VELOCITIES = 'accelerations_without_velocities'
    NOT_FINITE = 'not_finite'
    NEGATIVE_TIME = 'negative_time'
    TIMES_NOT_INCREASING = 'times_not_increasing'
    ENDED_IN_PAST = 'ended_in_past'
    FINAL_VELOCITY = 'final_velocity'
    POSITION_LIMIT = 'position_limit'
    VELOCITY_LIMIT = 'velocity_limit'
    ACCELERATION_LIMIT = 'acceleration_limit'
    EFFORT_LIMIT = 'effort_limit'
    START_TOO_FAR = 'start_too_far'
    START_NOT_FINITE = 'start_not_finite'


_R = TrajectoryReason


class TrajectoryError(RneaError):
    """A trajectory or reference is rejected whole, for a joint or a point if it is one."""

    def __init__(
        self, reason: TrajectoryReason | Reason, detail: str,
        *, joint: str | None = None, point: int | None = None,
    ) -> None:
        where = '' if point is None else f', point {point}'
        whose = '' if joint is None else f', joint {joint!r}'
        super().__init__(f'{reason.value}{where}{whose}: {detail}')
        self.reason, self.word, self.detail = reason, reason.value, detail
        self.joint, self.point = joint, point


def reject_where(
    broken: NDArray[np.bool_], reason: TrajectoryReason, joints: tuple[str, ...] | None,
    first_point: int | None, detail: str, *values: ArrayLike,
) -> None:
    """
    Raise a TrajectoryError for the first entry that breaks a rule, if there is one.

    :param broken: where it is broken, shape (points, joints) or (joints,)
    :param joints: joints of the columns, if they are of joints
    :param first_point: point of the first row, if it is of one; the start state before point 0,
        -1, is reported as point 0
    :param detail: text of the error, formatted with the ``values`` at the entry
    """
    if broken.any():
        broken = np.atleast_2d(broken)
        row, column = (int(index) for index in np.argwhere(broken)[0])
        raise TrajectoryError(
            reason,
            detail.format(*(np.broadcast_to(each, broken.shape)[row, column] for each in values)),
            joint=None if joints is None else joints[column],
            point=None if first_point is None else max(0, row + first_point),
        )


class Interpolation(enum.Enum):
    """The motion between points that have positions only."""

    LINEAR = 'linear'
    SPLINE = 'spline'


@dataclass(frozen=True, eq=False)
class JointRules:
    """
    The controller's joints, with the limits and options for their trajectories.

    The arrays have one value per joint, above 0 for rates and efforts, infinite for no limit; they
    are copied and read-only, and one number stands for all joints. Continuous joints have no
    position limits, as in a URDF. Limits in the wrong order raise an InputError.
    """

    joint_names: tuple[str, ...]
    lower: Array
    upper: Array
    continuous: NDArray[np.bool_]
    velocity_limits: Array
    start_tolerance: float = parameter(
        0.1, 'maximum distance from the robot to the start of a motion, rad or m',
        span=(0.0, math.tau),
    )
    interpolation: Interpolation = parameter(
        Interpolation.LINEAR,
        'between points that have positions only; spline: without a step of the acceleration',
    )
    allow_partial_joints_goal: bool = parameter(
        False, 'accept trajectories without all joints; missing joints hold'
    )
    allow_nonzero_velocity_at_trajectory_end: bool = parameter(
        False, 'accept trajectories whose last point has a velocity'
    )
    interpolate_from_desired_state: bool = parameter(
        False,
        'true: a segment to a first point after time 0 starts at the desired state; '
        'false: at the measured state',
    )
    allow_trajectory_replacement: bool = parameter(
        False,
        'join a trajectory to the active one: it starts at the desired state, without a step, and '
        'missing joints follow the active one',
    )
    use_trajectory_effort: bool = parameter(
        False, 'add the efforts of trajectory points to the command'
    )
    acceleration_limits: Array = field(default_factory=lambda: np.array(np.inf))
    effort_limits: Array = field(default_factory=lambda: np.array(np.inf))

    def __post_init__(self) -> None:
        for name in ('continuous', 'lower', 'upper', 'velocity_limits', 'acceleration_limits',
                     'effort_limits'):
            array = np.zeros(len(self.joint_names), bool if name == 'continuous' else float)
            array[:] = getattr(self, name)
            if name in ('lower', 'upper'):
                array[self.continuous] = -np.inf if name == 'lower' else np.inf
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        for joint, lower, upper in zip(self.joint_names, self.lower, self.upper, strict=True):
            if not lower <= upper:
                raise InputError(
                    'lower', f'{lower:.6g} is not below the upper limit {upper:.6g} '
                    f'for {joint!r}; correct <limit> in the URDF',
                )

    def check_names(self, names: tuple[str, ...]) -> None:
        """Raise a TrajectoryError if there is no name, a name twice, or too few names."""
        if not names:
            raise TrajectoryError(_R.EMPTY_JOINT_NAMES, 'joint_names is empty')
        for index, name in enumerate(names):
            if name in names[:index]:
                raise TrajectoryError(_R.DUPLICATE_JOINT, f'twice in {names}', joint=name)
        missing = [name for name in self.joint_names if name not in names]
        if missing and not self.allow_partial_joints_goal:
            raise TrajectoryError(_R.MISSING_JOINT, f'{missing} not in {names}', joint=missing[0])

    def whole_turns(self, difference: Array) -> Array:
        """Return the whole turns in position differences, rad; 0 for other joints."""
        turns = difference / math.tau
        whole = np.copysign(np.ceil(np.abs(turns) - 0.5 - _HALF_TURN_ROUNDING), turns)
        return np.where(self.continuous, math.tau * whole, 0.0)

    def shortest_way(self, difference: Array) -> Array:
        """Return position differences without whole turns of continuous joints."""
        return difference - self.whole_turns(difference)


@dataclass(frozen=True)
class TrajectoryPoint:
    """As ``trajectory_msgs/JointTrajectoryPoint``: an empty field is absent; time in s."""

    time: float
    positions: Values
    velocities: Values = ()
    accelerations: Values = ()
    efforts: Values = ()


class Header(NamedTuple):
    """The header of a message as received, for messages made from it."""

    seconds: int = 0
    nanoseconds: int = 0
    frame_id: str = ''

    @property
    def time(self) -> float | None:
        """The stamp, s; ``None`` for 0."""
        return self.seconds + 1e-9 * self.nanoseconds or None


_NO_HEADER = Header()


class Column(NamedTuple):
    """One field (positions, velocities, ...) of all points."""

    values: Array  # those of one point after the other
    counts: NDArray[np.int64]  # of values by point; 0 where the field is absent

    @classmethod
    def of(cls, rows: Sequence[Values]) -> Column:
        """Return a column with copies of the values, one row per point."""
        values = np.fromiter(chain.from_iterable(rows), dtype=np.float64)
        return cls(values, np.array([len(row) for row in rows], dtype=np.int64))

    def of_point(self, point: int) -> list[float]:
        """Return the values of one point."""
        end = int(self.counts[: point + 1].sum())
        values: list[float] = self.values[end - int(self.counts[point]) : end].tolist()
        return values


@dataclass(frozen=True, eq=False)
class TrajectoryRequest:
    """A requested trajectory. Fields are arrays: thousands of points need no Python loop."""

    joint_names: tuple[str, ...]  # of the values of every point, in any order
    times: Array  # s from the start; empty to cancel the active trajectory
    positions: Column
    velocities: Column
    accelerations: Column
    efforts: Column
    start_time: float | None = None  # header stamp, s; ``None`` for a stamp of 0: when sampled
    header: Header = _NO_HEADER

    @classmethod
    def of_points(
        cls, joint_names: tuple[str, ...], points: Sequence[TrajectoryPoint],
        start_time: float | None = None,
    ) -> TrajectoryRequest:
        """Return the request with copies of these points, in order of time."""
        times = np.array([point.time for point in points], dtype=np.float64)
        columns = {
            field: Column.of([getattr(point, field) for point in points]) for field in FIELDS
        }
        return cls(joint_names, times, **columns, start_time=start_time, header=_NO_HEADER)

    @property
    def is_cancel(self) -> bool:
        """Whether there is no point: drop all motions, hold the position; JTC rejects it."""
        return self.times.size == 0

    @property
    def is_setpoint(self) -> bool:
        """Whether the request is a set-point: a single point at time 0."""
        return self.times.size == 1 and bool(self.times[0] == 0.0)


def parse(request: TrajectoryRequest, rules: JointRules, now: float) -> tuple[Indices, Knots]:
    """
    Return a request's points, checked at a time of the clock of its stamp, s, or raise an error.

    First the indices of its joints in the controller's order. The points have all joints of the
    controller, with 0 for those that the request leaves out.
    """
    names, known = request.joint_names, rules.joint_names
    for joint in names:
        if joint not in known:
            raise TrajectoryError(_R.UNKNOWN_JOINT, f'not one of {known}', joint=joint)
    rules.check_names(names)
    columns = np.array([known.index(joint) for joint in names], dtype=np.intp)
    _check_times(request, rules, now)
    tables = [_table(request, field, columns, len(known)) for field in FIELDS]
    (q, _), (qd, with_velocities), (qdd, with_accelerations), (efforts, with_efforts) = tables
    wrong = with_accelerations & ~with_velocities
    values = request.accelerations.of_point(int(np.argmax(wrong)))
    reject_where(
        wrong[:, np.newaxis], _R.ACCELERATIONS_WITHOUT_VELOCITIES, None, 0,
        f'accelerations {values} but no velocities',
    )
    reject_where(
        (~with_efforts & with_efforts.any())[:, np.newaxis], _R.EFFORTS_INCOMPLETE, None, 0,
        'no efforts, but other points have efforts',
    )
    if not (request.is_setpoint or rules.allow_nonzero_velocity_at_trajectory_end):
        final = qd[-1, columns]
        reject_where(
            np.abs(final) > _FINAL_VELOCITY_TOLERANCE, _R.FINAL_VELOCITY, names,
            request.times.size - 1, '{} at the last point is not 0', final,
        )
    degrees = np.where(with_accelerations, QUINTIC, np.where(with_velocities, CUBIC, LINEAR))
    has_efforts = rules.use_trajectory_effort and bool(with_efforts.all())
    for reason, table, limits in (
        (_R.ACCELERATION_LIMIT, qdd, rules.acceleration_limits),
        (_R.EFFORT_LIMIT, efforts if has_efforts else np.zeros_like(q), rules.effort_limits),
    ):
        reject_where(
            np.abs(table) > limits, reason, known, 0, '{:.6g}, the robot at most {:.6g}', table,
            limits,
        )
    return columns, Knots(request.times, q, qd, qdd, degrees, efforts if has_efforts else None)


def _check_times(request: TrajectoryRequest, rules: JointRules, now: float) -> None:
    """Reject too many points, times that do not increase from 0, and an end in the past."""
    if request.is_cancel:
        raise TrajectoryError(_R.NO_POINTS, 'the trajectory has no points')
    times, joints = request.times, len(rules.joint_names)
    if times.size * joints > MAX_VALUES:
        raise TrajectoryError(
            Reason.TOO_LARGE, f'{times.size} points of {joints} joints, at most '
            f'{MAX_VALUES // joints}: send fewer points, or parts one after the other'
        )
    broken = ~np.isfinite(times) | (times < 0.0)
    broken[1:] |= times[1:] <= times[:-1]
    if broken.any():
        point = int(np.argmax(broken))
        time = float(times[point])
        if not math.isfinite(time):
            raise TrajectoryError(_R.NOT_FINITE, f'time {time}', point=point)
        if time < 0.0:
            raise TrajectoryError(_R.NEGATIVE_TIME, f'time {time} s', point=point)
        detail = f'time {time} s after {float(times[point - 1])} s'
        raise TrajectoryError(_R.TIMES_NOT_INCREASING, detail, point=point)
    start, duration = request.start_time, float(times[-1])
    if start is not None and not math.isfinite(start):
        raise TrajectoryError(_R.NOT_FINITE, f'start time {start}')
    if start is not None and start + duration < now:
        raise TrajectoryError(
            _R.ENDED_IN_PAST, f'start {start} s and duration {duration} s end before {now} s; '
            'a stamp of 0 starts at once', point=times.size - 1,
        )


def _table(
    request: TrajectoryRequest, field: str, columns: Indices, n: int
) -> tuple[Array, NDArray[np.bool_]]:
    """Return a field, (points, n), with 0 where absent, and which points have it."""
    column: Column = getattr(request, field)
    joints, table = len(request.joint_names), np.zeros((column.counts.size, n))
    if field != 'positions' and not column.values.size:
        return table, np.zeros(column.counts.size, dtype=bool)
    present = column.counts == joints
    wrong = ~present & ((column.counts > 0) | (field == 'positions'))
    reject_where(
        wrong[:, np.newaxis], _R.WRONG_SIZE, None, 0, f'{{}} {field} for {joints} joints',
        column.counts[:, np.newaxis],
    )
    values = np.zeros((present.size, joints))
    values[present] = column.values.reshape(-1, joints)
    reject_where(
        ~np.isfinite(values), _R.NOT_FINITE, request.joint_names, 0, field + ' {}', values
    )
    table[:, columns] = values
    return table, present
