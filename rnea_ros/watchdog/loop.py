# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The watchdog's thread, and its subscription and publisher on the command topic."""

from __future__ import annotations

import time
from typing import Any

from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from ..ros import LoopThread, PeriodicSchedule, PolledSubscription, watchdog_topic
from .silence import ACTING, MAX_JOINTS, SilenceMonitor

# Label of the dimension in a watchdog's commands; controllers ignore it. A node receives its own
# messages too; rclpy gives the sender of a message only from Kilted on.
MARK = 'effort_watchdog'

# Best effort, so that the monitored publisher never waits for the watchdog. A history of 2, so
# that a message of the watchdog does not replace one of the publisher.
RECEIVED = QoSProfile(depth=2, reliability=ReliabilityPolicy.BEST_EFFORT)

SENT = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)


class CommandLink:
    """
    A subscription and a publisher on the command topic.

    The publisher exists from the start: discovery takes longer than a robot may go without zeros.
    """

    def __init__(self, node: Any, topic: str) -> None:
        self._commands: PolledSubscription[Float64MultiArray] = PolledSubscription(
            node, Float64MultiArray, topic, RECEIVED
        )
        self._publisher = node.create_publisher(Float64MultiArray, topic, SENT)
        self._copies = node.create_publisher(Float64MultiArray, watchdog_topic(topic), SENT)
        self._message = Float64MultiArray()

    def take(self) -> list[float] | None:
        """Return the newest untaken command of another node; None if there is none."""
        newest = None
        for message in self._commands.take_all():
            if not any(dimension.label == MARK for dimension in message.layout.dim):
                newest = message
        return None if newest is None else newest.data[: MAX_JOINTS + 1].tolist()

    def send(self, command: list[float]) -> None:
        """Publish a marked command, and a copy for the monitored node."""
        size = len(command)
        self._message.layout.dim = [MultiArrayDimension(label=MARK, size=size, stride=size)]
        self._message.data = command
        self._publisher.publish(self._message)
        self._copies.publish(self._message)


# Time between the last command and the end of the publisher, s. With the publisher, a busy
# subscriber loses the messages that it has not taken yet.
LINGER = 0.5


class WatchLoop(LoopThread):
    """Takes commands, and sends its own after a silence; ticks are a period apart, s."""

    def __init__(self, monitor: SilenceMonitor, link: CommandLink, period: float) -> None:
        super().__init__('watch_loop')
        self._monitor = monitor
        self._link = link
        self._schedule = PeriodicSchedule(period)

    def stop(self) -> None:
        """End the thread; a ramp in progress ends in zeros at once."""
        self._quit = True
        self._schedule.cancel()
        super().stop()

    def _loop(self) -> None:
        self._schedule.start()
        while not self._quit:
            self._schedule.wait()
            now = time.monotonic()
            received = self._link.take()
            if received is not None:
                self._monitor.receive(received, now)
            command = self._monitor.command_at(now)
            if command is not None:
                self._link.send(command)
        if self._monitor.state in ACTING:
            self._link.send(self._monitor.zeros())
            time.sleep(LINGER)
