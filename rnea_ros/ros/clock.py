# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The loop's time: the machine's monotonic clock, or simulated time from ``/clock``."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any, ClassVar, Protocol

from .polled_subscription import PolledSubscription

POLL = 0.01
"""How long the machine sleeps at most between two looks at simulated time, s."""


def seconds(stamp: Any) -> float:
    """Return a builtin_interfaces Time or Duration in seconds."""
    return float(stamp.sec + 1e-9 * stamp.nanosec)


class Clock(Protocol):
    """
    What the loop needs of time.

    :cvar simulated: whether it is not the machine's
    """

    simulated: ClassVar[bool]

    def now(self) -> float:
        """Return the time that ages and schedules are counted in, s; for the loop's thread."""

    def seen(self) -> float:
        """Return that time as the loop has seen it last, s; for every other thread."""

    def stamp(self) -> float:
        """Return the time that messages are stamped with, s."""

    def sleep(self, duration: float) -> None:
        """Sleep for no longer than a duration, s."""


class MachineClock:
    """Monotonic time for the schedule, wall time for stamps."""

    simulated: ClassVar[bool] = False

    def now(self) -> float:
        """Return monotonic time, s; setting the wall clock does not change it."""
        return time.monotonic()

    def seen(self) -> float:
        """Return monotonic time, s."""
        return time.monotonic()

    def stamp(self) -> float:
        """Return wall time, s."""
        return time.time()

    def sleep(self, duration: float) -> None:
        """Sleep for a duration, s."""
        time.sleep(duration)


class SimClock:
    """
    Simulated time, 0 until the first message comes.

    :param subscription: to ``/clock``
    :param set_back: called in the loop's thread, with the new time, when time runs backwards
    """

    simulated: ClassVar[bool] = True

    def __init__(
        self, subscription: PolledSubscription[Any], set_back: Callable[[float], None]
    ) -> None:
        self._subscription = subscription
        self._set_back = set_back
        self._time = 0.0

    def now(self) -> float:
        """Return the newest simulated time, s."""
        message = self._subscription.take()
        if message is not None:
            newest = seconds(message.clock)
            if newest < self._time:
                self._set_back(newest)
            self._time = newest
        return self._time

    def seen(self) -> float:
        """Return the simulated time that the loop has seen last, s."""
        return self._time

    def stamp(self) -> float:
        """Return simulated time, s."""
        return self._time

    def sleep(self, duration: float) -> None:
        """Sleep until simulated time moves, or for a little of the machine's time."""
        del duration
        self._subscription.wait(POLL)
