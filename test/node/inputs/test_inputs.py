# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Payloads, sensors, additional efforts, several joint-state publishers, over DDS."""

import time
from typing import Any

import numpy as np
import pytest

import rnea_ros
from support.ros.fake_robot import (
    GRAVITY,
    JOINTS,
    MODEL,
    POSE,
    FakeRobot,
    assert_rate,
    fake_robot,
    node,
)
from support.ros.ros_process import NO_ROS, new_domain_id, ros_node, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)
from lifecycle_msgs.msg import Transition
from rclpy import get_rmw_implementation_identifier
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from rnea_ros.node.configuration import JOINT_STATES
from rnea_ros.ros import PolledSubscription

pytestmark = pytest.mark.ros

PUSH = (3.0, -4.0, 12.0)
PUSHED = MODEL.inverse_dynamics(
    POSE, np.zeros(7), np.zeros(7), {'fer_link8': rnea_ros.Wrench(force=PUSH)}
)
FLANGE = (
    '-p wrench_inputs.names:=[flange] -p wrench_inputs.flange.topic:=ft/wrench '
    '-p wrench_inputs.flange.deadband_force:=0.0 -p wrench_inputs.flange.deadband_torque:=0.0 '
    '-p wrench_inputs.flange.timeout:=1.0 -p wrench_inputs.flange.fade:=0.2 '
    '-p wrench_inputs.flange.tare_duration:=1.0 '
)


class Sensor:
    """
    A topic that repeats one message at 200 Hz.

    :param robot: whose node publishes
    :param kind: of the message
    :param topic: its name
    """

    def __init__(self, robot: FakeRobot, kind: Any, topic: str) -> None:
        self._node = robot.node
        self.message = kind()
        self.sending = True
        self._publisher = self._node.create_publisher(kind, topic, 5)
        self._node.create_timer(0.005, self._send)

    def _send(self) -> None:
        if self.sending:
            self.message.header.stamp = self._node.get_clock().now().to_msg()
            self._publisher.publish(self.message)


def force_sensor(robot: FakeRobot, link: str, force: tuple[float, ...]) -> Sensor:
    from geometry_msgs.msg import WrenchStamped

    sensor = Sensor(robot, WrenchStamped, 'ft/wrench')
    sensor.message.header.frame_id = link
    pushed = sensor.message.wrench.force
    pushed.x, pushed.y, pushed.z = force
    return sensor


def imu(robot: FakeRobot, up: tuple[float, ...]) -> Sensor:
    from sensor_msgs.msg import Imu

    sensor = Sensor(robot, Imu, 'imu')
    sensor.message.header.frame_id = 'fer_link0'
    sensor.message.orientation_covariance[0] = -1.0
    felt = sensor.message.linear_acceleration
    felt.x, felt.y, felt.z = up
    return sensor


# Payloads


def test_a_payload_set_while_active_is_blended(robot: FakeRobot, domain_id: int) -> None:
    loaded = MODEL.with_payload('fer_link8', 3.0, (0.0, 0.0, 0.1)).gravity_torques(POSE)
    with node(domain_id, '-p payload.blend_duration:=0.5'):
        assert wait_until(lambda: robot.steady(GRAVITY))
        began = time.time()
        results = robot.set_parameters(
            payload__link=['fer_link8'], payload__mass=[3.0], payload__com=[0.0, 0.0, 0.1]
        )
        assert all(result.successful for result in results)
        assert wait_until(lambda: robot.steady(loaded))
        since = [(stamp, effort) for stamp, effort in list(robot.efforts) if stamp > began]
        assert_rate(since, np.abs(loaded - GRAVITY) / 0.5 + 1e-6)
        robot.set_parameters(payload__link=[''])
        assert wait_until(lambda: robot.steady(GRAVITY))


def test_what_cannot_be_is_rejected_and_nothing_changes(robot: FakeRobot, domain_id: int) -> None:
    with node(domain_id, '-p payload.link:=[fer_link8] -p payload.mass:=[1.0]'):
        held = MODEL.with_payload('fer_link8', 1.0).gravity_torques(POSE)
        assert wait_until(lambda: robot.steady(held))
        for name, value, said in (
            ('payload__mass', [-1.0], 'payload.mass: -1.0 is not between 0 and 10000'),
            ('payload__mass', [1.0, 2.0], 'payload.mass: [1.0, 2.0] has 2 values, not 1'),
            ('payload__link', ['nose'], "payload.link: 'nose' is not a link"),
            ('payload__inertia', [1.0, 0.0, 0.0, 1.0, 0.0, 9.0], 'triangle inequality'),
            ('friction__coulomb', [-2.0], 'friction.coulomb'),
            ('friction__model', 'sticky', "'sticky' is none of none, urdf, parameters"),
            ('armature', [0.1], 'armature: cannot be changed while active'),
        ):
            robot.assert_rejected(name, value, said)
            assert robot.steady(held), name
        response = robot.call(Trigger, 'feedforward/tare', Trigger.Request())
        assert not response.success
        assert response.message == 'the node has no force-torque sensor'


def test_limits_that_hold_no_payload_name_the_joint(robot: FakeRobot, domain_id: int) -> None:
    with node(domain_id, '-p payload.link:=[fer_link8] -p payload.mass:=[40.0]'):
        assert wait_until(lambda: 'limits_cannot_hold' in robot.diagnostics.get('flags', ''))
        assert 'fer_joint2' in robot.diagnostics['overloaded_joints']
        robot.assert_safe()


# Force-torque sensors


def test_a_push_is_held_until_readings_are_rejected(robot: FakeRobot, domain_id: int) -> None:
    sensor = force_sensor(robot, 'fer_link8', PUSH)
    with node(domain_id, FLANGE):
        assert wait_until(lambda: robot.steady(PUSHED, 1e-6))
        sensor.message.wrench.force.y = float('nan')
        assert wait_until(lambda: robot.steady(GRAVITY, 1e-6))
        assert wait_until(lambda: 'wrench_stale' in robot.diagnostics.get('flags', ''))
        assert wait_until(lambda: robot.diagnostics['stale_wrenches'] == 'flange')
        assert int(robot.diagnostics['count/wrenches/not_finite']) > 0
        robot.wait_for_state('degraded')
        robot.assert_safe()


def test_the_load_of_an_inline_sensor_is_not_a_push(robot: FakeRobot, domain_id: int) -> None:
    weighed = MODEL.internal_wrench(POSE, np.zeros(7), np.zeros(7), 'fer_link7')
    # What the links behind exert on the sensor: the sensor holds them.
    force_sensor(robot, 'fer_link7', tuple(-value for value in np.asarray(weighed.force).tolist()))
    inline = '-p wrench_inputs.flange.placement:=inline -p wrench_inputs.flange.max_torque:=50.0'
    with node(domain_id, FLANGE + inline):
        held = rnea_ros.Wrench(torque=np.asarray(weighed.torque))
        expected = MODEL.inverse_dynamics(POSE, np.zeros(7), np.zeros(7), {'fer_link7': held})
        assert wait_until(lambda: robot.steady(expected, 1e-6))


def test_an_inactive_node_tares_for_the_next_activation(
    robot: FakeRobot, domain_id: int
) -> None:
    sensor = force_sensor(robot, 'fer_link8', PUSH)
    with node(domain_id, FLANGE):
        assert wait_until(lambda: robot.steady(PUSHED, 1e-6))
        # A stall of this process makes the readings stale for a moment.
        answers = (robot.call(Trigger, 'feedforward/tare', Trigger.Request()) for _ in range(20))
        assert robot.change_state(Transition.TRANSITION_DEACTIVATE)
        assert any(response.success for response in answers)
        assert robot.change_state(Transition.TRANSITION_ACTIVATE)
        assert wait_until(lambda: robot.steady(GRAVITY, 1e-6))
        assert wait_until(lambda: robot.diagnostics['tare/flange'].startswith('13 N, 0 N m, '))
        robot.assert_safe()
        sensor.sending = False
        assert wait_until(lambda: robot.diagnostics.get('stale_wrenches') == 'flange')
        response = robot.call(Trigger, 'feedforward/tare', Trigger.Request())
        assert not response.success
        assert response.message == 'flange: wrench_stale'


@pytest.mark.parametrize(('options', 'said'), [
    (FLANGE + '-p wrench_inputs.flange.link:=nose', "no link 'nose'"),
    (FLANGE + '-p wrench_inputs.flange.colour:=red', 'no such parameter'),
])
def test_bad_options_are_named(robot: FakeRobot, domain_id: int, options: str, said: str) -> None:
    with node(domain_id, options) as process:
        process.wait_for(said)
        assert not robot.commands


@pytest.mark.parametrize(('options', 'transition'), [
    (FLANGE + '-p wrench_inputs.flange.topic:=joint_states', 'configure'),
    ('-p speed_scaling_topic:=joint_states', 'activate'),
])
def test_a_topic_that_has_another_type_is_named(
    robot: FakeRobot, domain_id: int, options: str, transition: str
) -> None:
    if get_rmw_implementation_identifier() != 'rmw_fastrtps_cpp':
        pytest.skip('only Fast DDS rejects a second type')
    with node(domain_id, options) as process:
        process.wait_for(f'cannot {transition}: Failed to create subscription')
        assert 'Traceback' not in process.output
        assert not robot.commands


# The base


def test_a_base_tilts_gravity_until_the_imu_stops(robot: FakeRobot, domain_id: int) -> None:
    sensor = imu(robot, (3.0, 0.0, 9.0))
    up = np.array([3.0, 0.0, 9.0])
    tilted = MODEL.with_gravity(-9.81 * up / np.linalg.norm(up)).gravity_torques(POSE)
    options = '-p base_sensor.topic:=imu -p base_sensor.timeout:=1.0 -p base_sensor.fade:=0.2'
    with node(domain_id, options):
        assert wait_until(lambda: robot.steady(tilted, 1e-3))
        sensor.sending = False
        assert wait_until(lambda: 'base_stale' in robot.diagnostics.get('flags', ''))
        assert wait_until(lambda: robot.steady(GRAVITY, 1e-6))
        robot.assert_safe()


TOPIC = '/feedforward/additional_effort'


@pytest.mark.parametrize('trigger', ['timer', 'joint_states'])
def test_efforts_are_added_once_limits_are_set_and_fade_when_they_stop(
    robot: FakeRobot, domain_id: int, trigger: str
) -> None:
    from sensor_msgs.msg import JointState

    message = JointState(name=[JOINTS[3], JOINTS[0]], effort=[1.5, -9.0])
    added = np.array([-2.0, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0])  # one is above the limit
    publisher = robot.node.create_publisher(JointState, TOPIC, 1)
    options = f'-p trigger:={trigger} -p additional_effort.timeout:=0.5'
    with node(domain_id, options) as process:
        assert wait_until(lambda: robot.steady(GRAVITY))
        assert robot.node.count_subscribers(TOPIC) == 0
        for limits in ([1.0], [2.0]):
            (result,) = robot.set_parameters(additional_effort__limits=limits)
            assert result.successful
        timer = robot.node.create_timer(0.01, lambda: publisher.publish(message))
        assert wait_until(lambda: robot.steady(GRAVITY + added))
        assert wait_until(lambda: robot.diagnostics.get('flags') == 'additional_effort_cut')
        message.name = ['nose', JOINTS[0]]
        assert wait_until(
            lambda: int(robot.diagnostics.get('count/additional_effort/unknown_joint', 0)) > 0
        )
        process.wait_for('additional_effort/unknown_joint')
        assert wait_until(lambda: robot.steady(GRAVITY))
        timer.cancel()
        robot.assert_safe()


def test_what_several_publishers_send_between_two_ticks_all_comes() -> None:
    with ros_node(new_domain_id()) as node:
        topic = '/joint_states'
        publishers = [node.create_publisher(JointState, topic, 1) for _ in range(4)]
        states: PolledSubscription[JointState] = PolledSubscription(
            node, JointState, topic, JOINT_STATES
        )
        assert wait_until(
            lambda: all(publisher.get_subscription_count() for publisher in publishers)
        )
        time.sleep(0.2)
        for number in range(12):
            publishers[number % 4].publish(JointState(name=[f'joint_{number}']))
            time.sleep(0.01)
        names = [message.name[0] for message in states.take_all()]
        assert names == [f'joint_{number}' for number in range(12)]
        states.destroy()


def test_joints_of_two_publishers_are_merged_and_none_goes_stale() -> None:
    domain_id = new_domain_id()
    with fake_robot(domain_id, rate=100.0) as robot:
        robot.sending = False
        messages = [
            JointState(name=list(joints), position=list(positions), velocity=[0.0] * len(joints))
            for joints, positions in ((JOINTS[:4], POSE[:4]), (JOINTS[4:], POSE[4:]))
        ]
        publishers = [robot.node.create_publisher(JointState, 'joint_states', 1) for _ in messages]

        def send() -> None:
            # Both within one tick of the node, in the same order each time.
            for publisher, message in zip(publishers, messages, strict=True):
                message.header.stamp = robot.node.get_clock().now().to_msg()
                publisher.publish(message)

        robot.node.create_timer(0.01, send)
        with node(domain_id, '-p rate:=50.0'):
            robot.wait_until_controlled()
            ages = []
            for _ in range(10):
                robot.diagnostics.clear()
                assert wait_until(lambda: 'joint_states_age' in robot.diagnostics)
                ages.append(float(robot.diagnostics['joint_states_age']))
                assert robot.controlled
                assert 'count/joint_states_stale' not in robot.diagnostics
            assert min(ages) < 0.1
