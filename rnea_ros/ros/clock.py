# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Clock of the control loop: the machine's, or simulated time from ``/clock``.

Only the loop's thread calls ``now``, the time for ages and schedules; other threads call
``latest``.
"""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any, ClassVar

from .polled_subscription import PolledSubscription

MAX_WAIT = 0.01
"""Longest sleep of the machine before simulated time is read again, s."""


def seconds(stamp: Any) -> float:
    """Return a builtin_interfaces Time or Duration in seconds."""
    return float(stamp.sec + 1e-9 * stamp.nanosec)


class MachineClock:
    """
    Monotonic time for ages and schedules, wall time for stamps.

    :cvar simulated: whether time comes from ``/clock``
    """

    simulated: ClassVar[bool] = False

    def now(self) -> float:
        """Return monotonic time, s; setting the wall clock does not change it."""
        return time.monotonic()

    def latest(self) -> float:
        """Return monotonic time, s."""
        return time.monotonic()

    def stamp(self) -> float:
        """Return wall time, s."""
        return time.time()

    def sleep(self, duration: float) -> None:
        """
        Sleep.

        :param duration: s
        """
        time.sleep(duration)


class SimClock:
    """
    Simulated time; 0 before the first message.

    :param subscription: of ``/clock``
    :param on_reset: called in the loop's thread, with the new time in s, when time runs backwards
    """

    simulated: ClassVar[bool] = True

    def __init__(
        self, subscription: PolledSubscription[Any], on_reset: Callable[[float], None]
    ) -> None:
        self._subscription = subscription
        self._on_reset = on_reset
        self._time = 0.0

    def now(self) -> float:
        """Return the newest simulated time, s."""
        message = self._subscription.take()
        if message is not None:
            newest = seconds(message.clock)
            if newest < self._time:
                self._on_reset(newest)
            self._time = newest
        return self._time

    def latest(self) -> float:
        """Return the simulated time that :meth:`now` returned last, s."""
        return self._time

    def stamp(self) -> float:
        """Return simulated time, s."""
        return self._time

    def sleep(self, duration: float) -> None:
        """
        Sleep until simulated time moves, at most for :data:`MAX_WAIT` of the machine's time.

        :param duration: not used
        """
        del duration
        self._subscription.wait(MAX_WAIT)


Clock = MachineClock | SimClock
