# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A feedforward node in the test's own process, spun by the test alone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import os
import time
from typing import Any

from support.ros.ros_process import PATIENCE, isolated


class NodeInProcess:
    """
    Runs callbacks only while the test waits: what the test calls meets nothing else.

    :param node: the feedforward node
    :param executor: that spins it
    """

    def __init__(self, node: Any, executor: Any) -> None:
        self.node = node
        self._executor = executor

    def spin(self, seconds: float) -> None:
        """Run what comes within a time, s."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            self._executor.spin_once(timeout_sec=left)

    def wait_until(self, condition: Callable[[], Any], timeout: float = PATIENCE) -> bool:
        """Run what comes until a condition is true; return whether it was in time, s."""
        deadline = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > deadline:
                return False
            self.spin(0.01)
        return True


@contextmanager
def node_in_process(domain_id: int, options: str) -> Iterator[NodeInProcess]:
    """
    Give a feedforward node on a DDS domain.

    :param domain_id: its DDS domain
    :param options: ROS arguments
    """
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.signals import SignalHandlerOptions

    from rnea_ros.node.feedforward_node import FeedforwardNode

    os.environ.update(isolated(domain_id))
    # Without rosout: rcl keeps its publishers in one table for all contexts, and crashes over it.
    arguments = ['--ros-args', '--disable-rosout-logs', *options.split()]
    rclpy.init(args=arguments, domain_id=domain_id, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = FeedforwardNode()
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        try:
            yield NodeInProcess(node, executor)
        finally:
            executor.remove_node(node)
            executor.shutdown()
            node.shut_down()
            node.action.destroy()
            node.destroy_node()
    finally:
        rclpy.try_shutdown()
