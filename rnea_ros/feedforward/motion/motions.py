# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The motions that the control follows: requests in, one reference and the present goal out."""

from __future__ import annotations

import math

from ...arrays import Array
from ..reasons import Reason
from .goals import Goal
from .online import Deceleration
from .reference import Reference
from .trajectory import Handover, MotionState, Setpoint, Trajectory


class Motions:
    """
    Decides which requested motions are followed, and keeps the goal of the present one.

    A contact ends a motion once, when it begins: a later motion, away from the obstacle, is
    followed at once. A stream that a contact ended is ignored until it pauses for longer than
    ``longest_pause``, s, so that its next message does not start the motion again. Set-points are
    a stream, and so are other motions without a goal that follow each other within this time. The
    pause is counted in ticks without a message: a stall of the computer does not count.

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
        Follow a motion from a time on (None: this tick); drop it if the mode follows none by now.

        A trajectory without a goal that is joined to the motion of a goal continues this goal, as
        in ros2_control's joint_trajectory_controller.
        """
        if goal is None and self.register(is_setpoint=motion.streamed):
            return
        if not mode_follows or not self._reference.accept(motion, start):
            if goal is not None:
                goal.drop(self._reference.reason if mode_follows else Reason.MODE_WITHOUT_MOTION)
            return
        if self.goal is not None:
            if goal is None and not motion.streamed and self.goal.go_on(motion):
                return
            self.goal.drop(Reason.REPLACED)
        self.goal = goal
        if goal is not None:
            goal.begin(self._reference, start)

    def cancel(self, goal: Goal | None, limits: Deceleration | None) -> None:
        """
        Drop every motion, or that of a goal, and decelerate; without limits, hold the position.

        A goal that is not the present one changes nothing.
        """
        if goal is not None and goal is not self.goal:
            return
        if limits is None:
            self._reference.stop(Reason.CANCELLED)
        else:
            self._reference.decelerate(limits)

    def judge(self, now: float, position: Array, velocity: Array) -> None:
        """Compare the robot with the goal; hold where the robot is if the goal was missed."""
        if (goal := self.goal) is None:
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
