# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Outgoing messages as CDR bytes: serialised once, then only their numbers change.

Most topics are published only while they have subscribers: :class:`OptionalPublishers`.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from geometry_msgs.msg import WrenchStamped
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ...arrays import Array
from ...messages import FixedLayout, JointStateSample, WrenchSample

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)


class CommandMessage(FixedLayout):
    """A Float64MultiArray of m commands; ``view``: those inside, shape (m,), driver's unit."""

    def __init__(self, m: int) -> None:
        super().__init__(serialize_message(Float64MultiArray(data=array('d', bytes(8 * m)))))
        for what in ('number of dimensions', 'offset'):
            self.integer(what)
        self.view = self.numbers(self.unsigned('number of commands'), 'commands')


class StampedMessage(FixedLayout):
    """A ROS message with a header."""

    def __init__(self, message: Any) -> None:
        super().__init__(serialize_message(message))
        self.skip_stamp()

    def set_stamp(self, time: float) -> None:
        """Set the stamp of the header, s."""
        seconds = int(time)
        nanoseconds = min(int((time - seconds) * 1e9), 999_999_999)
        self.words[:2] = seconds, nanoseconds


class EffortMessage(StampedMessage):
    """A JointState with efforts only; ``view``: those inside, shape (m,), N m or N."""

    def __init__(self, joints: Sequence[str]) -> None:
        super().__init__(JointState(name=list(joints), effort=array('d', bytes(8 * len(joints)))))
        self.view = JointStateSample.read(self).effort

    def fill(self, effort: Array, stamp: float) -> None:
        """Set the efforts, shape (m,), N m or N, and the stamp, s."""
        self.view[:] = effort
        self.set_stamp(stamp)


class WrenchMessage(StampedMessage):
    """A WrenchStamped; its force and torque are views of the message, shape (3,), N and N m."""

    def __init__(self, frame: str) -> None:
        message = WrenchStamped()
        message.header.frame_id = frame
        super().__init__(message)
        self.frame, self.force, self.torque = WrenchSample.read(self)

    def fill(self, wrench: Array, stamp: float) -> None:
        """Set the wrench [torque; force], shape (6,), N m and N, and the stamp, s."""
        self.torque[:], self.force[:] = wrench[:3], wrench[3:]
        self.set_stamp(stamp)


class OptionalPublishers:
    """
    Publishers of topics that are published only while they have subscribers.

    :param topics: class of the messages and topic, by name
    :ivar subscribed: names of the topics that have subscribers
    """

    def __init__(self, node: Any, topics: Mapping[str, tuple[Any, str]]) -> None:
        self._node = node
        self._publishers = {
            name: node.create_publisher(kind, topic, NEWEST)
            for name, (kind, topic) in topics.items()
        }
        self.subscribed: tuple[str, ...] = ()

    def close(self) -> None:
        """Destroy the publishers."""
        for publisher in self._publishers.values():
            self._node.destroy_publisher(publisher)

    def poll_subscribers(self) -> None:
        """Find out which topics have subscribers; too slow for the loop."""
        self.subscribed = tuple([
            name
            for name, publisher in self._publishers.items()
            if publisher.get_subscription_count() > 0
        ])

    def publish(self, name: str, message: StampedMessage) -> None:
        """Publish a message on one of the topics."""
        self._publishers[name].publish(message.data)
