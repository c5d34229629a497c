# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Trajectories and the reference of a trajectory controller, through the node in virtual time."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.control.encoded_trajectories import Encoder
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from std_msgs.msg import Float64

from rnea_ros.node import control_setup
from support.ros.command_graph import CONTROLLER
from support.ros.fake_robot import GRAVITY, JOINTS, MODEL, POSE
from support.ros.virtual_node import VirtualRig, virtual_node

EFFORT = np.array([1.0, -2.0, 3.0, -1.5, 0.5, -0.5, 0.25])
FAR = np.add(POSE, 0.5)
LASTING = {'reference_timeout': 60.0, 'use_trajectory_effort': True}
TOPIC = '/feedforward/joint_trajectory'


@contextmanager
def active(**options: Any) -> Iterator[VirtualRig]:
    with virtual_node(**options) as rig:
        rig.tremble()
        rig.wait_until_controlled().run(0.5)
        yield rig


def test_no_points_cancel_and_the_position_is_held() -> None:
    with active(mode='feedback', gains__kp=[10.0], **LASTING) as rig:
        rig.send_trajectory((0.0, np.add(POSE, 0.05)), effort=EFFORT)
        rig.wait_for_command(0.5 + EFFORT, 1e-6)
        rig.send_trajectory()
        rig.run(0.5)
        assert rig.newest_is(np.full(7, 0.5), 1e-6)


def test_a_rejection_is_named_and_leaves_the_trajectory_in_force() -> None:
    with active(mode='feedforward', **LASTING) as rig:
        rig.subscribed_topics.add('/feedforward/terms/trajectory')
        rig.send_trajectory((0.0, POSE), effort=EFFORT)
        rig.wait_for_command(GRAVITY + EFFORT, 1e-6)
        rig.run()
        assert list(rig.received['/feedforward/terms/trajectory'][-1].effort) == EFFORT.tolist()
        rig.publish(TOPIC, bytes((0, 1, 0, 0)) + bytes(8) + bytes((255,)) * 8)
        said = 'malformed: byte 16: frame: 4294967295 bytes expected, 4 left'
        assert rig.logged(f'error: trajectory rejected: {said}') == 1
        rows = ('velocity_limit', POSE, 9.0), ('start_too_far', FAR, 0.0)
        for reason, position, speed in rows:
            rig.send_trajectory((0.0, position), velocities=[speed] * 7)
            rig.run(1.0)
            assert rig.count(f'joint_trajectory/{reason}') == 1, rig.log.lines[-2:]
            assert rig.logged(f'trajectory rejected: {reason}') == 1, rig.log.lines[-2:]
        assert rig.newest_is(GRAVITY + EFFORT, 1e-6)
        rig.send_trajectory((0.0, POSE))
        rig.wait_for_command(GRAVITY, 1e-6)


def test_mode_gravity_follows_no_trajectory() -> None:
    with active() as rig:
        rig.send_trajectory((0.0, POSE))
        assert rig.logged('trajectory rejected: mode_without_motion: ') == 1
        assert rig.change(mode='computed_torque').successful
        rig.send_trajectory((0.0, POSE))
        assert rig.logged('trajectory rejected') == 1


def test_motions_are_rejected_while_commands_are_withheld() -> None:
    with active(mode='feedforward', **LASTING) as rig:
        rig.graph.listeners = {}
        rig.run(0.5)
        rig.send_trajectory((0.0, POSE), effort=EFFORT)
        assert rig.logged('trajectory rejected: commands_withheld: ') == 1
        rig.send_trajectory()
        rig.graph.listeners = {1: CONTROLLER}
        rig.run(1.0)
        assert rig.newest_is(GRAVITY, 1e-6)
        rig.send_trajectory((0.0, POSE), effort=EFFORT)
        rig.wait_for_command(GRAVITY + EFFORT, 1e-6)
        rig.run(1.0)
        assert rig.count('joint_trajectory/commands_withheld') == 1
        assert rig.count('commands_withheld') == 1


@pytest.mark.parametrize('from_desired', [False, True])
def test_the_way_begins_in_the_measured_or_the_desired_state(*, from_desired: bool) -> None:
    with active(
        mode='feedback', gains__kp=[10.0], interpolate_from_desired_state=from_desired,
        start_tolerance=0.5, **LASTING,
    ) as rig:
        rig.send_trajectory((0.0, np.add(POSE, 0.05)))
        rig.wait_for_command(np.full(7, 0.5), 1e-6)
        since = len(rig.commands)
        rig.send_trajectory((60.0, POSE), velocities=[0.0] * 7)
        rig.run(0.1)
        lowest = min(float(effort[0]) for _, effort in rig.commands[since:])
        assert lowest == pytest.approx(0.5 if from_desired else 0.0, abs=1e-3)


def test_speed_scaling_is_followed_or_counted_as_bad() -> None:
    with active(
        mode='feedback', gains__kd=[2.0], speed_scaling_topic='speed_scaling',
        speed_scaling_scale=0.01, **LASTING,
    ) as rig:
        rig.send_trajectory((0.0, POSE), velocities=[0.5] * 7)
        rig.wait_for_command(np.full(7, 1.0), 1e-6)
        rig.publish('/speed_scaling', Float64(data=40.0))
        for bad in (101.0, -1.0, float('nan')):
            rig.publish('/speed_scaling', Float64(data=bad))
        rig.run(3.0)
        assert rig.count('speed_scaling/out_of_range') == 3
        assert rig.newest_is(np.full(7, 0.4), 1e-6)
        assert rig.diagnostics['speed_scaling'] == '0.400'
        rig.node.trigger_deactivate()
        assert not rig.subscriptions['/speed_scaling']


def test_a_rejected_set_point_is_no_pause_of_its_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    with active(mode='feedforward', **LASTING) as rig:
        calls = counted(rig, monkeypatch)
        rig.send_trajectory((0.0, POSE))
        assert calls == {'follow': 1}
        rig.send_trajectory((0.0, FAR + 0.5))
        rig.send_trajectory((0.0, [np.nan] * 7))
        assert calls == {'follow': 1, 'note_setpoint': 2}


def counted(rig: VirtualRig, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Replace what a controller is told of motions by a counter of it."""
    calls: Counter[str] = Counter()
    controller = rig.node._activation.controller
    for name in ('follow', 'note_setpoint', 'set_reference'):
        monkeypatch.setattr(controller, name, lambda *_, name=name: calls.update([name]))
    return calls


# --- the reference of a trajectory controller ----------------------------------------------------

MOVING = (0.02, 0.1, -0.1, 0.1, 0.05, 0.1, -0.1)
ACCELERATION = (1.0, -2.0, 1.5, 2.0, -1.0, 0.5, 3.0)
STATE_TYPE = SimpleNamespace(get_fields_and_field_types=lambda: {
    'header': 'std_msgs/Header', 'joint_names': 'sequence<string>',
    'reference': 'trajectory_msgs/JointTrajectoryPoint', 'speed_scaling_factor': 'double',
})
STATE = 'scaled_controller/controller_state'


class Controller:
    """A trajectory controller that publishes at 100 Hz; its position creeps and never rests."""

    def __init__(self, rig: VirtualRig) -> None:
        self.rig, self.speed, self.creeping = rig, 1.0, True
        self.reference = [list(POSE), list(MOVING), list(ACCELERATION), []]
        self.length: int | None = None
        self.source = rig.repeat(f'/{STATE}', self.message)
        self.source.stamped = False

    def message(self) -> bytes:
        if self.creeping:
            self.reference[0][0] += 1e-12
        encoder = Encoder('<')
        seconds, rest = divmod(self.rig.time.time(), 1.0)
        encoder.put('i', int(seconds))
        encoder.put('I', int(1e9 * rest))
        encoder.put_text(b'\0')
        encoder.put_length(7)
        for name in JOINTS:
            encoder.put_text(name.encode() + b'\0')
        for values in self.reference:
            encoder.put_length(len(values))
            if values:
                encoder.put('d', *values)
        encoder.put('i', 0)
        encoder.put('I', 0)
        encoder.put('d', self.speed)
        return bytes(encoder.data)[: self.length]


Shadow = tuple[VirtualRig, Controller]


@pytest.fixture
def shadow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shadow]:
    monkeypatch.setattr(control_setup, 'controller_state_type', lambda: STATE_TYPE)
    with virtual_node(
        mode='feedforward', reference_source='controller_state', reference_timeout=0.5,
        controller_state_topic=STATE,
    ) as rig:
        rig.tremble()
        controller = Controller(rig)
        rig.wait_until_controlled().wait_for_command(moving(), 1e-6)
        yield rig, controller


def moving(speed: float = 1.0) -> Any:
    qd, qdd = speed * np.array(MOVING), speed**2 * np.array(ACCELERATION)
    return MODEL.inverse_dynamics(POSE, qd, qdd)


def test_a_controllers_motion_counts_at_its_speed(shadow: Shadow) -> None:
    rig, controller = shadow
    rig.send_trajectory((0.0, POSE))
    said = 'trajectory rejected: other_source: reference_source is controller_state'
    assert rig.logged(said) == 1
    controller.speed = 0.5
    rig.run(2.0)
    assert rig.newest_is(moving(0.5), 1e-6)
    assert rig.diagnostics['speed_scaling'] == '0.500'
    controller.creeping = False
    rig.run(2.0)
    assert rig.newest_is(GRAVITY, 1e-6)


def test_a_silent_controller_is_flagged_until_back(shadow: Shadow) -> None:
    rig, controller = shadow
    controller.source.sending = False
    rig.run(0.4)
    assert rig.newest_is(moving(), 1e-6), 'within the timeout'
    rig.run(2.6)
    assert rig.flags == {'reference_stale'}
    assert rig.newest_is(GRAVITY, 1e-6)
    assert float(rig.diagnostics['controller_state_age']) > 1.9
    controller.source.sending = True
    rig.run(2.0)
    assert rig.newest_is(moving(), 1e-6)
    assert rig.flags == set()


def test_bad_references_are_counted_named_and_not_followed(
    shadow: Shadow, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig, controller = shadow
    good, controller.reference[0] = controller.reference[0], np.add(POSE, 0.6).tolist()
    rig.run(3.0)
    assert rig.logged('controller_state rejected: start_too_far') > 0, rig.log.lines[-2:]
    assert rig.count('controller_state/start_too_far') > 200
    assert rig.newest_is(GRAVITY, 1e-6)
    controller.reference[0] = good
    rig.wait_for_command(moving(), 1e-6)
    calls = counted(rig, monkeypatch)
    rig.run()
    controller.length = 40
    rig.run(1.0)
    assert calls == {'set_reference': 10, 'note_setpoint': 100}
    assert rig.count('controller_state/malformed') >= 50


def test_without_control_msgs_one_line_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ('control_msgs', 'control_msgs.action', 'control_msgs.msg'):
        monkeypatch.setitem(sys.modules, module, None)
    with virtual_node(reference_source='controller_state') as rig:
        rig.run(2.0)
        line = 'no action ~/follow_joint_trajectory: control_msgs is not installed'
        assert rig.logged(line) == 1
        assert not rig.node.action.finishing()
        rig.node.action.destroy()
        assert rig.logged(
            "cannot configure: reference_source: 'controller_state' needs the ROS package "
            'control_msgs, which cannot be imported'
        ) == 1
        assert not rig.commands


def test_a_stream_is_shaped_or_followed_as_it_is_without_the_library(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip('ruckig', reason='ruckig is not installed')
    options = {'mode': 'gravity_feedback', 'gains__kp': [10.0], 'effort_rate_limit': [1e6]}
    for installed in (True, False):
        monkeypatch.setattr(control_setup, 'has_ruckig', lambda installed=installed: installed)
        with active(stream__shaping='ruckig', **options) as rig:
            warned = rig.logged('stream.shaping is ruckig, which is not installed (pip install ')
            assert warned == (not installed)
            before = len(rig.commands)
            for k in range(8):
                rig.send_trajectory((0.0, np.add(POSE, 0.015 * min(k, 5))))
                rig.run(0.1)
            rig.run(0.5)
            assert rig.newest_is(GRAVITY + 0.75, 1e-6)
            commands = np.array([command for _, command in rig.commands[before:]])
            assert (np.abs(np.diff(commands, axis=0)).max() < 0.05) == installed
