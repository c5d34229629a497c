# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A node's own clock in simulated time, without an executor that is kept busy by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.time_source import CLOCK_TOPIC

from .polled_subscription import PolledSubscription


class PolledNodeTime(Node):
    """
    A node that looks at ``/clock`` when it needs the time.

    Gazebo sends a thousand of these messages a second. Each would keep the executor busy for half
    a millisecond, and every other thread out of the interpreter meanwhile. The node's clock stands
    still from one call of :meth:`update_time` to the next, so timers belong on
    :data:`MACHINE_TIME`.
    """

    _sim_time: PolledSubscription[Any] | None = None  # rclpy subscribes while it makes the node
    _set_clock: Callable[[Any], None] | None = None

    def create_subscription(
        self, msg_type: Any, topic: str, callback: Any, *arguments: Any, **options: Any
    ) -> Any:
        """Subscribe; but what rclpy subscribes to for simulated time stays off the executor."""
        if topic != CLOCK_TOPIC or 'callback_group' in options:
            return super().create_subscription(msg_type, topic, callback, *arguments, **options)
        self._set_clock = callback
        self._sim_time = PolledSubscription(self, msg_type, topic, *arguments, **options)
        return self._sim_time.subscription

    def destroy_subscription(self, subscription: Any) -> bool:
        """Unsubscribe; where ``use_sim_time`` is set to false, rclpy does so from its own."""
        if self._sim_time is not None and subscription is self._sim_time.subscription:
            self._sim_time = None
        return bool(super().destroy_subscription(subscription))

    def update_time(self) -> None:
        """Set the node's clock to the newest simulated time, where it shows that."""
        message = self._sim_time.take() if self._sim_time is not None else None
        if message is not None and self._set_clock is not None:
            self._set_clock(message)


MACHINE_TIME = Clock(clock_type=ClockType.STEADY_TIME)
"""For timers that go on while simulated time stands still."""
