# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""An absolute schedule: ticks at fixed times, none made up for, lateness measured."""

from __future__ import annotations

from collections.abc import Callable
import time


class PeriodicSchedule:
    """
    Wakes its thread at start + k * period, for whole numbers k.

    A tick that comes too late is not made up for by a burst: the ticks that were missed are
    skipped and counted.

    :param period: s
    :param clock: monotonic time, s
    :param sleep: sleeps for a number of seconds
    :ivar missed: how many ticks were skipped
    :ivar unprompted: ticks that came although what they are for did not: there are none
    """

    def __init__(
        self,
        period: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._period = period
        self._clock = clock
        self._sleep = sleep
        self._deadline = clock()
        self._cancelled = False
        self.missed = 0
        self.unprompted = 0

    @property
    def period(self) -> float:
        """The time between ticks, s."""
        return self._period

    def start(self) -> None:
        """Count from now on."""
        self._deadline = self._clock()

    def cancel(self) -> None:
        """Let the wait that is under way, and every later one, return at once."""
        self._cancelled = True

    def wait(self) -> float:
        """Sleep until the next tick; return how late it is, s."""
        self._deadline += self._period
        now = self._clock()
        while now < self._deadline and not self._cancelled:
            # Set back before or during the sleep: no tick waits until the old time comes again.
            self._deadline = min(self._deadline, now + self._period)
            self._sleep(self._deadline - now)
            now = self._clock()
        late = max(now - self._deadline, 0.0)
        skipped = int(late / self._period)
        self.missed += skipped
        self._deadline += skipped * self._period
        return late
