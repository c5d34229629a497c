# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The loop's publishers: commands; for subscribers their terms and external wrenches too."""

from __future__ import annotations

from typing import Any

import numpy as np
from rclpy.duration import Duration
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ...arrays import Array
from ...feedforward import FeedforwardController
from ...feedforward.settings import ResolvedSettings
from .messages import NEWEST, CommandMessage, EffortMessage, OptionalPublishers
from .terms import TermPublishers
from .wrenches import ExternalEffortPublishers, WrenchPublishers

ACK_TIMEOUT = 1.0  # longest wait for the delivery of the last command, s


class Publishers:
    """
    Publishes commands, and the other topics of the loop while they have subscribers.

    Only here a command is in the unit of the driver; everything else is in N m or N.
    """

    def __init__(self, node: Any, command_topic: str, settings: ResolvedSettings) -> None:
        joints, given = settings.joints, settings
        self._node = node
        self._command_scale = np.array(settings.units.command_scale)
        self._command = CommandMessage(len(joints))
        self._effort = EffortMessage(joints)
        self.command_publisher = node.create_publisher(Float64MultiArray, command_topic, NEWEST)
        self._efforts = OptionalPublishers(node, {'effort': (JointState, '~/effort')})
        self._terms = TermPublishers(node, joints, given.period)
        self._wrenches = WrenchPublishers(node, [sensor.name for sensor in given.wrench_inputs])
        self.external_effort = ExternalEffortPublishers(
            node, joints, given.external_effort.link
        )
        self._optional = (self._efforts, self._terms, self._wrenches, self.external_effort)

    def close(self) -> None:
        """Destroy the publishers after reliable subscribers have received the last command."""
        self.command_publisher.wait_for_all_acked(Duration(seconds=ACK_TIMEOUT))
        for publishers in self._optional:
            publishers.close()
        self._node.destroy_publisher(self.command_publisher)

    def poll_subscribers(self) -> None:
        """Find out which of the extra topics have subscribers; too slow for the loop."""
        for publishers in self._optional:
            publishers.poll_subscribers()

    def send_command(self, command: Array) -> None:
        """Publish a command, shape (m,), N m or N."""
        np.multiply(command, self._command_scale, out=self._command.view)
        self.command_publisher.publish(self._command.data)

    def send_extras(
        self, command: Array, controller: FeedforwardController, now: float, stamp: float
    ) -> None:
        """Publish on the extra topics that have subscribers; the command was just sent."""
        if self._efforts.subscribed:
            self._effort.fill(command, stamp)
            self._efforts.publish('effort', self._effort)
        self._terms.send(command, controller.terms, now, stamp)
        self._wrenches.send(controller.wrenches, now, stamp)
        self.external_effort.send(controller.external_effort, stamp)
