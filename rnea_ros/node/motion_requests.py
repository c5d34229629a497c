# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Requested motions, from the topic or from the action: judged by the same rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..arrays import Array
from ..errors import RequestRejectedError
from ..feedforward import CONTROLLING, FeedforwardController, Reason
from ..feedforward.motion import (
    Goal,
    MotionState,
    Setpoint,
    StreamShaper,
    Trajectory,
    TrajectoryError,
    TrajectoryRequest,
    compile_trajectory,
)
from ..messages import MalformedError, decode_trajectory, trajectory_request
from ..ros import Clock
from .configuration import Configuration

REJECTIONS = (MalformedError, TrajectoryError, RequestRejectedError)
"""Errors of a rejected motion; each has a ``word`` for diagnostics."""

HANDOVER_DELAY = 3  # time from a request to the start of a trajectory that is joined, periods
MAX_SHAPING_TIME = 5e-3  # that is taken for the next message, s: a chunk takes longer
FOLLOWING_TICKS = 2  # periods for the next tick, which may follow the motion one period ahead


class GoalMotion(NamedTuple):
    """An accepted motion with its goal."""

    motion: Trajectory | Setpoint
    start: float | None  # monotonic, s; None: at once
    goal: Goal
    times: Array  # of the requested points, s
    requests: MotionRequests  # which judged it


class MotionRequests:
    """Judges motions, follows accepted ones, and counts others by ``<source>/<reason>``."""

    def __init__(
        self, node: Any, configuration: Configuration, controller: FeedforwardController,
        clock: Clock, rejections: Counter[str],
    ) -> None:
        self._node = node
        self._configuration = configuration
        self._clock = clock
        self._rejections = rejections
        self.controller, setup = controller, configuration.setup
        self._shaper = setup.stream and StreamShaper(
            setup.parameters.stream, setup.rules, setup.stream
        )
        self._shaping_time = 0.0  # of the last message of a stream, s

    def on_message(self, message: bytes) -> None:
        """Follow a JointTrajectory; a rejected one is logged and counted, and changes nothing."""
        is_motion = False
        try:
            self._check_mode()
            request = decode_trajectory(message)
            if request.is_cancel:
                self.cancel()
                return
            is_motion = True
            if self._shaper is not None and self._shaper.is_of_stream(request):
                self.controller.follow(*self._shaped(self._shaper, request))
            else:
                self.controller.follow(*self._compile(request))
        except REJECTIONS as error:
            if is_motion:
                self.controller.note_setpoint()
            self.count('joint_trajectory', error.word)
            self._node.get_logger().error(
                f'trajectory rejected: {error}', throttle_duration_sec=1.0
            )

    def cancel(self, goal: Goal | None = None) -> None:
        """Drop the motion, if it is that of a goal or of any, and hold or decelerate."""
        self.controller.cancel(goal, self._configuration.setup.deceleration)

    def goal(
        self, trajectory: Any, path: Sequence[Any], goal: Sequence[Any], goal_time: float
    ) -> GoalMotion:
        """Return a motion with its goal, not yet followed; or raise one of :data:`REJECTIONS`."""
        self._check_mode()
        setup, request = self._configuration.setup, trajectory_request(trajectory)
        tolerances = setup.tolerances.stated(path, goal, goal_time)
        motion, start = self._compile(request)
        goal_of_motion = Goal(motion, tolerances, setup.rules)
        return GoalMotion(motion, start, goal_of_motion, request.times, self)

    def count(self, source: str, word: str) -> None:
        """Count a motion that was rejected for a reason, by its topic or action."""
        self._rejections[f'{source}/{word}'] += 1

    def stamp_at(self, now: float) -> float:
        """Return the stamp of a time of the loop, s."""
        return self._clock.stamp() - self._clock.latest() + now

    def _check_mode(self) -> None:
        """Raise a RequestRejectedError if no motion can be followed now."""
        controller, setup = self.controller, self._configuration.setup
        if controller.state not in CONTROLLING:
            raise RequestRejectedError('not_active', f'the control is {controller.state.value}')
        # The mode requested last, not the mode in force: the loop handles requests in their order.
        law = setup.settings.mode
        if not law.follows_motions:
            reason = Reason.MODE_WITHOUT_MOTION.value
            raise RequestRejectedError(reason, f'mode {law.name} follows no trajectory')
        if setup.state_type is not None:
            raise RequestRejectedError('other_source', 'reference_source is controller_state')

    def _shaped(
        self, shaper: StreamShaper, request: TrajectoryRequest
    ) -> tuple[Trajectory, float | None]:
        """Return the motion of a stream with this message, and its start in the loop's time."""
        controller = self.controller
        if controller.withheld:
            raise RequestRejectedError(Reason.COMMANDS_WITHHELD.value, 'no commands are sent')
        received, period = self._clock.latest(), controller.settings.period
        position, velocity = controller.measured()
        held = controller.hold_position(received)
        shaper.take(request, received, self._clock.stamp(), position, held)
        # With the time that the last message took: the motion need not be made twice.
        now, delay = received, HANDOVER_DELAY * period + self._shaping_time
        while True:
            begin = now + delay
            handover = controller.motions.handover(begin)
            there = MotionState.at_rest(position + (begin - received) * velocity)
            start = (
                handover or controller.motions.reference_at(begin)
                or there._replace(velocity=velocity)
            )
            motion = shaper.follow(begin, start)
            elapsed = self._clock.latest() - now
            if elapsed <= delay - FOLLOWING_TICKS * period:
                self._shaping_time = min(elapsed, MAX_SHAPING_TIME)
                return motion, None if handover else begin
            now, delay = now + elapsed, delay + 2.0 * elapsed

    def _compile(self, request: TrajectoryRequest) -> tuple[Trajectory | Setpoint, float | None]:
        """Return the motion, and its start in the loop's time."""
        controller, rules = self.controller, self._configuration.setup.rules
        if controller.withheld:
            raise RequestRejectedError(Reason.COMMANDS_WITHHELD.value, 'no commands are sent')
        period = controller.settings.period
        may_join = rules.allow_trajectory_replacement and not request.is_setpoint
        delay = HANDOVER_DELAY * period
        while True:
            now, stamp = self._clock.latest(), self._clock.stamp()
            position, velocity = controller.measured()
            wait = 0.0 if request.start_time is None else max(request.start_time - stamp, 0.0)
            handover = controller.motions.handover(now + max(wait, delay)) if may_join else None
            motion = compile_trajectory(
                request, rules, now=stamp if handover is None else stamp + max(wait, delay),
                position=position, velocity=velocity,
                desired=controller.motions.reference_at(now + wait), handover=handover,
            )
            # A trajectory of many points takes longer: its handover must not be in the past.
            elapsed = self._clock.latest() - now
            if handover is None or elapsed <= max(wait, delay) - FOLLOWING_TICKS * period:
                break
            delay = HANDOVER_DELAY * period + 2.0 * elapsed
        # Convert to the loop's time: a change of the wall clock must not shift the motion.
        start = None if motion.start_time is None else motion.start_time - stamp + now
        return motion, start
