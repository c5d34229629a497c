# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The loop's publishers: commands, and other topics while they have subscribers.

Messages are serialised once; then only their numbers change, as CDR bytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import fields
import math
from typing import Any

from geometry_msgs.msg import WrenchStamped
import numpy as np
from rclpy.duration import Duration
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ..arrays import Array
from ..feedforward import FeedforwardController
from ..feedforward.laws import Terms
from ..feedforward.settings import ResolvedSettings
from ..messages import FixedLayout, JointStateSample, WrenchSample

RELIABLE = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
ACK_TIMEOUT = 1.0  # longest wait for the delivery of the last command, s

TERMS = tuple(term.name for term in fields(Terms))
NAMES = (*TERMS, 'limited', 'sum')
TERM_TOPICS = (*(f'terms/{name}' for name in NAMES), 'reference')
TERMS_RATE = 100.0  # how often a set of terms is taken, Hz


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
        self.skip_time('stamp')

    def stamped(self, time: float) -> bytes:
        """Return the message with a stamp, s."""
        seconds = int(time)
        self.words[:2] = seconds, min(int((time - seconds) * 1e9), 999_999_999)
        return self.data


class JointMessage(StampedMessage):
    """A JointState with one field only: ``position``, rad or m, or ``effort``, N m or N."""

    def __init__(self, joints: Sequence[str], field: str = 'effort') -> None:
        zeros = array('d', bytes(8 * len(joints)))
        super().__init__(JointState(name=list(joints), **{field: zeros}))
        self._values: Array = getattr(JointStateSample.read(self), field)

    def filled(self, values: Array, stamp: float) -> bytes:
        """Return the message with values, shape (m,), and a stamp, s."""
        self._values[:] = values
        return self.stamped(stamp)


class WrenchMessage(StampedMessage):
    """A WrenchStamped in a frame, N and N m."""

    def __init__(self, frame: str) -> None:
        message = WrenchStamped()
        message.header.frame_id = frame
        super().__init__(message)
        self.frame, self._force, self._torque = WrenchSample.read(self)

    def filled(self, wrench: Array, stamp: float) -> bytes:
        """Return the message with a wrench [torque; force], shape (6,), and a stamp, s."""
        self._torque[:], self._force[:] = wrench[:3], wrench[3:]
        return self.stamped(stamp)


class Publishers:
    """
    Publishes commands; efforts, terms, reference, external wrenches only if they have subscribers.

    Only a command is in the unit of the driver; everything else is in N m or N. Publishing all
    terms takes longer than the control: terms and reference of a tick are published over several.

    :ivar subscribed: the topics that have subscribers, without that of the commands
    """

    def __init__(self, node: Any, command_topic: str, settings: ResolvedSettings) -> None:
        self._node = node
        self._scale = np.array(settings.units.command_scale)
        self._command = CommandMessage(len(settings.joints))
        self._effort = JointMessage(settings.joints)
        self._reference = JointMessage(settings.joints, 'position')
        self._terms_per_tick = math.ceil(len(TERM_TOPICS) * TERMS_RATE * settings.period)
        self._unsent_terms: list[tuple[str, Array]] = []
        self._terms_stamp, self._next_terms = 0.0, -math.inf
        self.command_publisher = node.create_publisher(Float64MultiArray, command_topic, RELIABLE)
        self._link = settings.external_effort.link
        self._wrenches = {'external_wrench': WrenchMessage(self._link)}
        self._wrench_topics = {f'wrench/{x.name}': x.name for x in settings.wrench_inputs}
        kinds = dict.fromkeys(('effort', *TERM_TOPICS, 'external_effort'), JointState)
        wrenches = (*self._wrench_topics, *(['external_wrench'] if self._link else []))
        self._publishers = {
            topic: node.create_publisher(kind, f'~/{topic}', RELIABLE)
            for topic, kind in (kinds | dict.fromkeys(wrenches, WrenchStamped)).items()
        }
        self.subscribed: tuple[str, ...] = ()

    def close(self) -> None:
        """Destroy the publishers after reliable subscribers have received the last command."""
        self.command_publisher.wait_for_all_acked(Duration(seconds=ACK_TIMEOUT))
        for publisher in (*self._publishers.values(), self.command_publisher):
            self._node.destroy_publisher(publisher)

    def poll_subscribers(self) -> None:
        """Find out which topics have subscribers; too slow for the loop."""
        self.subscribed = tuple([
            topic
            for topic, publisher in self._publishers.items()
            if publisher.get_subscription_count() > 0
        ])

    @property
    def external_effort_subscribed(self) -> bool:
        """Whether external efforts or the external wrench have subscribers."""
        return any(topic.startswith('external_') for topic in self.subscribed)

    def send_command(self, command: Array) -> None:
        """Publish a command, shape (m,), N m or N."""
        np.multiply(command, self._scale, out=self._command.view)
        self.command_publisher.publish(self._command.data)

    def send_extras(
        self, command: Array, controller: FeedforwardController, now: float, stamp: float
    ) -> None:
        """Publish on the other topics that have subscribers."""
        subscribed = self.subscribed
        if 'effort' in subscribed:
            self._publishers['effort'].publish(self._effort.filled(command, stamp))
        self._send_terms(command, controller, subscribed, now, stamp)
        for topic, sensor in self._wrench_topics.items():
            if topic in subscribed:
                measured = controller.wrenches.external_wrench(sensor, now)
                if measured is not None:  # the readings are current
                    self._send_wrench(topic, *measured, stamp)
        external = controller.external_effort
        if external is None:
            return
        if 'external_effort' in subscribed:
            data = self._effort.filled(external.effort, stamp)
            self._publishers['external_effort'].publish(data)
        if 'external_wrench' in subscribed:
            wrench = external.wrench_at_link()
            if wrench is not None:
                self._send_wrench('external_wrench', self._link, wrench, stamp)

    def _send_terms(
        self, command: Array, controller: FeedforwardController, subscribed: Sequence[str],
        now: float, stamp: float,
    ) -> None:
        """Take terms and reference if they are due; publish this tick's share of the last set."""
        due = not self._next_terms - 1.0 / TERMS_RATE <= now < self._next_terms
        topics = [topic for topic in TERM_TOPICS if topic in subscribed]
        if topics and due and not self._unsent_terms:
            values = {'terms/sum': command.copy()}
            if {*topics} - {'terms/sum', 'reference'}:
                taken = controller.terms()
                terms = {f'terms/{name}': getattr(taken, name) for name in TERMS}
                # The change by ramps and limits.
                values |= {**terms, 'terms/limited': command - sum(terms.values())}
            reference = controller.motions.reference_at(now) if 'reference' in topics else None
            if reference is not None:
                values['reference'] = reference.position.copy()
            self._unsent_terms = [(x, values[x]) for x in reversed(topics) if x in values]
            self._terms_stamp, self._next_terms = stamp, now + 1.0 / TERMS_RATE
        for _ in range(min(self._terms_per_tick, len(self._unsent_terms))):
            topic, term = self._unsent_terms.pop()
            message = self._reference if topic == 'reference' else self._effort
            self._publishers[topic].publish(message.filled(term, self._terms_stamp))

    def _send_wrench(self, topic: str, frame: str, wrench: Array, stamp: float) -> None:
        message = self._wrenches.get(topic)
        if message is None or message.frame != frame:
            message = self._wrenches[topic] = WrenchMessage(frame)
        self._publishers[topic].publish(message.filled(wrench, stamp))
