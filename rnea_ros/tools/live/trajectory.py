# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The next trajectory on a live topic."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from rclpy.executors import ExternalShutdownException
from trajectory_msgs.msg import JointTrajectory

from ...feedforward.trajectory import TrajectoryRequest
from ...messages import decode_trajectory
from .node import SilentTopicError, live_node

DEPTH = 10


def live_trajectory(
    topic: str, timeout: float, ros_arguments: Sequence[str]
) -> TrajectoryRequest:
    """
    Wait for the next trajectory on a topic.

    :param topic: name of the topic
    :param timeout: longest wait, s
    :param ros_arguments: ROS arguments of the command line
    :raises SilentTopicError: no message before the timeout
    :raises RosError: ROS rejects the arguments, or the topic
    :raises MalformedError: a message with wrong bytes
    """
    received: list[bytes] = []
    with live_node('check_trajectory', ros_arguments) as live:
        subscription = live.node.create_subscription(
            JointTrajectory, topic, received.append, DEPTH, raw=True
        )
        with suppress(KeyboardInterrupt, ExternalShutdownException):
            live.spin(timeout, lambda: bool(received))
        if not received:
            raise SilentTopicError(subscription.topic_name, timeout)
    return decode_trajectory(received[0])
