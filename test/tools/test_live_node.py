# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Joint states are collected for a time of the robot; signals leave the node of a tool valid."""

import os
import pty
import signal
import sys
import termios
from types import SimpleNamespace
from typing import Any

import pytest

from support.ros.ros_process import NO_ROS, new_domain_id, wait_until
from support.ros.virtual_live import VirtualLive

pytest.importorskip('rclpy', reason=NO_ROS)

from rclpy.signals import SignalHandlerOptions, get_current_signal_handlers_options
from sensor_msgs.msg import JointState

from rnea_ros.ros import RosError
from rnea_ros.tools.live import collect_joint_states, live_node, pressed_keys


def collected(duration: float, *stamped: tuple[str, float]) -> int:
    """Return how many joint states, of a joint and with a stamp, are collected."""
    messages = []
    for name, stamp in stamped:
        messages.append(JointState(name=[name], position=[0.0]))
        stamps = messages[-1].header.stamp
        stamps.sec, stamps.nanosec = divmod(round(1e9 * stamp), 10**9)
    live: Any = VirtualLive()
    publisher = live.create_publisher(JointState, 'joint_states', 1)
    live.create_timer(0.01, lambda: publisher.publish(messages.pop(0)) if messages else None)
    return len(collect_joint_states(live, 'joint_states', duration, lambda samples: False))


def test_the_stamps_of_one_publisher_end_the_collection() -> None:
    arms = [('arm', 100.0 + k) for k in range(20)]
    grippers = [('gripper', 5000.0 + k) for k in range(20)]
    alternating = [each for pair in zip(arms, grippers, strict=True) for each in pair]
    assert collected(6.0, *alternating) == 13


@pytest.mark.parametrize('stamps', [(100.0, 101.0, 2.0), (100.0, 101.0)])
def test_a_reset_of_time_and_a_silence_end_the_collection(stamps: tuple[float, ...]) -> None:
    assert collected(50.0, *(('arm', stamp) for stamp in stamps)) == len(stamps)


def test_samples_are_a_hundred_per_second_at_most() -> None:
    assert collected(0.1, *(('arm', 100.0 + 0.001 * k) for k in range(101))) == 11


def test_keys_come_from_the_terminal_which_is_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    keyboard, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)
    monkeypatch.setattr(sys, 'stdin', SimpleNamespace(fileno=lambda: terminal))
    read: list[str] = []

    def pressed() -> bool:
        read.append(key())
        return ''.join(read) == 'ab'

    with pressed_keys() as key:
        assert key() == ''
        os.write(keyboard, b'ab')
        assert wait_until(pressed)
        assert key() == ''
        assert termios.tcgetattr(terminal) != before
    assert termios.tcgetattr(terminal) == before


@pytest.mark.ros
def test_a_node_stays_valid_after_a_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('ROS_DOMAIN_ID', str(new_domain_id()))
    before = signal.getsignal(signal.SIGTERM)
    try:
        with live_node('tool', []) as live:
            publisher = live.node.create_publisher(JointState, 'joint_states', 1)
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGTERM)
            assert get_current_signal_handlers_options() == SignalHandlerOptions.NO
            assert publisher.get_subscription_count() == 0
        with pytest.raises(RosError, match="'a b'"), live_node('tool', []) as live:
            live.node.create_publisher(JointState, 'a b', 1)
    finally:
        signal.signal(signal.SIGTERM, before)
