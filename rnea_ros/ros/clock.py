# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Time: the clock and the schedule of the control loop, and a node's own clock.

Only the loop's thread calls ``now`` of its clock, the time for ages and schedules; other threads
call ``latest``.
"""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any, ClassVar

from rclpy.clock import Clock as RclpyClock
from rclpy.clock import ClockType
from rclpy.node import Node
from rclpy.time_source import CLOCK_TOPIC

from .message_builders import seconds
from .rclpy_internals import DESTROYED, PolledSubscription

MAX_WAIT = 0.01  # longest sleep of the machine before simulated time is read again, s


class MachineClock:
    """Monotonic time for ages and schedules, wall time for stamps, s; a tick calls it often."""

    simulated: ClassVar[bool] = False

    def __init__(self) -> None:
        self.now = self.latest = time.monotonic  # setting the wall clock does not change it
        self.stamp = time.time
        self.sleep: Callable[[float], None] = time.sleep


class SimClock:
    """Simulated time, s; 0 before ``/clock``. ``on_reset`` is called when it runs backwards."""

    simulated: ClassVar[bool] = True

    def __init__(
        self, subscription: PolledSubscription[Any], on_reset: Callable[[float], None]
    ) -> None:
        self._subscription, self._on_reset, self._time = subscription, on_reset, 0.0

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

    stamp = latest

    def sleep(self, duration: float) -> None:
        """Sleep until simulated time moves, at most for :data:`MAX_WAIT`, not for the duration."""
        self._subscription.wait(MAX_WAIT)


Clock = MachineClock | SimClock


class PeriodicSchedule:
    """
    Wakes its thread at start + k * period, k = 1, 2, ...

    No burst follows a late tick: missed ticks are skipped.

    :ivar missed: number of skipped ticks; ``untriggered``: always 0, ticks need no joint state
    """

    def __init__(
        self, period: float, clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._period, self._clock, self._sleep = period, clock, sleep
        self._deadline, self._cancelled = clock(), False
        self.missed = self.untriggered = 0

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


class PolledNodeTime(Node):
    """
    A node that reads ``/clock`` only when :meth:`set_time` is called.

    Gazebo publishes ``/clock`` at 1 kHz. On an executor each message would take 0.5 ms of Python.
    The node's clock stands still between two calls, so timers must use :data:`MACHINE_TIME`.
    """

    _sim_time: PolledSubscription[Any] | None = None  # rclpy subscribes in Node.__init__
    _set_clock: Callable[[Any], None] | None = None

    def create_subscription(
        self, msg_type: Any, topic: str, callback: Any, *arguments: Any, **options: Any
    ) -> Any:
        """Subscribe; rclpy's own subscription of ``/clock`` stays off the executor."""
        if topic != CLOCK_TOPIC or 'callback_group' in options:
            return super().create_subscription(msg_type, topic, callback, *arguments, **options)
        self._set_clock = callback
        self._sim_time = PolledSubscription(self, msg_type, topic, *arguments, **options)
        return self._sim_time.subscription

    def destroy_subscription(self, subscription: Any) -> bool:
        """Unsubscribe; rclpy calls this for ``/clock`` when ``use_sim_time`` becomes false."""
        if self._sim_time is not None and subscription is self._sim_time.subscription:
            self._sim_time = None
        return bool(super().destroy_subscription(subscription))

    def set_time(self) -> None:
        """Set the node's clock to the newest simulated time, if it uses simulated time."""
        try:
            message = self._sim_time.take() if self._sim_time is not None else None
        except DESTROYED:  # Lyrical's rclpy does not call destroy_subscription
            self._sim_time = message = None
        if message is not None and self._set_clock is not None:
            self._set_clock(message)


MACHINE_TIME = RclpyClock(clock_type=ClockType.STEADY_TIME)
"""For timers that must go on while simulated time stands still."""
