# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The way out of the control, after a fault or a stop: hold the robot, then let go of it."""

from __future__ import annotations

from functools import partial
import math

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..dynamics.compilation import entry, entry_point
from .effort_limiter import EffortLimiter
from .law import ControlLaw
from .settings import ResolvedSettings, Settings, StaleAction
from .state_machine import Event, State, StateMachine


class RampDown:
    """
    Commands gravity at the last valid position, reached at the rate limit, and then less of it.

    :param state_machine: knows how far it has come
    :param output: limits every command
    :ivar share: of gravity that is commanded, from 1 to 0
    """

    def __init__(self, state_machine: StateMachine, output: EffortLimiter) -> None:
        self._state_machine = state_machine
        self._output = output
        self.share = 1.0

    def step(self, now: float, dt: float, gravity: Array, settings: Settings) -> Array:
        """
        Return the next command, shape (m,); overwritten by the next call.

        :param now: monotonic time, s
        :param dt: in which the command may change, s
        :param gravity: what holds the robot where it is, shape (m,), N m or N
        :param settings: in force
        """
        state_machine = self._state_machine
        self._output.end_blend()
        state_machine.since = min(state_machine.since, now)  # simulated time can be set back
        elapsed = now - state_machine.since
        if state_machine.state is State.HOLDING:
            return self._hold(now, elapsed, dt, gravity, settings)
        if settings.stale_action is StaleAction.HOLD:
            if self._output.settled(gravity, dt):
                return self._output.command
            return self._output.step(gravity, dt)  # commands were withheld meanwhile
        self.share = 0.0
        if state_machine.state is State.RAMPING_DOWN:
            duration = max(settings.ramp_duration, settings.period)
            self.share = max(1.0 - elapsed / duration, 0.0)
        command = self._output.step(self.share * gravity, dt)
        if self.share == 0.0 and not command.any():
            state_machine.handle(Event.RAMPED_DOWN, now)
        return command

    def _hold(
        self, now: float, elapsed: float, dt: float, gravity: Array, settings: Settings
    ) -> Array:
        state_machine = self._state_machine
        command = self._output.step(gravity, dt)
        settled = self._output.settled(gravity, dt)
        if settings.stale_action is StaleAction.HOLD:
            if settled and state_machine.stop_requested:
                state_machine.handle(Event.RELEASED, now)
        elif settled and (state_machine.stop_requested or elapsed >= settings.hold_duration):
            state_machine.handle(Event.HELD, now)
        return command


class HoldingEffort:
    """
    Keeps the gravity torque at the newest position that has a finite one.

    :param settings: the commanded joints and their effort limits
    :ivar effort: shape (m,), N m or N; zero before the first position; replaced, not changed
    :ivar overloaded: which effort limits are below it, shape (m,)
    """

    def __init__(self, settings: ResolvedSettings) -> None:
        self._commanded = settings.in_model
        self.effort = np.zeros(len(settings.joints))
        self.overloaded = np.zeros(len(settings.joints), dtype=bool)
        results = (settings.effort_limits, self.overloaded)
        self._compare = partial(entry_point(_compare, (*results, self.effort)), *results)

    def note(self, law: ControlLaw, q: Array) -> None:
        """
        Compute it anew.

        :param law: in force
        :param q: measured positions of all joints, rad or m
        """
        effort = law.gravity(q)[self._commanded]
        if math.isfinite(effort.sum()):
            self.effort = effort

    def exceeds_limits(self) -> bool:
        """Return whether any effort limit is below it, and note in ``overloaded`` which are."""
        return bool(self._compare(self.effort))


@entry
def _compare(limits: Array, overloaded: NDArray[np.bool_], effort: Array) -> bool:
    some = False
    for i in range(effort.size):
        overloaded[i] = abs(effort[i]) > limits[i]
        some |= overloaded[i]
    return some
