# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Joint states from live topics are collected for a time of the robot, not of the clock."""

from collections.abc import Callable, Iterator
import os
import signal
import time
from typing import Any

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from sensor_msgs.msg import JointState

from rnea_ros.recordings import Sample
from rnea_ros.tools.live import collect_joint_states, live_node
from support.ros.ros_process import new_domain_id


class Topic:
    """A node whose every spin receives one message; time on the clock does not pass."""

    topic_name = '/joint_states'

    def __init__(self, messages: Iterator[JointState]) -> None:
        self.node = self
        self._messages = messages

    def create_subscription(self, kind: Any, topic: str, take: Any, qos: Any) -> Any:
        self._take = take
        return self

    def destroy_subscription(self, subscription: Any) -> None:
        self._messages = iter(())

    def spin(self, duration: float, done: Callable[[], bool] = lambda: False) -> None:
        while not done() and (message := next(self._messages, None)) is not None:
            self._take(message)


def states(name: str, *stamps: float) -> list[JointState]:
    messages = []
    for stamp in stamps:
        messages.append(JointState(name=[name], position=[0.0]))
        messages[-1].header.stamp.sec = int(stamp)
        messages[-1].header.stamp.nanosec = round(1e9 * (stamp % 1.0))
    return messages


def collected(messages: list[JointState], duration: float) -> list[Sample]:
    live: Any = Topic(iter(messages))
    return collect_joint_states(live, 'joint_states', duration, lambda samples: False)


def test_the_stamps_of_one_publisher_end_the_collection() -> None:
    arm, gripper = states('arm', *range(100, 120)), states('gripper', *range(5000, 5020))
    alternating = [message for pair in zip(arm, gripper, strict=True) for message in pair]
    assert len(collected(alternating, 6.0)) == 13


@pytest.mark.parametrize('stamps', [(100.0, 101.0, 2.0), (100.0, 101.0)])
def test_a_reset_of_time_and_a_silence_end_the_collection(stamps: tuple[float, ...]) -> None:
    assert len(collected(states('arm', *stamps), 50.0)) == len(stamps)


@pytest.mark.ros
def test_a_node_stays_valid_after_a_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('ROS_DOMAIN_ID', str(new_domain_id()))
    before = signal.getsignal(signal.SIGTERM)
    try:
        with live_node('tool', []) as live:
            publisher = live.node.create_publisher(JointState, 'joint_states', 1)
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.5)  # time for a handler in another thread
            assert publisher.get_subscription_count() == 0
    finally:
        signal.signal(signal.SIGTERM, before)
