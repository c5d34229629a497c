# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A rejected set-point, of the topic or of a trajectory controller, is no pause of its stream."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.control.control_rig import Rig, two_joint_arm
from support.control.encoded_trajectories import Encoder
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rclpy.serialization import serialize_message
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from rnea_ros.feedforward.law import Feedforward
from rnea_ros.feedforward.trajectory import ControllerStateMonitor, JointRules
from rnea_ros.node.inputs import ControllerStateInput, reference_topics
from rnea_ros.node.motion_requests import MotionRequests

JOINTS = ('shoulder', 'elbow')
FIELDS = {
    'header': 'std_msgs/Header', 'joint_names': 'sequence<string>',
    'reference': 'trajectory_msgs/JointTrajectoryPoint',
}


class Bench:
    """A controlled arm that counts the requests of its control."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rig = Rig(two_joint_arm(), mode=Feedforward, ramp_duration=0.01)
        self.rig.activate()
        self.calls: Counter[str] = Counter()
        for name in ('follow', 'note_setpoint', 'set_reference'):
            monkeypatch.setattr(
                self.rig.controller, name, lambda *_, name=name: self.calls.update([name])
            )
        free = np.full(2, np.inf)
        self.rules = JointRules(JOINTS, -free, free, np.zeros(2, dtype=bool), free, 0.5)
        self.clock: Any = SimpleNamespace(latest=lambda: self.rig.now, stamp=lambda: self.rig.now)

    def requests(self) -> MotionRequests:
        setup = SimpleNamespace(rules=self.rules, settings=self.rig.resolved, state_type=None)
        log = SimpleNamespace(error=lambda *_, **__: None)
        configuration: Any = SimpleNamespace(setup=setup)
        node = SimpleNamespace(get_logger=lambda: log)
        return MotionRequests(node, configuration, self.rig.controller, self.clock, Counter())


@pytest.mark.parametrize(
    ('position', 'call'), [(0.1, 'follow'), (0.9, 'note_setpoint'), (np.nan, 'note_setpoint')]
)
def test_a_set_point_of_the_topic_is_one_request(
    monkeypatch: pytest.MonkeyPatch, position: float, call: str
) -> None:
    bench = Bench(monkeypatch)
    point = JointTrajectoryPoint(positions=[position, 0.0])
    message = JointTrajectory(joint_names=list(JOINTS), points=[point])
    bench.requests().on_message(bytes(serialize_message(message)))
    assert bench.calls == {call: 1}


def state_message(position: float) -> bytes:
    """Return the state of a controller whose reference is a position."""
    encoder = Encoder('<')
    encoder.put('i', 0)
    encoder.put('I', 0)
    encoder.put_text(b'\0')
    encoder.put_length(2)
    for name in JOINTS:
        encoder.put_text(name.encode() + b'\0')
    encoder.put_length(2)
    encoder.put('d', position, 0.0)
    for _ in range(3):
        encoder.put_length(0)
    encoder.put('i', 0)
    encoder.put('I', 0)
    return bytes(encoder.data)


@pytest.mark.parametrize(('message', 'call'), [
    (state_message(0.1), 'set_reference'), (state_message(0.9), 'note_setpoint'),
    (state_message(np.nan), 'note_setpoint'), (state_message(0.1)[:40], 'note_setpoint'),
], ids=['valid', 'too far', 'not finite', 'malformed'])
def test_a_reference_of_a_trajectory_controller_is_one_request(
    monkeypatch: pytest.MonkeyPatch, message: bytes, call: str
) -> None:
    bench = Bench(monkeypatch)
    message_type = SimpleNamespace(get_fields_and_field_types=lambda: FIELDS)
    monkeypatch.setattr(reference_topics, 'controller_state_type', lambda: message_type)
    controller = bench.rig.controller
    subscription: Any = SimpleNamespace(take_all=lambda: [message])
    source = ControllerStateInput(
        subscription, ControllerStateMonitor(bench.rules, controller.speed_scaling), controller,
        bench.clock,
    )
    source.take_messages(bench.rig.now)
    assert bench.calls == {call: 1}
