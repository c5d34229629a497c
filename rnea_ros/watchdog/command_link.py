# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The watchdog's subscription and publisher on the command topic; its own messages are marked."""

from __future__ import annotations

from typing import Any

from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from ..ros import PolledSubscription, watchdog_topic

MARK = 'effort_watchdog'
"""
Label of the dimension in a watchdog's commands; controllers ignore it.

A node receives its own messages too; rclpy gives the sender of a message only from Kilted on.
"""

RECEIVED = QoSProfile(depth=2, reliability=ReliabilityPolicy.BEST_EFFORT)
"""
Best effort, so that the monitored publisher never waits for the watchdog.

A history of 2, so that a message of the watchdog does not replace one of the publisher.
"""

SENT = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)


class CommandLink:
    """
    A subscription and a publisher on the command topic.

    The publisher exists from the start: discovery takes longer than a robot may go without zeros.

    :param node: the node that subscribes and publishes
    :param topic: name of the topic, resolved and remapped as usual
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
        return None if newest is None else newest.data.tolist()

    def send(self, command: list[float]) -> None:
        """
        Publish a marked command, and a copy for the monitored node.

        :param command: efforts, unit of the controller
        """
        size = len(command)
        self._message.layout.dim = [MultiArrayDimension(label=MARK, size=size, stride=size)]
        self._message.data = command
        self._publisher.publish(self._message)
        self._copies.publish(self._message)
