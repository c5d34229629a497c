# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The motion to the rest pose: by the service ``~/rest``, and before a stop ramps down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
import math
import time
import traceback
from typing import Any

import numpy as np
from std_srvs.srv import Trigger

from ..errors import one_line
from ..feedforward import CONTROLLING, Reason, State
from ..feedforward.motion import ErrorCode, Goal, MotionState, RestError, Trajectory
from ..feedforward.motion.trajectory import join
from .configuration import Configuration
from .inputs import Control

LEAD = 0.1  # time from the plan to the start of the motion, in which the reference goes on, s
SPARE_TICKS = 2  # periods before the start in which the plan must be complete
CHECK_INTERVAL = 0.1  # time between two checks of the motion, s
POLLS_PER_REPORT = 10
NEAR = 0.05  # greatest error at the pose, unless constraints.<joint>.goal is less, rad or m
SETTLING_TIME = 1.0  # as constraints.goal_time, unless that has a limit, s
STANDSTILL = 1.0  # simulated time that is unchanged for this long has stopped, s of machine time
LONGEST = 30.0  # longest motion before a stop, s; launch files wait for it

PREVENTING = frozenset((
    Reason.CONTACT, Reason.JOINT_STATES_FROZEN, Reason.SECOND_CONTROLLER, Reason.SECOND_PUBLISHER,
))
"""Flags with which the arm is not moved."""


class RestMotion:
    """Moves the arm of an active control to the rest pose."""

    def __init__(self, node: Any, configuration: Configuration, control: Control) -> None:
        self._logger, self._configuration = node.get_logger(), configuration
        self._controller, self._states = control.controller, control.states
        self._clock = control.clock
        self._all = np.arange(len(control.controller.joints))

    def begin(self, longest: float = math.inf) -> tuple[Trajectory, Goal]:
        """Follow the motion to the pose; RestError if there is none now that takes less, s."""
        setup, controller = self._configuration.setup, self._controller
        if setup.rest is None or setup.no_rest_motion:
            raise RestError(setup.no_rest_motion)
        self._check_held()
        lead = LEAD
        while True:
            planned_at = self._clock.latest()
            start: float | None = planned_at + lead
            handover = controller.motions.handover(planned_at + lead)
            state = controller.motions.reference_at(planned_at + lead)
            if handover is not None:
                state, start = handover.active.state(handover.time), None
            motion = setup.rest.motion(state or self._measured())
            if motion.duration > longest:
                raise RestError(f'the way takes {motion.duration:.0f} s, more than {longest:g} s')
            setup.rest.check(motion, self._states.position)
            if state is None:  # weightless: it may have moved on a little during the check
                motion, start = setup.rest.motion(self._measured()), None
                break
            elapsed = self._clock.latest() - planned_at
            if elapsed <= lead - SPARE_TICKS * controller.settings.period:
                break
            lead = 2.0 * (lead + elapsed)
        self._check_held()
        given = setup.tolerances
        # Joined, it is dropped if a contact ends the motion that it continues.
        joined = motion if handover is None else join(handover, motion.knots, self._all)
        goal = Goal(joined, replace(
            given, goal=np.minimum(given.goal, [[NEAR], [math.inf]]),
            goal_time=SETTLING_TIME if math.isinf(given.goal_time) else given.goal_time,
        ), setup.rules)
        controller.follow(joined, start, goal)
        return motion, goal

    def _check_held(self) -> None:
        """Raise a RestError in a start ramp, without commands, and for flags of PREVENTING."""
        controller = self._controller
        if controller.state not in (State.ACTIVE, State.DEGRADED):
            raise RestError(f'the control is {controller.state.value}')
        if flags := PREVENTING & controller.flags:
            raise RestError(' '.join(flag.value for flag in flags))

    def _measured(self) -> MotionState:
        position, velocity = self._controller.measured()
        return MotionState.at_rest(position)._replace(velocity=velocity)

    def approach(
        self, signals: Callable[[], int], poll: Callable[[], None], report: Callable[[], None]
    ) -> None:
        """
        Move to the rest pose if there is one, and wait; no error leaves this method.

        :param signals: number of signals of the process; one more ends the motion
        :param poll: called ten times a second, and ``report`` once, as by the node's timers
        """
        if self._configuration.setup.rest is None or self._controller.state not in CONTROLLING:
            return
        try:
            motion, goal = self.begin(LONGEST)
            self._logger.info(
                f'moves to rest_pose in {motion.duration:.1f} s; Ctrl-C (again) ramps down at once'
            )
            why = self._wait(goal, signals, poll, report)
        except RestError as error:
            why = str(error)
        except Exception:
            why = traceback.format_exc()
        if why:
            self._logger.warning(f'ramps down here, not at rest_pose: {why}')
        else:
            self._logger.info('is at rest_pose')

    def _wait(
        self, goal: Goal, signals: Callable[[], int], poll: Callable[[], None],
        report: Callable[[], None],
    ) -> str:
        """Wait for the end of the motion; return why it is not the rest pose, or nothing."""
        controller, clock, polls = self._controller, self._clock, 0
        contact, signalled = controller.snapshot.contact, signals()
        now = moved_at = time.monotonic()
        deadline, loop_time = now + LONGEST, clock.latest()
        while goal.result is None:
            time.sleep(CHECK_INTERVAL)
            poll()
            polls += 1
            if polls % POLLS_PER_REPORT == 0:
                report()
            now, snapshot = time.monotonic(), controller.snapshot
            if clock.latest() != loop_time:
                loop_time, moved_at = clock.latest(), now
            if signals() != signalled:
                return 'another signal'
            if snapshot.contact is not contact:
                return f'contact: {snapshot.contact}'
            if snapshot.state not in CONTROLLING:
                return str(snapshot.reason.value if snapshot.reason else snapshot.state.value)
            if now - moved_at > STANDSTILL:
                return 'simulated time stands still'
            if now > deadline:
                return f'the motion takes longer than {LONGEST:g} s'
        return '' if goal.result.code is ErrorCode.SUCCESSFUL else goal.result.text


class RestService:
    """
    The service ``~/rest``, which answers when the motion begins; it exists as long as the node.

    A client would wait without end for a service that is destroyed before its answer.
    """

    def __init__(self, node: Any, rest: Callable[[], RestMotion | None]) -> None:
        self._node, self._rest = node, rest
        node.create_service(Trigger, '~/rest', self._on_rest)

    def _on_rest(self, _: Any, response: Any) -> Any:
        try:
            if (rest := self._rest()) is None:
                raise RestError('the node is not active')
            motion, _ = rest.begin()
            response.success = True
            response.message = f'moves to rest_pose in {motion.duration:.1f} s'
        except RestError as error:
            response.message = str(error)
        except Exception as error:
            self._node.get_logger().error(traceback.format_exc())
            response.message = f'internal error: {one_line(error)}'
        return response
