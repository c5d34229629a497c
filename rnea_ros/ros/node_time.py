# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A node's own clock in simulated time, polled instead of served by an executor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.time_source import CLOCK_TOPIC

from .polled_subscription import PolledSubscription


class PolledNodeTime(Node):
    """
    A node that reads ``/clock`` only when :meth:`set_time` is called.

    Gazebo publishes ``/clock`` at 1 kHz. On an executor each message would take 0.5 ms, during
    which no other Python thread runs. Between two calls of :meth:`set_time` the node's clock
    stands still, so timers must use :data:`MACHINE_TIME`.
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
        message = self._sim_time.take() if self._sim_time is not None else None
        if message is not None and self._set_clock is not None:
            self._set_clock(message)


MACHINE_TIME = Clock(clock_type=ClockType.STEADY_TIME)
"""For timers that must go on while simulated time stands still."""
