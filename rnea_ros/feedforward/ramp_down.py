# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The end of the control after a fault or a stop: hold the robot, then ramp down to zero.

:class:`HoldingEffort` keeps the effort that holds the robot. :class:`RampDown` computes the
commands from it.
"""

from __future__ import annotations

from functools import partial
import math

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..compilation import entry, entry_point
from .effort_limiter import EffortLimiter
from .settings import ResolvedSettings, Settings, StaleAction
from .state_machine import Event, State, StateMachine


class HoldingEffort:
    """
    Keeps the newest finite effort that holds the robot at its measured position.

    :ivar effort: shape (m,), N m or N; zero before the first one; replaced, never changed
    :ivar overloaded: joints whose effort limit is below this effort, shape (m,)
    """

    def __init__(self, settings: ResolvedSettings) -> None:
        self.effort = np.zeros(len(settings.joints))
        self.overloaded = np.zeros(len(settings.joints), dtype=bool)
        results = (settings.effort_limits, self.overloaded)
        kernel = entry_point(_find_overloaded, (*results, self.effort))
        self._find_overloaded = partial(kernel, *results)

    def replace(self, effort: Array) -> None:
        """Replace the effort by a new array, if it is finite."""
        if math.isfinite(effort.sum()):
            self.effort = effort

    def find_overloaded(self) -> bool:
        """Find ``overloaded`` joints; return whether the effort exceeds a limit."""
        return bool(self._find_overloaded(self.effort))


class RampDown:
    """
    Moves the command to the holding effort at the rate limit, then ramps it down to zero.

    :ivar share: commanded share of the holding effort, from 1 to 0
    """

    def __init__(self, state_machine: StateMachine, limiter: EffortLimiter) -> None:
        self._state_machine = state_machine
        self._limiter = limiter
        self.share = 1.0

    def command(
        self, now: float, dt: float, holding: Array, settings: Settings
    ) -> tuple[Array, Event | None]:
        """Return the next command, shape (m,), overwritten by the next call; and its event."""
        state, elapsed = self._state_machine.state, self._state_machine.elapsed(now)
        self._limiter.end_blend()
        if state is State.HOLDING:
            command = self._limiter.limit(holding, now, dt)
            settled = self._limiter.settled(holding, dt)
            return command, self._event_while_holding(elapsed, settings) if settled else None
        if settings.stale_action is StaleAction.HOLD:
            if self._limiter.settled(holding, dt):
                return self._limiter.command, None
            return self._limiter.limit(holding, now, dt), None  # commands were withheld
        self.share = 0.0
        if state is State.RAMPING_DOWN:
            duration = max(settings.ramp_duration, settings.period)
            self.share = max(1.0 - elapsed / duration, 0.0)
        command = self._limiter.limit(self.share * holding, now, dt)
        at_zero = self.share == 0.0 and not command.any()
        return command, Event.RAMPED_DOWN if at_zero else None

    def _event_while_holding(self, elapsed: float, settings: Settings) -> Event | None:
        """Return the event after the holding effort is reached, or None."""
        stop = self._state_machine.stop_requested
        if settings.stale_action is StaleAction.HOLD:
            return Event.HELD_AT_STOP if stop else None
        return Event.HELD if stop or elapsed >= settings.hold_duration else None


@entry
def _find_overloaded(limits: Array, overloaded: NDArray[np.bool_], effort: Array) -> bool:
    """Write which efforts exceed their limits; return whether any does."""
    any_overloaded = False
    for i in range(effort.size):
        overloaded[i] = abs(effort[i]) > limits[i]
        any_overloaded |= overloaded[i]
    return any_overloaded
