# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A schedule with absolute times: missed ticks are skipped, lateness is measured."""

from __future__ import annotations

from collections.abc import Callable
import time


class PeriodicSchedule:
    """
    Wakes its thread at start + k * period, k = 1, 2, ...

    A late tick is followed by no burst: missed ticks are skipped and counted.

    :param period: s
    :param clock: returns the time, s
    :param sleep: sleeps for a duration, s
    :ivar missed: number of skipped ticks
    :ivar untriggered: number of ticks without a new joint state: always 0, ticks need none
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
        self.untriggered = 0

    def start(self) -> None:
        """Start the schedule now."""
        self._deadline = self._clock()

    def cancel(self) -> None:
        """Make the present call of :meth:`wait`, and every later one, return at once."""
        self._cancelled = True

    def wait(self) -> float:
        """Sleep until the next tick; return its lateness, s."""
        self._deadline += self._period
        now = self._clock()
        while now < self._deadline and not self._cancelled:
            # If simulated time is reset, do not wait for the old deadline.
            self._deadline = min(self._deadline, now + self._period)
            self._sleep(self._deadline - now)
            now = self._clock()
        late = max(now - self._deadline, 0.0)
        skipped = int(late / self._period)
        self.missed += skipped
        self._deadline += skipped * self._period
        return late
