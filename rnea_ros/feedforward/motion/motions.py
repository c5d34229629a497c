# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The motions that the control follows: requests in, one reference and the present goal out.

A goal compares the robot with its motion at each tick, until it has a result. The thread of the
control judges it, as in ros2_control's joint_trajectory_controller (JTC): a
slower thread would miss a violation between two polls. Other threads read ``result`` and
``sample``, which are replaced and never changed.

Tolerances have defaults from parameters, where 0 means no limit. In a goal, as in JTC, 0 is the
default and -1 means no limit; other negative values are invalid. JTC executes a goal with invalid
tolerances with the defaults; here it is rejected.
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
from .reference import Deceleration, Reference
from .trajectory import Handover, MotionState, Setpoint, Trajectory

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
    """
    Return the tolerances of goals that state none; 0 means no limit everywhere.

    ``path`` and ``goal`` are position errors by joint, ``stopped_velocity`` is for the goal.
    """
    limits = np.zeros((2, 2, len(joints)))
    limits[0, 0] = [path.get(joint, 0.0) for joint in joints]
    limits[1, 0] = [goal.get(joint, 0.0) for joint in joints]
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
        if motion.join is None or motion.root is not self._root:
            return False
        self._change = self._reference.changes
        self._duration = motion.duration - self._zero
        return True

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


class Motions:
    """
    Decides which requested motions are followed, and keeps the goal of the present one.

    A contact ends a motion once, when it begins: a later motion, away from the obstacle, is
    followed at once. A stream that a contact ended is ignored until it pauses for
    ``reference_timeout``, so that its next message does not start the motion again. Set-points are
    a stream, and so are other motions without a goal that follow each other within this time. The
    pause is counted in ticks without a message: a stall of the computer does not count.

    :param reference: the reference of the control
    :param longest_pause: longest pause between the motions of a stream, s
    :ivar goal: goal of the present motion, None if it has no goal
    :ivar newest: the motion that was requested last, None after a cancel; any thread may set it
    """

    def __init__(self, reference: Reference, longest_pause: float) -> None:
        self._reference = reference
        self._longest_pause = longest_pause
        self._pause = math.inf
        self._streaming = self._ignores_stream = False
        self.goal: Goal | None = None
        self.newest: Trajectory | Setpoint | None = None

    def reference_at(self, time: float) -> MotionState | None:
        """Return the reference at a time; see :meth:`.Reference.state_at`. For any thread."""
        return self._reference.state_at(time)

    def handover(self, time: float) -> Handover | None:
        """Return where a new trajectory can take over from the newest one. For any thread."""
        return self._reference.handover(time, self.newest)

    def follow(
        self, motion: Trajectory | Setpoint, start: float | None, goal: Goal | None,
        *, mode_follows: bool,
    ) -> None:
        """
        Follow a motion from a time on (None: this tick); drop it if the mode follows none.

        The mode may have changed since the request. If a trajectory without a goal is joined to
        the motion of a goal, the goal stays, and is judged by the joined motion, as in
        ros2_control's joint_trajectory_controller.
        """
        is_setpoint = isinstance(motion, Setpoint)
        if goal is None and self.register(is_setpoint=is_setpoint):
            return
        if not mode_follows or not self._reference.accept(motion, start):
            if goal is not None:
                goal.drop(self._reference.reason if mode_follows else Reason.MODE_WITHOUT_MOTION)
            return
        if self.goal is not None:
            if goal is None and self.goal.go_on(motion):
                return
            self.goal.drop(Reason.REPLACED)
        self.goal = goal
        if goal is not None:
            goal.begin(self._reference, start)

    def cancel(self, goal: Goal | None, limits: Deceleration | None) -> None:
        """
        Drop every motion, and hold the current reference position or decelerate.

        :param goal: do so only if the motion of this goal is followed; None: whatever is followed
        :param limits: limits of the motion to a stop; None: hold at once
        """
        if goal is not None and goal is not self.goal:
            return
        if limits is None:
            self._reference.stop(Reason.CANCELLED)
        else:
            self._reference.decelerate(limits)

    def judge(self, now: float, position: Array, velocity: Array) -> None:
        """Compare the robot with the goal; hold where the robot is if the goal was missed."""
        goal = self.goal
        if goal is None:
            return
        goal.judge(now, position, velocity)
        if goal.missed:
            self._reference.hold(position, goal.missed)
        if goal.result is not None:
            self.goal = None

    def drop_goal(self, reason: Reason) -> None:
        """End the goal, if there is one: the control was interrupted."""
        if self.goal is not None:
            self.goal.drop(reason)
            self.goal = None

    def register(self, *, is_setpoint: bool) -> bool:
        """Register a motion without a goal; return whether it is to be ignored."""
        self._streaming = is_setpoint or self._pause <= self._longest_pause
        self._pause = 0.0
        return self._ignores_stream

    def count_pause(self, dt: float) -> None:
        """Count the pause of a stream; once a tick."""
        self._pause += dt
        self._ignores_stream &= self._pause <= self._longest_pause

    def end_by_contact(self, *, hold: bool) -> bool:
        """Hold the reference position, or drop it; return whether there was a motion to end."""
        if not (self._reference.is_set or self._reference.waiting):
            return False
        self._ignores_stream = self._streaming and self._pause <= self._longest_pause
        if hold:
            self._reference.stop(Reason.CONTACT)
        else:
            self._reference.clear(Reason.CONTACT)
        return True

    def heed_stream(self) -> None:
        """Follow a stream again that a contact has ended: contacts end no motion any more."""
        self._ignores_stream = False
