# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Ticks that joint states set off: as soon as every commanded joint has a new sample."""

from __future__ import annotations

from collections.abc import Callable
import enum
from typing import TYPE_CHECKING

from ...arrays import Indices
from ...feedforward.inputs import JointStateMonitor

if TYPE_CHECKING:
    from ...ros import Clock

PATIENCE = 1.5
"""After so many periods without new joint states a tick comes all the same."""

MOST_TICKS = 2.0
"""Joint states set off no more ticks than so many a period."""


class Trigger(enum.Enum):
    """What sets a tick off."""

    TIMER = 'timer'                # the time, at the rate
    JOINT_STATES = 'joint_states'  # new states of the commanded joints; the time if they are late


class JointStateTrigger:
    """
    Wakes its thread when joint states are complete, or when they are late.

    A simulation in lockstep goes on only after the command that answers a state. So in simulated
    time one that is refused sets off a tick too, and none waits for time that stands still.

    :param states: the measured joint state
    :param commanded: numbers of the joints whose samples set a tick off
    :param wait: sleeps until joint states come, or for a time, s
    :param take: takes those that came until a time, s; ticks need not take them again
    :param period: at which they are expected, s
    :param clock: the time of the loop
    :ivar missed: ticks that were skipped: none is, they are not planned
    :ivar unprompted: ticks that came because joint states did not
    """

    def __init__(
        self,
        states: JointStateMonitor,
        commanded: Indices,
        wait: Callable[[float], None],
        take: Callable[[float], None],
        period: float,
        clock: Clock,
    ) -> None:
        self._states = states
        self._commanded = commanded
        self._wait = wait
        self._take = take
        self._period = period
        self._clock = clock
        self._ticked = 0.0
        self._cancelled = False
        self._refusals = states.rejections
        self.missed = 0
        self.unprompted = 0

    def start(self) -> None:
        """Count from now on."""
        self._ticked = self._clock.now()

    def cancel(self) -> None:
        """Let the wait that is under way, and every later one, return soon."""
        self._cancelled = True

    def wait(self) -> float:
        """Sleep until the next tick; return how much longer than a period that took, s."""
        now = self._clock.now()
        while not self._cancelled:
            self._ticked = min(self._ticked, now)  # simulated time can be set back
            elapsed = now - self._ticked
            if elapsed >= PATIENCE * self._period:
                self.unprompted += 1
                break
            self._take(now)
            if not self._prompted():
                self._wait(PATIENCE * self._period - elapsed)
            elif elapsed < self._period / MOST_TICKS:
                self._clock.sleep(self._period / MOST_TICKS - elapsed)
                if self._clock.now() == now:
                    break  # simulated time stands still, maybe until this tick has answered
            else:
                break
            now = self._clock.now()
        self._states.mark_seen()
        self._refusals = self._states.rejections
        late = max(now - self._ticked - self._period, 0.0)
        self._ticked = now
        return late

    def _prompted(self) -> bool:
        """Return whether joint states call for a tick."""
        refused = self._states.rejections is not self._refusals  # another one at each refusal
        return self._states.all_updated(self._commanded) or (refused and self._clock.simulated)
