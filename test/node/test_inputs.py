# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Payloads, sensors, additional efforts, parts of joint states: the whole node, virtual time."""

from typing import Any

import numpy as np
import pytest

import rnea_ros
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from support.ros.fake_robot import DEFAULT_RATE_LIMIT, GRAVITY, JOINTS, LIMITS, MODEL, POSE
from support.ros.virtual_node import Source, VirtualRig, virtual_node

REST = np.zeros(7)
PUSH = (3.0, -4.0, 12.0)
PUSHED = MODEL.inverse_dynamics(POSE, REST, REST, {'fer_link8': rnea_ros.Wrench(force=PUSH)})
FLANGE: dict[str, Any] = {'wrench_inputs__names': ['flange']} | {
    f'wrench_inputs__flange__{name}': value
    for name, value in (
        ('topic', 'ft/wrench'), ('deadband_force', 0.0), ('deadband_torque', 0.0),
        ('timeout', 0.3), ('fade', 0.2), ('tare_duration', 1.0),
    )
}


def force_sensor(rig: VirtualRig, link: str = 'fer_link8', force: Any = PUSH) -> Source:
    message = WrenchStamped()
    message.header.frame_id = link
    pushed = message.wrench.force
    pushed.x, pushed.y, pushed.z = np.asarray(force).tolist()
    return rig.repeat('/ft/wrench', message, 0.005)


def tare(rig: VirtualRig) -> tuple[bool, str]:
    response = rig.call('/feedforward/tare', Trigger)
    return response.success, response.message


def test_a_payload_set_while_active_is_blended() -> None:
    loaded = MODEL.with_payload('fer_link8', 3.0).gravity_torques(POSE)
    with virtual_node(payload__blend_duration=0.5) as rig:
        rig.wait_until_controlled().wait_for_command(GRAVITY)
        since = len(rig.commands)
        assert rig.change(payload__link=['fer_link8'], payload__mass=[3.0]).successful
        rig.run(1.0)
        assert rig.newest_is(loaded)
        way = np.array([effort for _, effort in rig.commands[since:]])
        steps = np.abs(np.diff(way, axis=0)).max(axis=0)
        assert steps[1] == pytest.approx(abs(loaded - GRAVITY)[1] * 0.01 / 0.5, rel=1e-6)


def test_limits_that_hold_no_payload_name_the_joint() -> None:
    with virtual_node(payload__link=['fer_link8'], payload__mass=[40.0]) as rig:
        rig.wait_until_controlled().run(2.0)
        assert 'limits_cannot_hold' in rig.flags
        assert 'fer_joint2' in rig.diagnostics['overloaded_joints'].split()


def test_a_push_is_held_until_readings_are_rejected() -> None:
    with virtual_node(**FLANGE) as rig:
        sensor = force_sensor(rig)
        rig.wait_until_controlled().wait_for_command(PUSHED, 1e-6)
        sensor.message.wrench.force.y = float('nan')
        rig.run(0.2)
        assert rig.newest_is(PUSHED, 1e-6), 'within the timeout'
        rig.run(1.8)
        assert rig.newest_is(GRAVITY, 1e-6)
        assert rig.flags == {'wrench_stale'}
        assert rig.diagnostics['state'] == 'degraded'
        assert rig.diagnostics['stale_wrenches'] == 'flange'
        assert rig.count('wrenches/not_finite') > 200


@pytest.mark.parametrize('active', [True, False])
def test_a_tare_counts_for_this_and_the_next_activation(*, active: bool) -> None:
    with virtual_node(**FLANGE) as rig:
        sensor = force_sensor(rig)
        rig.wait_until_controlled().wait_for_command(PUSHED, 1e-6)
        if not active:
            rig.node.trigger_deactivate()
        assert tare(rig) == (True, 'all sensors are zeroed')
        if active:
            rig.wait_for_command(GRAVITY, 1e-6)
            rig.node.trigger_deactivate()
        rig.node.trigger_activate()
        rig.run(1.0)
        assert rig.newest_is(GRAVITY, 1e-6)
        assert rig.diagnostics['tare/flange'].startswith('13 N, 0 N m, ')
        sensor.sending = False
        rig.run(1.0)
        assert tare(rig) == (False, 'flange: wrench_stale')
        rig.node.trigger_deactivate()
        rig.node.trigger_cleanup()
        assert tare(rig) == (False, 'the node is not configured')


def test_a_tare_is_answered_whose_node_is_deactivated() -> None:
    with virtual_node(**FLANGE) as rig:
        force_sensor(rig)
        rig.wait_until_controlled()
        response = Trigger.Response()
        pending = rig.services['/feedforward/tare'](Trigger.Request(), response)
        for _ in range(10):
            pending.send(None)
        assert tare(rig) == (False, 'another tare is in progress')
        rig.node.trigger_deactivate()
        with pytest.raises(StopIteration):
            pending.send(None)
        assert (response.success, response.message) == (False, 'the control is stopped')


@pytest.mark.parametrize('trigger', ['timer', 'joint_states'])
def test_efforts_are_added_once_limits_are_set_and_fade(trigger: str) -> None:
    added = np.array([-2.0, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0])  # one is above the limit
    topic = '/feedforward/additional_effort'
    with virtual_node(trigger=trigger, additional_effort__timeout=0.3) as rig:
        source = rig.repeat(topic, JointState(name=[JOINTS[3], JOINTS[0]], effort=[1.5, -9.0]))
        rig.wait_until_controlled().wait_for_command(GRAVITY)
        rig.run(0.5)
        assert not rig.subscriptions[topic]
        assert rig.newest_is(GRAVITY)
        for limits in ([1.0], [2.0]):
            assert rig.change(additional_effort__limits=limits).successful
        rig.run(2.0)
        assert len(rig.subscriptions[topic]) == 1
        assert rig.newest_is(GRAVITY + added)
        assert rig.flags == {'additional_effort_cut'}
        source.message.name = ['nose', JOINTS[0]]
        rig.run(2.0)
        assert rig.newest_is(GRAVITY)
        assert rig.count('additional_effort/unknown_joint') > 100
        assert rig.logged('additional_effort/unknown_joint')


def test_after_a_stall_the_efforts_of_the_watchdog_count() -> None:
    with virtual_node(hold_duration=0.5, ramp_duration=1.0) as rig:
        rig.wait_until_controlled().wait_for_command(GRAVITY)
        rig.time.stall(0.7)
        rig.publish('/effort_controller/commands/watchdog', Float64MultiArray(data=[0.0] * 7))
        since = len(rig.commands)
        rig.run(2.0)
        step = DEFAULT_RATE_LIMIT * LIMITS * 0.01
        np.testing.assert_allclose(rig.commands[since][1], np.clip(GRAVITY, -step, step))
        assert rig.newest_is(GRAVITY)
