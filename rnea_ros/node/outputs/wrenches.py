# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""External wrenches of force-torque sensors and external efforts, while they have subscribers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState

from ...feedforward.inputs.wrench import WrenchInputs
from ...feedforward.observers import ExternalEffortMonitor
from .messages import NEWEST, EffortMessage, WrenchMessage


class WrenchPublishers:
    """
    Publishes external wrenches on ``~/wrench/<sensor>``, one message per tick.

    :param node: the node
    :param sensors: names of the sensors
    """

    def __init__(self, node: Any, sensors: Iterable[str]) -> None:
        self._node = node
        self._publishers = {
            name: node.create_publisher(WrenchStamped, f'~/wrench/{name}', NEWEST)
            for name in sensors
        }
        self._messages: dict[str, WrenchMessage] = {}
        self._subscribed: tuple[str, ...] = ()

    def close(self) -> None:
        """Destroy the publishers."""
        for publisher in self._publishers.values():
            self._node.destroy_publisher(publisher)

    def poll_subscribers(self) -> None:
        """Find out which topics have subscribers; too slow for the loop."""
        self._subscribed = tuple([
            name
            for name, publisher in self._publishers.items()
            if publisher.get_subscription_count() > 0
        ])

    def send(self, wrenches: WrenchInputs, now: float, stamp: float) -> None:
        """
        Publish the wrenches of this tick; none for a sensor without current readings.

        :param wrenches: the force-torque sensors
        :param now: the loop's time, s
        :param stamp: stamp of the messages, s
        """
        for name in self._subscribed:
            measured = wrenches.external_wrench(name, now)
            if measured is None:
                continue
            frame, wrench = measured
            message = self._messages.get(name)
            if message is None or message.frame != frame:
                message = self._messages[name] = WrenchMessage(frame)
            message.torque[:], message.force[:] = wrench[:3], wrench[3:]
            message.stamp(stamp)
            self._publishers[name].publish(message.data)


class ExternalEffortPublishers:
    """
    Publishes ``~/external_effort``, and ``~/external_wrench`` if a link is given.

    :param node: the node
    :param joints: the commanded joints, m of them
    :param link: link of the wrench; empty for no wrench
    :ivar subscribed: whether a topic has subscribers
    """

    def __init__(self, node: Any, joints: tuple[str, ...], link: str) -> None:
        self._node = node
        self._effort = EffortMessage(joints)
        self._wrench = WrenchMessage(link)
        self._effort_publisher = node.create_publisher(JointState, '~/external_effort', NEWEST)
        self._wrench_publisher = None
        if link:
            self._wrench_publisher = node.create_publisher(
                WrenchStamped, '~/external_wrench', NEWEST
            )
        self._effort_subscribed = self._wrench_subscribed = self.subscribed = False

    def close(self) -> None:
        """Destroy the publishers."""
        for publisher in (self._effort_publisher, self._wrench_publisher):
            if publisher is not None:
                self._node.destroy_publisher(publisher)

    def poll_subscribers(self) -> None:
        """Find out which topics have subscribers; too slow for the loop."""
        self._effort_subscribed = self._effort_publisher.get_subscription_count() > 0
        wrench = self._wrench_publisher
        self._wrench_subscribed = wrench is not None and wrench.get_subscription_count() > 0
        self.subscribed = self._effort_subscribed or self._wrench_subscribed

    def send(self, external: ExternalEffortMonitor | None, stamp: float) -> None:
        """
        Publish to the topics that have subscribers.

        :param external: the external efforts, None while there are none
        :param stamp: stamp of the messages, s
        """
        if external is None or not self.subscribed:
            return
        if self._effort_subscribed:
            self._effort.view[:] = external.effort
            self._effort.stamp(stamp)
            self._effort_publisher.publish(self._effort.data)
        if self._wrench_subscribed and self._wrench_publisher is not None:
            wrench = external.wrench_at_link()
            if wrench is not None:
                self._wrench.torque[:], self._wrench.force[:] = wrench[:3], wrench[3:]
                self._wrench.stamp(stamp)
                self._wrench_publisher.publish(self._wrench.data)
