# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What a desired motion is held to, and the error that says which rule one breaks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import enum

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, RneaError


class TrajectoryReason(enum.Enum):
    """Why a trajectory was refused; the values are stable, for diagnostics and logs."""

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
    START_TOO_FAR = 'start_too_far'
    START_NOT_FINITE = 'start_not_finite'


class StartFrom(enum.Enum):
    """Where the way to a first point that is ahead begins."""

    MEASURED = 'measured'    # where the robot is
    REFERENCE = 'reference'  # in the motion that is wanted; where the robot is if none is


class TrajectoryError(RneaError):
    """
    A trajectory is refused whole; whatever was in force stays in force.

    :param reason: the rule that it breaks
    :param detail: what is wrong with it, with the offending values
    :param joint: the joint at fault, where it is one
    :param point: the index of the point at fault, where it is one
    """

    def __init__(
        self,
        reason: TrajectoryReason,
        detail: str,
        *,
        joint: str | None = None,
        point: int | None = None,
    ) -> None:
        where = '' if point is None else f', point {point}'
        who = '' if joint is None else f', joint {joint!r}'
        super().__init__(f'{reason.value}{where}{who}: {detail}')
        self.reason = reason
        self.word = reason.value
        self.detail = detail
        self.joint = joint
        self.point = point


@dataclass(frozen=True, eq=False)
class JointRules:
    """
    The controller's joints, and what their desired motion is held to.

    The arrays are copied, and read-only from then on.

    :param joint_names: the joints, in the controller's order
    :param lower: lower position limits, shape (joints,), rad or m; ``-inf`` where there is none
    :param upper: upper position limits, likewise with ``inf``
    :param continuous: which joints turn without end, shape (joints,); as in a URDF, position
        limits mean nothing for these
    :param velocity_limits: shape (joints,), rad/s or m/s; ``inf`` where there is none
    :param start_tolerance: how far from the robot a motion may start at once, rad or m;
        ``inf`` for any distance
    :param allow_partial_joints_goal: whether a request may leave out joints, which then hold
    :param allow_nonzero_velocity_at_trajectory_end: whether the last point may have a velocity
    :param use_efforts: whether the efforts of the points are followed; they are checked always
    :param start_from: where the way to a first point that is ahead begins
    :raises InputError: for a wrong shape, limits in the wrong order or a negative tolerance
    """

    joint_names: tuple[str, ...]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    continuous: NDArray[np.bool_]
    velocity_limits: NDArray[np.float64]
    start_tolerance: float
    allow_partial_joints_goal: bool = False
    allow_nonzero_velocity_at_trajectory_end: bool = False
    use_efforts: bool = False
    start_from: StartFrom = StartFrom.MEASURED

    def __post_init__(self) -> None:
        shape = (len(self.joint_names),)
        continuous = np.array(self.continuous, dtype=np.bool_)
        lower = np.array(self.lower, dtype=np.float64)
        upper = np.array(self.upper, dtype=np.float64)
        speeds = np.array(self.velocity_limits, dtype=np.float64)
        arrays = {
            'continuous': continuous, 'lower': lower, 'upper': upper, 'velocity_limits': speeds
        }
        for field, array in arrays.items():
            if array.shape != shape:
                raise InputError(field, f'shape {array.shape} is not {shape}')
        lower[continuous], upper[continuous] = -np.inf, np.inf
        ordered = lower <= upper
        if not ordered.all():
            joint = int(np.argmin(ordered))
            raise InputError(
                'lower',
                f'{lower[joint]} is not up to {upper[joint]} for {self.joint_names[joint]!r}',
            )
        if not (speeds > 0.0).all():
            joint = int(np.argmin(speeds > 0.0))
            raise InputError(
                'velocity_limits',
                f'{speeds[joint]} is not above 0 for {self.joint_names[joint]!r}',
            )
        if not self.start_tolerance >= 0.0:
            raise InputError('start_tolerance', f'{self.start_tolerance} is not 0 or more')
        for field, array in arrays.items():
            array.setflags(write=False)
            object.__setattr__(self, field, array)


def refuse_where(
    broken: NDArray[np.bool_],
    reason: TrajectoryReason,
    detail: Callable[[int, int], str],
    joint_names: tuple[str, ...],
    first_point: int = 0,
) -> None:
    """
    Raise for the first place where a rule is broken, if there is one.

    :param broken: shape (points, joints)
    :param reason: the rule
    :param detail: what is wrong there, by row and column of ``broken``
    :param joint_names: the joints of the columns
    :param first_point: the point of the first row; -1 where that is the start state, which is
        reported as the point that it leads to
    :raises TrajectoryError: if there is one
    """
    if broken.any():
        row, column = (int(index) for index in np.argwhere(broken)[0])
        raise TrajectoryError(
            reason,
            detail(row, column),
            joint=joint_names[column],
            point=max(0, row + first_point),
        )
