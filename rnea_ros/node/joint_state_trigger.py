# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Ticks triggered by joint states: one as soon as every commanded joint has a new sample."""

from __future__ import annotations

from collections.abc import Callable

from ..arrays import Indices
from ..feedforward.inputs import JointStateMonitor
from ..ros import Clock

TIMEOUT = 1.5  # without new joint states, a tick comes after this many periods
MAX_TICKS = 2.0  # greatest number of ticks per period


class JointStateTrigger:
    """
    Wakes its thread when every commanded joint has a new sample, or when samples are late.

    A simulation in lockstep waits for the command after each of its joint states. So in simulated
    time a rejected joint state triggers a tick too, and no tick waits for time that stands still.

    :param wait: sleeps until a joint state arrives; gets the longest sleep, s
    :param take: takes the joint states that have arrived; gets the time, s
    :ivar missed: always 0: ticks have no planned times
    :ivar untriggered: number of ticks without a new joint state
    """

    def __init__(
        self, states: JointStateMonitor, commanded: Indices, wait: Callable[[float], None],
        take: Callable[[float], None], period: float, clock: Clock,
    ) -> None:
        self._states, self._commanded = states, commanded
        self._wait, self._take = wait, take
        self._period, self._clock = period, clock
        self._ticked, self._cancelled = 0.0, False
        self._rejections = states.rejections
        self.missed = self.untriggered = 0

    def start(self) -> None:
        """Start now."""
        self._ticked = self._clock.now()

    def cancel(self) -> None:
        """Make the present call of :meth:`wait`, and every later one, return soon."""
        self._cancelled = True

    def wait(self) -> float:
        """Sleep until the next tick; return by how much it took longer than a period, s."""
        now = self._clock.now()
        while not self._cancelled:
            self._ticked = min(self._ticked, now)  # simulated time can be set back
            elapsed = now - self._ticked
            if elapsed >= TIMEOUT * self._period:
                self.untriggered += 1
                break
            self._take(now)
            if not self._prompted():
                self._wait(TIMEOUT * self._period - elapsed)
            elif elapsed < self._period / MAX_TICKS:
                self._clock.sleep(self._period / MAX_TICKS - elapsed)
                if self._clock.now() == now:
                    break  # simulated time stands still, perhaps until this tick's command
            else:
                break
            now = self._clock.now()
        self._states.mark_seen()
        self._rejections = self._states.rejections
        late = max(now - self._ticked - self._period, 0.0)
        self._ticked = now
        return late

    def _prompted(self) -> bool:
        """Return whether joint states trigger a tick."""
        rejected = self._states.rejections is not self._rejections  # replaced at each rejection
        return self._states.all_updated(self._commanded) or (rejected and self._clock.simulated)
