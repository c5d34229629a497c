# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What the node sends: commands, and, while somebody listens, the same with names and in parts."""

from __future__ import annotations

from typing import Any

from rclpy.duration import Duration
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ...arrays import Array
from .messages import CommandMessage, EffortMessage
from .terms import NEWEST, TermPublishers

LAST_COMMAND = 1.0
"""How long the last command may take to arrive before its publisher is destroyed, s."""


class Publishers:
    """
    What the loop sends, message and publisher side by side.

    :param node: the node
    :param command_topic: where the controller listens
    :param joints: the commanded joints
    :param period: of the control, s
    """

    def __init__(
        self,
        node: Any,
        command_topic: str,
        joints: tuple[str, ...],
        period: float,
    ) -> None:
        self._node = node
        self._command = CommandMessage(len(joints))
        self._named = EffortMessage(joints)
        self.command_publisher = node.create_publisher(Float64MultiArray, command_topic, NEWEST)
        self._named_publisher = node.create_publisher(JointState, '~/effort', NEWEST)
        self.terms = TermPublishers(node, joints, period)
        self.named_wanted = False

    def close(self) -> None:
        """Destroy the publishers, once the last command has arrived at its reliable listeners."""
        self.command_publisher.wait_for_all_acked(Duration(seconds=LAST_COMMAND))
        self.terms.close()
        for publisher in (self.command_publisher, self._named_publisher):
            self._node.destroy_publisher(publisher)

    def poll_subscribers(self) -> None:
        """Note which of the extra topics somebody listens to; costs too much for the loop."""
        self.named_wanted = self._named_publisher.get_subscription_count() > 0
        self.terms.poll_subscribers()

    def send_command(self, command: Array) -> None:
        """
        Publish a command.

        :param command: efforts, shape (m,), N m or N
        """
        self._command.view[:] = command
        self.command_publisher.publish(self._command.data)

    def send_named(self, stamp: float) -> None:
        """Publish the command with names."""
        self._named.view[:] = self._command.view
        self._named.stamp(stamp)
        self._named_publisher.publish(self._named.data)
