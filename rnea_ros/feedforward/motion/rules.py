# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The rules for trajectories of the controller's joints, and the error for a broken rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
import enum
import math

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...errors import InputError, RneaError
from ...parameters import parameter
from ..reasons import Reason

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


class TrajectoryError(RneaError):
    """
    A trajectory or reference is rejected whole. The active motion stays active.

    :param reason: broken rule
    :param detail: offending values and the limit that they break
    :param joint: joint at fault; ``None`` for a fault of no single joint
    :param point: index of the point at fault; ``None`` for a fault of no single point
    """

    def __init__(
        self, reason: TrajectoryReason | Reason, detail: str,
        *, joint: str | None = None, point: int | None = None,
    ) -> None:
        where = '' if point is None else f', point {point}'
        whose = '' if joint is None else f', joint {joint!r}'
        super().__init__(f'{reason.value}{where}{whose}: {detail}')
        self.reason = reason
        self.word = reason.value
        self.detail = detail
        self.joint = joint
        self.point = point


class Interpolation(enum.Enum):
    """The motion between points that have positions only."""

    LINEAR = 'linear'
    SPLINE = 'spline'


@dataclass(frozen=True, eq=False)
class JointRules:
    """
    The controller's joints, with the limits and options for their trajectories.

    The arrays are copied and read-only.

    :param joint_names: joints in the controller's order
    :param lower: lower position limits, shape (joints,), rad or m; ``-inf`` for no limit
    :param upper: upper position limits, shape (joints,), rad or m; ``inf`` for no limit
    :param continuous: ``True`` for continuous joints, shape (joints,); as in a URDF, these have no
        position limits
    :param velocity_limits: shape (joints,), rad/s or m/s; ``inf`` for no limit
    :param start_tolerance: a parameter; ``inf`` for any distance
    :param allow_trajectory_replacement: a parameter; see :mod:`.join`
    :param acceleration_limits: shape (joints,), rad/s^2 or m/s^2; ``inf`` for no limit
    :param effort_limits: of trajectory points, shape (joints,), N m or N; ``inf`` for no limit
    :raises InputError: a wrong shape, limits in the wrong order, a velocity limit of 0 or less, or
        a negative tolerance
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
        shape = (len(self.joint_names),)
        continuous = np.array(self.continuous, dtype=np.bool_)
        lower = np.array(self.lower, dtype=np.float64)
        upper = np.array(self.upper, dtype=np.float64)
        speeds = np.array(self.velocity_limits, dtype=np.float64)
        arrays = {
            'continuous': continuous, 'lower': lower, 'upper': upper, 'velocity_limits': speeds,
            'acceleration_limits': np.zeros(shape) + self.acceleration_limits,
            'effort_limits': np.zeros(shape) + self.effort_limits,
        }
        for name, array in arrays.items():
            if array.shape != shape:
                raise InputError(name, f'shape {array.shape} is not {shape}')
        lower[continuous], upper[continuous] = -np.inf, np.inf
        ordered = lower <= upper
        if not ordered.all():
            joint = int(np.argmin(ordered))
            raise InputError(
                'lower',
                f'{lower[joint]:.6g} is not below the upper limit {upper[joint]:.6g} '
                f'for {self.joint_names[joint]!r}; correct <limit> in the URDF',
            )
        if not (speeds > 0.0).all():
            joint = int(np.argmin(speeds > 0.0))
            raise InputError(
                'velocity_limits',
                f'{speeds[joint]:.6g} is not above 0 for {self.joint_names[joint]!r}',
            )
        if not self.start_tolerance >= 0.0:
            raise InputError('start_tolerance', f'{self.start_tolerance} is not 0 or more')
        for name, array in arrays.items():
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def check_names(self, names: tuple[str, ...]) -> None:
        """Raise a TrajectoryError if there is no name, a name twice, or too few names."""
        if not names:
            raise TrajectoryError(TrajectoryReason.EMPTY_JOINT_NAMES, 'joint_names is empty')
        for index, name in enumerate(names):
            if name in names[:index]:
                raise TrajectoryError(
                    TrajectoryReason.DUPLICATE_JOINT, f'twice in {names}', joint=name
                )
        missing = [name for name in self.joint_names if name not in names]
        if missing and not self.allow_partial_joints_goal:
            raise TrajectoryError(
                TrajectoryReason.MISSING_JOINT, f'{missing} not in {names}', joint=missing[0]
            )

    def whole_turns(self, difference: Array) -> Array:
        """Return the whole turns in position differences, rad; 0 for other joints."""
        turns = difference / math.tau
        whole = np.copysign(np.ceil(np.abs(turns) - 0.5 - _HALF_TURN_ROUNDING), turns)
        return np.where(self.continuous, math.tau * whole, 0.0)

    def shortest_way(self, difference: Array) -> Array:
        """Return position differences without whole turns of continuous joints."""
        return difference - self.whole_turns(difference)


def reject_where(
    broken: NDArray[np.bool_], reason: TrajectoryReason, detail: Callable[[int, int], str],
    joint_names: tuple[str, ...], first_point: int = 0,
) -> None:
    """
    Raise an error for the first entry that breaks a rule, if there is one.

    :param broken: ``True`` where the rule is broken, shape (points, joints)
    :param reason: the rule
    :param detail: returns the text of the error for a row and a column of ``broken``
    :param joint_names: joints of the columns
    :param first_point: point of the first row; -1 for the start state, which is reported as the
        point after it
    :raises TrajectoryError: the first broken entry
    """
    if broken.any():
        row, column = (int(index) for index in np.argwhere(broken)[0])
        raise TrajectoryError(
            reason, detail(row, column), joint=joint_names[column], point=max(0, row + first_point)
        )
