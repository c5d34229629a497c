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
from .settings import ResolvedSettings, StaleAction
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
        results = (np.array(settings.effort_limits), self.overloaded)
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

    If the start ramp had not ended, it commands the share of the holding effort that was reached.

    :ivar target: effort towards which the last command moved, shape (m,), N m or N
    """

    def __init__(self, state_machine: StateMachine, limiter: EffortLimiter) -> None:
        self._state_machine = state_machine
        self._limiter = limiter
        self.target = limiter.command

    def command(
        self, now: float, dt: float, holding: Array, settings: ResolvedSettings
    ) -> tuple[Array, Event | None]:
        """Return the next command, shape (m,), overwritten by the next call; and its event."""
        state, elapsed = self._state_machine.state, self._state_machine.elapsed(now)
        share, given = 1.0, settings
        if state is not State.HOLDING and given.stale_action is not StaleAction.HOLD:
            self._limiter.end_blend()
            duration = max(given.ramp_duration, given.period)
            left = 1.0 - elapsed / duration if state is State.RAMPING_DOWN else 0.0
            share = max(left, 0.0)
        self.target = share * self._limiter.ramped(holding)
        command = self._limiter.limit(self.target, now, dt)
        if state is State.HOLDING:
            settled = self._limiter.settled(self.target, dt)
            return command, self._event_while_holding(elapsed, settings, settled=settled)
        at_zero = share == 0.0 and not command.any()
        return command, Event.RAMPED_DOWN if at_zero else None

    def _event_while_holding(
        self, elapsed: float, settings: ResolvedSettings, *, settled: bool
    ) -> Event | None:
        """Return the event once the holding effort is reached, or time enough has passed."""
        stop, given = self._state_machine.stop_requested, settings
        hold = given.stale_action is StaleAction.HOLD
        end = 0.0 if stop else given.hold_duration
        end += 0.0 if settled else settings.greatest_swing
        if (hold and not stop) or elapsed < end:
            return None
        return Event.HELD_AT_STOP if hold else Event.HELD


@entry
def _find_overloaded(limits: Array, overloaded: NDArray[np.bool_], effort: Array) -> bool:
    """Write which efforts exceed their limits; return whether any does."""
    any_overloaded = False
    for i in range(effort.size):
        overloaded[i] = abs(effort[i]) > limits[i]
        any_overloaded |= overloaded[i]
    return any_overloaded
