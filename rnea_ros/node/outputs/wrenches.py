# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The external wrench of each force-torque sensor, while its topic has subscribers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from geometry_msgs.msg import WrenchStamped

from ...feedforward.inputs.wrench import WrenchInputs
from .messages import NEWEST, WrenchMessage


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
