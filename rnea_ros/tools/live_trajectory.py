# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""One trajectory from a live topic."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
import time

import rclpy
from rclpy.executors import ExternalShutdownException
from trajectory_msgs.msg import JointTrajectory

from ..feedforward.trajectory_request import TrajectoryRequest
from ..node.trajectory_decoder import decode_trajectory
from .live_joint_states import SilentTopicError

DEPTH = 10


def live_trajectory(
    topic: str, timeout: float, ros_arguments: Sequence[str]
) -> TrajectoryRequest:
    """
    Return the next trajectory on a topic.

    :param topic: its name
    :param timeout: how long to wait for it, s
    :param ros_arguments: of the command line
    :raises SilentTopicError: none came
    :raises MalformedError: what came is none
    """
    rclpy.init(args=list(ros_arguments))
    node = rclpy.create_node('check_trajectory')
    received: list[bytes] = []
    subscription = node.create_subscription(
        JointTrajectory, topic, received.append, DEPTH, raw=True
    )
    deadline = time.monotonic() + timeout
    try:
        with suppress(KeyboardInterrupt, ExternalShutdownException):
            while not received and (left := deadline - time.monotonic()) > 0.0:
                rclpy.spin_once(node, timeout_sec=left)
        if not received:
            raise SilentTopicError(subscription.topic_name, timeout)
        return decode_trajectory(received[0])
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
