# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A node of a tool that listens for a while; what ROS refuses is told in one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import rclpy
from rclpy.exceptions import NameValidationException

from ..errors import RneaError


class RosError(RneaError):
    """ROS refuses an argument, or a name."""


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
    try:
        rclpy.init(args=list(ros_arguments))
        node = rclpy.create_node(name)
        try:
            yield node
        finally:
            node.destroy_node()
    # RuntimeError is the root of what rclpy raises for arguments.
    except (NameValidationException, RuntimeError) as error:
        raise RosError(' '.join(str(error).strip(' ^\n').split())) from error
    finally:
        rclpy.try_shutdown()
