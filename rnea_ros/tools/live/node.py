# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A node of a tool that listens for a while; what ROS refuses is told in one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
import signal
import threading
from typing import Any

import rclpy

from ...errors import RneaError
from ...ros import ros_errors, without_ros_arguments


class SilentTopicError(RneaError):
    """
    Nothing came on a topic.

    :param topic: its name
    :param waited: how long, s
    """

    def __init__(self, topic: str, waited: float) -> None:
        super().__init__(f'nothing came on {topic} in {waited:g} s')
        self.topic = topic


@contextmanager
def live_node(name: str, ros_arguments: Sequence[str]) -> Iterator[Any]:
    """
    Give a node until the block ends.

    :param name: of the node
    :param ros_arguments: of the command line
    :raises RosError: ROS refuses the arguments, or the name of a topic
    """
    without_ros_arguments(ros_arguments)  # ROS logs what it refuses only later
    if threading.current_thread() is threading.main_thread():
        # SIGTERM ends a tool as Ctrl-C does; ROS calls handlers that were there before its own.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with ros_errors():
            rclpy.init(args=list(ros_arguments))
            node = rclpy.create_node(name)
            try:
                yield node
            finally:
                node.destroy_node()
    finally:
        rclpy.try_shutdown()
