# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Joint states, the robot description and a trajectory from live topics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
import time
from typing import Any

from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from ...feedforward.motion import TrajectoryRequest
from ...messages import decode_trajectory
from ...recordings import Sample
from ...ros import LATCHED, seconds
from .node import STATES, TIMEOUT, LiveNode, SilentTopicError, live_node

INTERVAL = 0.01  # least, of the samples, s; the comparison is low-pass filtered anyway
CHECK_INTERVAL = 1.0  # of the checks whether enough samples were collected, s


def robot_description(live: LiveNode) -> str:
    """Return the URDF from the topic robot_description."""
    received: list[str] = []
    subscription = live.node.create_subscription(
        String, 'robot_description', lambda message: received.append(message.data), LATCHED
    )
    live.spin(TIMEOUT, lambda: bool(received))
    if not received:
        raise SilentTopicError(subscription.topic_name, TIMEOUT, 'or give the URDF: --urdf')
    live.node.destroy_subscription(subscription)
    return received[0]


def collect_joint_states(
    live: LiveNode, topic: str, duration: float, enough: Callable[[Sequence[Sample]], bool]
) -> list[Sample]:
    """
    Collect joint states until enough, their duration, Ctrl-C or a silence of :data:`TIMEOUT`.

    :param duration: greatest duration by their stamps, s
    :param enough: called every second with the samples; True ends the collection
    """
    samples: list[Sample] = []
    oldest: dict[tuple[str, ...], float] = {}
    newest: dict[tuple[str, ...], float] = {}

    def take(message: Any) -> None:
        stamp = seconds(message.header.stamp) or time.monotonic()
        names = tuple(message.name)
        if abs(stamp - newest.get(names, -INTERVAL)) < 0.95 * INTERVAL:
            return
        newest[names] = stamp
        oldest.setdefault(names, stamp)
        samples.append(Sample(stamp, names, message.position, message.velocity, message.effort))

    subscription = live.node.create_subscription(JointState, topic, take, STATES)

    def complete() -> bool:  # also where time jumps back
        return any(abs(newest[names] - oldest[names]) >= duration for names in newest)

    def wait_for_more() -> bool:
        known = len(samples)
        live.spin(CHECK_INTERVAL, complete)
        live.spin(TIMEOUT, lambda: len(samples) > known)
        return len(samples) > known

    with suppress(KeyboardInterrupt):
        live.spin(min(TIMEOUT, duration), lambda: bool(samples))
        more = bool(samples)
        while more and not enough(samples) and not complete():
            more = wait_for_more()
    if not samples:
        raise SilentTopicError(subscription.topic_name, min(TIMEOUT, duration))
    live.node.destroy_subscription(subscription)
    return samples


def live_trajectory(topic: str, timeout: float, ros_arguments: Sequence[str]) -> TrajectoryRequest:
    """Wait for the next trajectory on a topic until the timeout, s."""
    received: list[bytes] = []
    with live_node('check_trajectory', ros_arguments) as live:
        subscription = live.node.create_subscription(
            JointTrajectory, topic, received.append, 10, raw=True
        )
        with suppress(KeyboardInterrupt):
            live.spin(timeout, lambda: bool(received))
        if not received:
            raise SilentTopicError(subscription.topic_name, timeout)
    return decode_trajectory(received[0])
