# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The goal of a motion: it compares the robot with the motion at each tick, until it has a result.

The thread of the control judges it, as in ros2_control's joint_trajectory_controller (JTC): a
slower thread would miss a violation between two polls. Other threads read ``result`` and
``sample``, which are replaced and never changed.

Tolerances have defaults from parameters, where 0 means no limit. In a goal, as in JTC, 0 is the
default and -1 means no limit. JTC ignores other negative values; here they are an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
import enum
import math
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...errors import RequestRejectedError, brief
from ..reasons import Reason
from .parse import JointRules, TrajectoryReason
from .reference import Reference
from .trajectory import Setpoint, Trajectory

_NO_LIMIT = -1.0  # value in a goal that stands for no limit
_NO_LIMIT_ROUNDING = float(np.finfo(np.float32).eps)


class JointTolerance(NamedTuple):
    """As ``control_msgs/JointTolerance``; the acceleration is only checked: none is measured."""

    name: str
    position: float
    velocity: float
    acceleration: float


@dataclass(frozen=True, eq=False)
class Tolerances:
    """
    Greatest errors of positions (row 0) and velocities (row 1), ``inf`` for no limit.

    :param path: while the motion lasts, shape (2, joints)
    :param goal: from the end of the motion on, shape (2, joints)
    :param goal_time: longest time after the end until the robot is within ``goal``, s
    """

    joints: tuple[str, ...]
    path: Array
    goal: Array
    goal_time: float

    def stated(
        self, path: Sequence[JointTolerance], goal: Sequence[JointTolerance], goal_time: float
    ) -> Tolerances:
        """Return these with a goal's, or raise a RequestRejectedError for an invalid one."""
        return replace(
            self, path=self._table('path_tolerance', self.path, path),
            goal=self._table('goal_tolerance', self.goal, goal),
            goal_time=_resolve('goal_time_tolerance', self.goal_time, goal_time),
        )

    def _table(self, field: str, default: Array, stated: Sequence[JointTolerance]) -> Array:
        table = default.copy()
        for each in stated:
            if each.name not in self.joints:
                raise RequestRejectedError(
                    'invalid_tolerance', f'{field}: {brief(each.name)} is not one of {self.joints}'
                )
            limits, given = table[:, self.joints.index(each.name)], f'{field} of {each.name!r}:'
            limits[0] = _resolve(f'{given} position', limits[0], each.position)
            limits[1] = _resolve(f'{given} velocity', limits[1], each.velocity)
            _resolve(f'{given} acceleration', math.inf, each.acceleration)
        return table


def default_tolerances(
    joints: tuple[str, ...], path: Mapping[str, float], goal: Mapping[str, float],
    stopped_velocity: float, goal_time: float,
) -> Tolerances:
    """Return the tolerances of goals that state none, from position errors by joint; 0: any."""
    limits = np.zeros((2, 2, len(joints)))
    limits[:, 0] = [[errors.get(joint, 0.0) for joint in joints] for errors in (path, goal)]
    limits[1, 1] = stopped_velocity
    limits[limits == 0.0] = np.inf
    return Tolerances(joints, limits[0], limits[1], goal_time or math.inf)


def _resolve(where: str, default: float, stated: float) -> float:
    """Return the limit of a stated value."""
    if stated > 0.0:
        return stated
    if stated == 0.0:
        return default
    if abs(stated - _NO_LIMIT) < _NO_LIMIT_ROUNDING:
        return math.inf
    raise RequestRejectedError(
        'invalid_tolerance',
        f'{where} {stated:g} is none of: above 0, 0 (the default), -1 (no limit)',
    )


class ErrorCode(enum.IntEnum):
    """Error codes of ``control_msgs/action/FollowJointTrajectory``."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


_CODES = {
    TrajectoryReason.EMPTY_JOINT_NAMES.value: ErrorCode.INVALID_JOINTS,
    TrajectoryReason.DUPLICATE_JOINT.value: ErrorCode.INVALID_JOINTS,
    TrajectoryReason.UNKNOWN_JOINT.value: ErrorCode.INVALID_JOINTS,
    TrajectoryReason.MISSING_JOINT.value: ErrorCode.INVALID_JOINTS,
    TrajectoryReason.ENDED_IN_PAST.value: ErrorCode.OLD_HEADER_TIMESTAMP,
    Reason.PATH_TOLERANCE.value: ErrorCode.PATH_TOLERANCE_VIOLATED,
    Reason.GOAL_TOLERANCE.value: ErrorCode.GOAL_TOLERANCE_VIOLATED,
}


def error_code(word: str) -> ErrorCode:
    """Return the error code of a goal that was rejected or missed for a reason, in one word."""
    return _CODES.get(word, ErrorCode.INVALID_GOAL)


class GoalResult(NamedTuple):
    """The end of a goal: error code, and a sentence that begins with the reason's word."""

    code: ErrorCode
    text: str


class GoalSample(NamedTuple):
    """The state of a goal at one tick; times in s."""

    now: float  # monotonic
    elapsed: float  # since the start of the motion
    motion_time: float  # the same in the motion's time, which speed scaling slows down
    desired: Array  # positions, velocities and accelerations, shape (3, m)
    actual: Array  # measured positions and velocities, shape (2, m)
    error: Array  # desired minus actual, shape (2, m); the shorter way for continuous joints


class Goal:
    """
    A motion that must be followed within tolerances.

    :ivar result: the end of the goal, None while it is pursued
    :ivar sample: the state at the last tick, None before the motion starts
    :ivar missed: reason if the robot left the tolerances, so that the control holds; else None
    """

    def __init__(
        self, motion: Trajectory | Setpoint, tolerances: Tolerances, rules: JointRules
    ) -> None:
        self._tolerances, self._rules = tolerances, rules
        self._root, join = motion.root, motion.join
        self._begin, self._zero = (-math.inf, 0.0) if join is None else (join.begin, join.zero)
        self._duration = motion.duration - self._zero
        self._reference: Reference | None = None
        self._change = 0
        self._start: float | None = None
        self._delay = 0.0
        self.result: GoalResult | None = None
        self.sample: GoalSample | None = None
        self.missed: Reason | None = None

    def begin(self, reference: Reference, start: float | None) -> None:
        """Begin at a time, s (None: next tick), right after the reference accepted the motion."""
        self._reference = reference
        self._change = reference.changes
        self._start = start

    def go_on(self, motion: Trajectory | Setpoint) -> bool:
        """Go on with an accepted motion without a goal if it was joined to this one; or not."""
        assert self._reference is not None
        goes_on = motion.join is not None and motion.root is self._root
        if goes_on:
            self._change = self._reference.changes
            self._duration = motion.duration - self._zero
        return goes_on

    def drop(self, reason: Reason) -> None:
        """End without success, for a cause other than a tolerance; any thread may call this."""
        if self.result is None:
            self.result = GoalResult(
                ErrorCode.INVALID_GOAL, f'{reason.value}: the motion ended before its goal'
            )

    def judge(self, now: float, position: Array, velocity: Array) -> None:
        """Judge the robot's measured state, shapes (m,), at a tick after the reference's."""
        reference = self._reference
        assert reference is not None
        if reference.changes != self._change:
            self.drop(reference.reason)
        if self.result is not None or reference.waiting or reference.time < self._begin:
            return
        is_first = self.sample is None
        if is_first:
            self._delay = reference.scaling.delay
            if self._begin > -math.inf:
                self._start = now - (reference.time - self._zero)
        if self._start is None:
            self._start = now
        elapsed = now - self._start
        motion_time = elapsed - (reference.scaling.delay - self._delay)
        desired = np.array((reference.position, reference.velocity, reference.acceleration))
        actual = np.array((position, velocity))
        error = desired[:2] - actual
        error[0] = self._rules.shortest_way(error[0])
        self.sample = GoalSample(now, elapsed, motion_time, desired, actual, error)
        # As in JTC, the path counts at the first tick even if the motion has only one point.
        if is_first or motion_time < self._duration:
            limit = self._tolerances.path
            if (np.abs(error) > limit).any():
                self._miss(Reason.PATH_TOLERANCE, error, limit, f'{elapsed:.3f} s after the start')
        if self.result is None and motion_time >= self._duration:
            limit, late = self._tolerances.goal, motion_time - self._duration
            if not (np.abs(error) > limit).any():
                self.result = GoalResult(ErrorCode.SUCCESSFUL, 'goal reached')
            elif late > self._tolerances.goal_time:
                self._miss(
                    Reason.GOAL_TOLERANCE, error, limit, f'{late:.3f} s after the end; '
                    f'the goal time tolerance is {self._tolerances.goal_time:g} s',
                )

    def _miss(self, reason: Reason, error: Array, limit: Array, when: str) -> None:
        """End with the error that exceeds its limit by the greatest factor."""
        row, column = np.unravel_index(np.argmax(np.abs(error) / limit), error.shape)
        kind = ('position', 'velocity')[row]
        self.missed = reason
        self.result = GoalResult(
            error_code(reason.value),
            f'{reason.value}: joint {self._tolerances.joints[column]!r}: {kind} error '
            f'{error[row, column]:.6g} exceeds {limit[row, column]:g}, {when}',
        )
