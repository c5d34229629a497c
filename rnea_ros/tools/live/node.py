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
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions

from ...errors import RneaError
from ...interrupts import interrupts_held
from ...ros import ros_errors, without_ros_arguments

STATES = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Of joint states: a queue of 1 s at 1 kHz, for a busy tool or machine."""

TIMEOUT = 10.0  # of the first message on a topic, s
WAIT = 0.05  # longest wait in one step, s: Ctrl-C acts between two steps


class SilentTopicError(RneaError):
    """No message arrived on a topic within a time, s."""

    def __init__(self, topic: str, waited: float, remedy: str = '') -> None:
        super().__init__(f'no message on {topic} in {waited:g} s{remedy and f"; {remedy}"}')
        self.topic = topic


class LiveNode:
    """The ROS node of a tool, and its executor."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(node)

    def spin(self, duration: float, done: Callable[[], bool] = lambda: False) -> None:
        """Handle messages for a time, s, or until a condition holds, or Ctrl-C is raised."""
        deadline = time.monotonic() + duration
        with interrupts_held() as interrupted:
            while (
                not (interrupted() or done()) and (left := deadline - time.monotonic()) > 0.0
            ):
                self._executor.spin_once(timeout_sec=min(WAIT, left))

    def close(self) -> None:
        """End executor and node."""
        self._executor.shutdown()
        self.node.destroy_node()


@contextmanager
def live_node(name: str, ros_arguments: Sequence[str]) -> Iterator[LiveNode]:
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
            node = LiveNode(rclpy.create_node(name))
            try:
                yield node
            finally:
                node.close()
    finally:
        rclpy.try_shutdown()
