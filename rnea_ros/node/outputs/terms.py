# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The parts of the command, each on a topic of its own, while somebody listens.

To send them all takes longer than the control itself: they are put down together, and sent a few
a tick.
"""

from __future__ import annotations

from dataclasses import fields
import math
from typing import Any

from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

from ...arrays import Array
from ...feedforward.law import Terms
from .messages import EffortMessage

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)

TERMS = tuple(part.name for part in fields(Terms))
NAMES = (*TERMS, 'limited')

RATE = 100.0
"""How often all are sent, Hz."""


class TermPublishers:
    """
    Publishes the terms that somebody listens to.

    :param node: the node
    :param joints: the commanded joints
    :param period: of the control, s
    :ivar wanted: whether there are any
    """

    def __init__(self, node: Any, joints: tuple[str, ...], period: float) -> None:
        self._node = node
        self._message = EffortMessage(joints)
        self._publishers = {
            name: node.create_publisher(JointState, f'~/terms/{name}', NEWEST) for name in NAMES
        }
        self._a_tick = math.ceil(len(NAMES) * RATE * period)
        self._listened: tuple[str, ...] = ()
        self._unsent: list[tuple[str, Array]] = []
        self._next = -math.inf

    @property
    def wanted(self) -> bool:
        """Whether somebody listens to any."""
        return bool(self._listened)

    def close(self) -> None:
        """Take the publishers down."""
        for publisher in self._publishers.values():
            self._node.destroy_publisher(publisher)

    def poll_subscribers(self) -> None:
        """Note which of them somebody listens to; costs too much for the loop."""
        self._listened = tuple([
            name
            for name, publisher in self._publishers.items()
            if publisher.get_subscription_count() > 0
        ])

    def due(self, now: float) -> bool:
        """
        Return whether new ones are to be put down: the last are sent, and it is time.

        :param now: the loop's time, s
        """
        return not self._unsent and not self._next - 1.0 / RATE <= now < self._next

    def put_down(self, terms: Terms, command: Array, now: float, stamp: float) -> None:
        """
        Take the terms of a command; what limits and blending changed is ``limited``.

        :param terms: its parts, arrays of their own
        :param command: the command, shape (m,), N m or N
        :param now: the loop's time, s
        :param stamp: that of all of them, s
        """
        parts = {name: getattr(terms, name) for name in TERMS}
        parts['limited'] = command - sum(parts.values())
        self._unsent = [(name, parts[name]) for name in reversed(self._listened)]
        self._message.stamp(stamp)
        self._next = now + 1.0 / RATE

    def send_some(self) -> None:
        """Send this tick's share of what was put down."""
        for _ in range(min(self._a_tick, len(self._unsent))):
            name, values = self._unsent.pop()
            self._message.view[:] = values
            self._publishers[name].publish(self._message.data)
