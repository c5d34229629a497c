# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``play_joint_states``: a recording of a real arm, at its pace."""

import signal
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.models.robots import ROOT
from support.recorded.bags import recording
from support.ros.ros_process import NO_ROS, RosProcess, ros_node, wait_until
from support.ros.virtual_live import replace_live_node
from support.tools import finished

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('rosbags', reason='rosbags is not installed')

from sensor_msgs.msg import JointState
from std_msgs.msg import String

from rnea_ros.recordings import read_joint_states
from rnea_ros.ros import LATCHED, seconds
from rnea_ros.tools import play_joint_states

ARM = ROOT / 'urdf/panda_arm.urdf'
BAG = recording('panda_exciting_trajectory.db3')


def test_joint_states_come_at_the_pace_of_their_stamps(monkeypatch: pytest.MonkeyPatch) -> None:
    live = replace_live_node(monkeypatch, 'rnea_ros.tools.play_joint_states')

    def sleep(duration: float) -> None:
        live.now += duration

    clock = SimpleNamespace(monotonic=lambda: live.now, sleep=sleep)
    monkeypatch.setattr(play_joint_states, 'time', clock)
    received: list[Any] = []
    descriptions: list[Any] = []
    live.create_subscription(JointState, 'joint_states', received.append, 1000)
    ended = finished(play_joint_states.main, BAG, '--speed', '2', '--urdf', ARM)
    assert ended.returncode == 0
    assert '727 joint states sent' in ended.stdout
    live.create_subscription(String, 'robot_description', descriptions.append, LATCHED)
    now = live.now
    live.spin(0.02)
    assert descriptions[0].data.startswith('<?xml')
    samples = list(read_joint_states(BAG))
    assert (np.diff([sample.time for sample in samples]) > 0.0).all()
    assert samples[-1].time == pytest.approx(24.2, abs=0.1)
    assert now == pytest.approx(100.0 + samples[-1].time / 2.0, abs=0.051)
    for sample, message in zip(samples, received, strict=True):
        assert seconds(message.header.stamp) == pytest.approx(100.0 + sample.time / 2.0, abs=1e-6)
        assert tuple(message.name) == sample.names
        for field in ('position', 'velocity', 'effort'):
            assert list(getattr(message, field)) == list(getattr(sample, field))


@pytest.mark.ros
def test_a_signal_ends_what_another_node_receives(domain_id: int) -> None:
    received: list[Any] = []
    command = ('rnea_ros.tools.play_joint_states', str(BAG), '--speed', '0.001')
    with ros_node(domain_id) as node, RosProcess(*command, domain_id=domain_id) as process:
        node.create_subscription(JointState, 'joint_states', received.append, 10)
        assert wait_until(lambda: received)
        process.send(signal.SIGTERM)
        assert process.wait() == 0, process.output
    assert 'interrupted' in process.output
    assert 'Traceback' not in process.output
