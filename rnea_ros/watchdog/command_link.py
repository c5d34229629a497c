# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The command topic: what others send is heard, what the watchdog sends is marked."""

from __future__ import annotations

from typing import Any

from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from ..ros import PolledSubscription

MARK = 'effort_watchdog'
"""
Label of the dimension in a watchdog's commands; controllers do not look at it.

rclpy cannot leave out a node's own messages, and tells who sent one from Kilted on only.
"""

HEARD = QoSProfile(depth=2, reliability=ReliabilityPolicy.BEST_EFFORT)
"""
Best effort: the publisher under watch never waits for the watchdog.

Two, so that a message of its own does not push out the publisher's.
"""

SENT = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)


class CommandLink:
    """
    A subscription and a publisher on the command topic.

    The publisher is there from the start: to be discovered takes longer than the robot can wait.

    :param node: subscribes and publishes
    :param topic: its name, resolved and remapped as usual
    """

    def __init__(self, node: Any, topic: str) -> None:
        self._commands: PolledSubscription[Float64MultiArray] = PolledSubscription(
            node, Float64MultiArray, topic, HEARD
        )
        self._publisher = node.create_publisher(Float64MultiArray, topic, SENT)
        self._message = Float64MultiArray()

    def take(self) -> list[float] | None:
        """Return the newest command of somebody else's that was not taken yet, or None."""
        newest = None
        for message in self._commands.take_all():
            if not any(dimension.label == MARK for dimension in message.layout.dim):
                newest = message
        return None if newest is None else newest.data.tolist()

    def send(self, command: list[float]) -> None:
        """
        Publish a command, marked.

        :param command: efforts, N m or N
        """
        size = len(command)
        self._message.layout.dim = [MultiArrayDimension(label=MARK, size=size, stride=size)]
        self._message.data = command
        self._publisher.publish(self._message)
