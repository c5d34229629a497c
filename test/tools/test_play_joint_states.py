# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``play_joint_states``: a recording of a real arm, at its pace."""

import signal
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.models.robots import ROOT
from support.recorded.real_arms import recording
from support.ros.ros_process import NO_ROS, RosProcess, ros_node, wait_until
from support.ros.virtual_live import VirtualLive, replace_live_node
from support.tools import Printed

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('rosbags', reason='rosbags is not installed')

from sensor_msgs.msg import JointState
from std_msgs.msg import String

from rnea_ros.recordings import read_joint_states
from rnea_ros.ros import LATCHED, seconds
from rnea_ros.tools import play_joint_states

ARM = str(ROOT / 'urdf/panda_arm.urdf')
BAG = recording('panda_exciting_trajectory.db3')
NAMES = tuple(f'fer_joint{number}' for number in range(1, 8))


def test_samples_come_in_order_with_their_own_times() -> None:
    samples = list(read_joint_states(BAG))
    times = np.array([sample.time for sample in samples])
    assert len(samples) == 727
    assert times[0] == 0.0
    assert (np.diff(times) > 0.0).all()
    assert times[-1] == pytest.approx(24.2, abs=0.1)
    assert all(sample.names == NAMES and len(sample.effort) == 7 for sample in samples)


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> VirtualLive:
    live = replace_live_node(monkeypatch, 'rnea_ros.tools.play_joint_states')

    def sleep(duration: float) -> None:
        live.now += duration

    clock = SimpleNamespace(monotonic=lambda: live.now, sleep=sleep)
    monkeypatch.setattr(play_joint_states, 'time', clock)
    return live


@pytest.mark.parametrize(('wait', 'begin'), [('30', 0.0), ('2', 2.0)])
def test_joint_states_come_at_the_pace_of_their_stamps(
    live: VirtualLive, capsys: Printed, wait: str, begin: float
) -> None:
    received: list[Any] = []
    descriptions: list[Any] = []
    if begin == 0.0:
        live.create_subscription(JointState, 'joint_states', received.append, 1000)
    assert play_joint_states.main([str(BAG), '--speed', '2', '--wait', wait, '--urdf', ARM]) == 0
    live.create_subscription(String, 'robot_description', descriptions.append, LATCHED)
    ended = live.now
    live.spin(0.02)
    samples = list(read_joint_states(BAG))
    assert '727 joint states sent' in capsys.readouterr().out
    assert descriptions[0].data.startswith('<?xml')
    assert ended == pytest.approx(100.0 + begin + samples[-1].time / 2.0, abs=0.051)
    for sample, message in zip(samples, received, strict=begin == 0.0):
        assert seconds(message.header.stamp) == pytest.approx(100.0 + sample.time / 2.0, abs=1e-6)
        assert tuple(message.name) == sample.names
        for field in ('position', 'velocity', 'effort'):
            assert list(getattr(message, field)) == list(getattr(sample, field))


@pytest.mark.ros
def test_a_signal_ends_what_another_node_receives(domain_id: int) -> None:
    received: list[Any] = []
    with ros_node(domain_id) as node:
        node.create_subscription(JointState, 'joint_states', received.append, 10)
        with RosProcess(
            'rnea_ros.tools.play_joint_states', str(BAG), '--speed', '0.001', domain_id=domain_id
        ) as process:
            assert wait_until(lambda: received)
            process.send(signal.SIGTERM)
            assert process.wait() == 0, process.output
    assert 'interrupted' in process.output
    assert 'Traceback' not in process.output
