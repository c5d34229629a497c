# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The ROS node of a tool, with one-line errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
import signal
import threading
import time
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from ..errors import RneaError
from ..interrupts import interrupts_held
from ..ros import ros_errors, without_ros_arguments

WAIT = 0.05  # longest wait in one step, s: Ctrl-C acts between two steps


class SilentTopicError(RneaError):
    """No message arrived on a topic within a time, s."""

    def __init__(self, topic: str, waited: float, remedy: str = '') -> None:
        super().__init__(f'no message on {topic} in {waited:g} s{remedy and f"; {remedy}"}')
        self.topic = topic


class LiveNode:
    """
    The ROS node of a tool, and its executor.

    ``check`` may raise an error that ends every wait, such as that a process ended.
    """

    timeout = 10.0
    """Longest wait for a message, a subscription or an answer, s."""

    def __init__(self, node: Any, check: Callable[[], None] = lambda: None) -> None:
        self.node = node
        self._check = check
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(node)

    def spin(self, duration: float, done: Callable[[], bool] = lambda: False) -> None:
        """Handle messages for a time, s, or until a condition holds, or Ctrl-C is raised."""
        deadline = time.monotonic() + duration
        with interrupts_held() as interrupted:
            while (
                not (interrupted() or done()) and (left := deadline - time.monotonic()) > 0.0
            ):
                self._check()
                self._executor.spin_once(timeout_sec=min(WAIT, left))

    def wait(self, condition: Callable[[], bool], error: Callable[[], RneaError]) -> None:
        """Handle messages until a condition holds; raise the error after :attr:`timeout`."""
        self.spin(self.timeout, condition)
        if not condition():
            raise error()

    def close(self) -> None:
        """End executor and node."""
        self._executor.shutdown()
        self.node.destroy_node()


@contextmanager
def live_node(
    name: str, ros_arguments: Sequence[str] = (), check: Callable[[], None] = lambda: None
) -> Iterator[LiveNode]:
    """
    Provide a node until the block ends. It can still publish after a KeyboardInterrupt.

    rclpy's own handler of signals would make the node invalid in the middle of a call.

    :raises RosError: ROS rejects the arguments or the name of a topic
    """
    without_ros_arguments(ros_arguments)  # rclpy would log unknown arguments only later
    if threading.current_thread() is threading.main_thread():
        # SIGTERM ends a tool as Ctrl-C does.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with ros_errors():
            rclpy.init(args=list(ros_arguments), signal_handler_options=SignalHandlerOptions.NO)
            node = LiveNode(rclpy.create_node(name), check)
            try:
                yield node
            finally:
                node.close()
    finally:
        rclpy.try_shutdown()
