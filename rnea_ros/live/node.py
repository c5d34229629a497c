# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The ROS node of a tool, with one-line errors, and what it reads from live topics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
import signal
import threading
import time
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from ..errors import RneaError
from ..feedforward.motion import TrajectoryRequest
from ..interrupts import interrupts_held
from ..messages import decode_trajectory
from ..recordings import Sample
from ..ros import LATCHED, ros_errors, seconds, without_ros_arguments

STATES = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Of joint states: a queue of 1 s at 1 kHz, for a busy tool or machine."""

INTERVAL = 0.01  # least, of the samples, s; the comparison is low-pass filtered anyway
CHECK_INTERVAL = 1.0  # of the checks whether enough samples were collected, s
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
        held = False

        def holds() -> bool:
            nonlocal held
            held = condition()  # asked once a step: on a moving robot it may not hold again
            return held

        self.spin(self.timeout, holds)
        if not held:
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


def sample_of(message: bytes) -> Sample:
    """Return a joint state in CDR bytes; without a stamp its time is the present one."""
    state = deserialize_message(message, JointState)
    stamp = seconds(state.header.stamp) or time.time()
    return Sample(stamp, tuple(state.name), state.position, state.velocity, state.effort)


def robot_description(live: LiveNode) -> str:
    """Return the URDF from the topic robot_description."""
    received: list[str] = []
    subscription = live.node.create_subscription(
        String, 'robot_description', lambda message: received.append(message.data), LATCHED
    )
    topic, remedy = subscription.topic_name, 'or give the URDF: --urdf'
    live.wait(lambda: bool(received), lambda: SilentTopicError(topic, live.timeout, remedy))
    live.node.destroy_subscription(subscription)
    return received[0]


class StateRecorder:
    """Joint states of a topic from now on, as samples at least an interval, s, apart."""

    def __init__(self, live: LiveNode, topic: str = 'joint_states', interval: float = 0.0) -> None:
        self.samples: list[Sample] = []
        self._live, self._interval = live, 0.95 * interval
        self._ends: dict[tuple[str, ...], list[float]] = {}  # oldest and newest stamp by publisher
        self._subscription = live.node.create_subscription(
            JointState, topic, self._take, STATES, raw=True
        )
        self.topic: str = self._subscription.topic_name

    def close(self) -> None:
        """Unsubscribe."""
        self._live.node.destroy_subscription(self._subscription)

    def lasts(self, duration: float) -> bool:
        """Return whether the stamps of a publisher are a time, s, apart; they may jump back."""
        return any(abs(newest - oldest) >= duration for oldest, newest in self._ends.values())

    def _take(self, message: bytes) -> None:
        sample = sample_of(message)
        ends = self._ends.setdefault(sample.names, [sample.time, -self._interval])
        if abs(sample.time - ends[1]) >= self._interval:
            ends[1] = sample.time
            self.samples.append(sample)


def collect_joint_states(
    live: LiveNode, topic: str, duration: float, enough: Callable[[Sequence[Sample]], bool]
) -> list[Sample]:
    """
    Collect joint states until enough, their duration, s, by their stamps, Ctrl-C or a silence.

    ``enough`` is called every second with the samples.
    """
    recorder = StateRecorder(live, topic, INTERVAL)
    samples = recorder.samples

    def wait_for_more() -> bool:
        count = len(samples)
        live.spin(CHECK_INTERVAL, lambda: recorder.lasts(duration))
        live.spin(live.timeout, lambda: len(samples) > count)
        return len(samples) > count

    with suppress(KeyboardInterrupt):
        live.spin(min(live.timeout, duration), lambda: bool(samples))
        while samples and not (enough(samples) or recorder.lasts(duration)):
            if not wait_for_more():
                break
    if not samples:
        raise SilentTopicError(recorder.topic, min(live.timeout, duration))
    recorder.close()
    return samples


def live_trajectory(topic: str, timeout: float, ros_arguments: Sequence[str]) -> TrajectoryRequest:
    """Wait for the next trajectory on a topic until the timeout, s."""
    received: list[Any] = []
    with live_node('check_trajectory', ros_arguments) as live:
        subscription = live.node.create_subscription(
            JointTrajectory, topic, received.append, 10, raw=True
        )
        with suppress(KeyboardInterrupt):
            live.spin(timeout, lambda: bool(received))
        if not received:
            raise SilentTopicError(subscription.topic_name, timeout)
    return decode_trajectory(received[0])
