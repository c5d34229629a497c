# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Collect joint states and the robot description from live topics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
import time
from typing import Any

from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from ...recordings import Sample
from .node import SilentTopicError, live_node

LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
SENSOR = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)

TIMEOUT = 10.0
"""Longest wait for the first message on a topic, s."""

INTERVAL = 0.01
"""Least interval of the collected samples, s; the comparison is low-pass filtered anyway."""

CHECK_INTERVAL = 1.0
"""Interval of the checks whether enough samples were collected, s."""


class LiveRobot:
    """
    The topics of a robot.

    :param node: node of the subscriptions
    :param executor: executor of the node
    """

    def __init__(self, node: Any, executor: SingleThreadedExecutor) -> None:
        self._node = node
        self._executor = executor

    def description(self) -> str:
        """
        Return the URDF from robot_description.

        :raises SilentTopicError: no message arrived
        """
        received: list[str] = []
        subscription = self._node.create_subscription(
            String, 'robot_description', lambda message: received.append(message.data), LATCHED
        )
        self._spin(lambda: bool(received), TIMEOUT)
        if not received:
            raise SilentTopicError(subscription.topic_name, TIMEOUT)
        self._node.destroy_subscription(subscription)
        return received[0]

    def collect(
        self, topic: str, duration: float, enough: Callable[[Sequence[Sample]], bool]
    ) -> list[Sample]:
        """
        Collect joint states until there are enough, time is over, or Ctrl-C is pressed.

        :param topic: topic of the joint states
        :param duration: greatest duration, s
        :param enough: called every second with the samples; True ends the collection
        :raises SilentTopicError: no message arrived
        """
        samples: list[Sample] = []
        newest: dict[tuple[str, ...], float] = {}

        def take(message: Any) -> None:
            stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
            stamp = stamp or time.monotonic()
            names = tuple(message.name)
            if stamp - newest.get(names, -INTERVAL) < 0.95 * INTERVAL:
                return
            newest[names] = stamp
            samples.append(
                Sample(stamp, names, message.position, message.velocity, message.effort)
            )

        subscription = self._node.create_subscription(JointState, topic, take, SENSOR)
        deadline = time.monotonic() + duration
        with suppress(KeyboardInterrupt, ExternalShutdownException):
            self._spin(lambda: bool(samples), min(TIMEOUT, duration))
            while samples and time.monotonic() < deadline and not enough(samples):
                self._spin(lambda: False, min(CHECK_INTERVAL, deadline - time.monotonic()))
        if not samples:
            raise SilentTopicError(subscription.topic_name, min(TIMEOUT, duration))
        return samples

    def _spin(self, done: Callable[[], bool], duration: float) -> None:
        """Handle messages until a condition holds, for at most a duration in s."""
        deadline = time.monotonic() + duration
        while not done() and (left := deadline - time.monotonic()) > 0.0:
            self._executor.spin_once(timeout_sec=left)


@contextmanager
def live_robot(name: str, ros_arguments: Sequence[str]) -> Iterator[LiveRobot]:
    """
    Provide the topics of a robot until the block ends.

    :param name: name of the node
    :param ros_arguments: ROS arguments of the command line
    """
    with live_node(name, ros_arguments) as node:
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        try:
            yield LiveRobot(node, executor)
        finally:
            executor.shutdown()
