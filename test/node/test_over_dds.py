# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""One node over real DDS: every topic and service is connected. Rules: in virtual time."""

from array import array
from collections.abc import Iterator
import signal
import time
from typing import Any, NamedTuple

import numpy as np
import pytest

import rnea_ros
from support.models.robots import ROOT
from support.ros.fake_robot import (
    GRAVITY,
    JOINTS,
    MODEL,
    POSE,
    FakeRobot,
    fake_controller,
    fake_robot,
    node,
)
from support.ros.node_observer import Onlooker
from support.ros.ros_process import NO_ROS, RosProcess, new_domain_id, ros_node, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)

from geometry_msgs.msg import PoseStamped, WrenchStamped
from lifecycle_msgs.msg import Transition
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.srv import (
    GetParameters,
    ListParameters,
    SetParameters,
    SetParametersAtomically,
)
from rclpy.parameter import Parameter
from rclpy.qos import ReliabilityPolicy
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64
from std_srvs.srv import Trigger

from rnea_ros.ros import trajectory_message

pytestmark = pytest.mark.ros

OPTIONS = (
    '-p wrench_inputs.names:=[flange] -p wrench_inputs.flange.topic:=ft/wrench '
    '-p wrench_inputs.flange.deadband_force:=0.0 '
    '-p base_sensor.topic:=imu -r imu:=base/imu '
    '-p additional_effort.limits:=[2.0] '
    '-p mode:=feedforward -p gains.kp:=[10.0] -p reference_timeout:=60.0 '
    '-p speed_scaling_topic:=speed_scaling -p external_effort.link:=fer_link8 '
    '-p cartesian_impedance.link:=fer_link8 '
)
COMMANDS = '/effort_controller/commands'
REST = np.zeros(7)
BEST_EFFORT, RELIABLE = ReliabilityPolicy.BEST_EFFORT, ReliabilityPolicy.RELIABLE


class Sensors:
    """A force-torque sensor without force, an IMU at rest, additional efforts of zero."""

    def __init__(self, robot: FakeRobot) -> None:
        self.wrench, self.imu = WrenchStamped(), Imu()
        self.wrench.header.frame_id, self.imu.header.frame_id = 'fer_link8', 'fer_link0'
        self.imu.orientation_covariance[0] = -1.0
        self.imu.linear_acceleration.z = 9.81
        self.added = JointState(name=[JOINTS[0], JOINTS[6]], effort=[0.0, 0.0])
        self._node = robot.node
        self._sources = [
            (message, robot.node.create_publisher(type(message), topic, 1))
            for message, topic in (
                (self.wrench, '/ft/wrench'), (self.imu, '/base/imu'),
                (self.added, '/feedforward/additional_effort'),
            )
        ]
        robot.node.create_timer(0.01, self._send)

    def _send(self) -> None:
        for message, source in self._sources:
            message.header.stamp = self._node.get_clock().now().to_msg()
            source.publish(message)


class Running(NamedTuple):
    robot: FakeRobot
    sensors: Sensors
    process: RosProcess


@pytest.fixture(scope='module')
def running() -> Iterator[Running]:
    """A node that has started by itself, shared by tests that leave it active at gravity."""
    domain_id = new_domain_id()
    with fake_robot(domain_id) as robot, node(domain_id, OPTIONS) as process:
        sensors = Sensors(robot)
        assert wait_until(lambda: robot.newest_is(GRAVITY, 1e-3)), process.output
        robot.wait_until_controlled()
        yield Running(robot, sensors, process)
        robot.assert_safe()


@pytest.fixture
def robot(running: Running) -> FakeRobot:
    return running.robot


def test_every_input_and_the_command_have_type_and_reliability(robot: FakeRobot) -> None:
    topics: Any = {
        '/joint_states': ('sensor_msgs/msg/JointState', BEST_EFFORT),
        '/ft/wrench': ('geometry_msgs/msg/WrenchStamped', BEST_EFFORT),
        '/base/imu': ('sensor_msgs/msg/Imu', BEST_EFFORT),
        '/feedforward/additional_effort': ('sensor_msgs/msg/JointState', BEST_EFFORT),
        f'{COMMANDS}/watchdog': ('std_msgs/msg/Float64MultiArray', BEST_EFFORT),
        '/feedforward/joint_trajectory': ('trajectory_msgs/msg/JointTrajectory', RELIABLE),
        '/feedforward/target_pose': ('geometry_msgs/msg/PoseStamped', RELIABLE),
        '/speed_scaling': ('std_msgs/msg/Float64', RELIABLE),
        '/robot_description': ('std_msgs/msg/String', RELIABLE),
    }

    def found() -> Any:
        return {
            topic: (info.topic_type, info.qos_profile.reliability)
            for topic in topics
            for info in robot.node.get_subscriptions_info_by_topic(topic)
            if info.node_name == 'feedforward'
        }

    assert wait_until(lambda: found() == topics), found()
    (info,) = robot.node.get_publishers_info_by_topic(COMMANDS)
    assert info.qos_profile.reliability == RELIABLE
    assert info.topic_type == 'std_msgs/msg/Float64MultiArray'


def test_a_message_of_each_sensor_changes_the_command(running: Running) -> None:
    robot, sensors, _ = running
    up = np.array([3.0, 0.0, 9.0])
    model = MODEL.with_gravity(-9.81 * up / np.linalg.norm(up))
    pushed = model.inverse_dynamics(
        POSE, REST, REST, {'fer_link8': rnea_ros.Wrench(force=(5.0, 0.0, 0.0))}
    )
    added = np.array([-1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5])
    felt = sensors.imu.linear_acceleration
    sensors.wrench.wrench.force.x, felt.x, felt.z = 5.0, 3.0, 9.0
    sensors.added.effort = [-1.5, 0.5]
    assert wait_until(lambda: robot.newest_is(pushed + added, 1e-3)), robot.newest
    sensors.wrench.wrench.force.x, felt.x, felt.z = 0.0, 0.0, 9.81
    sensors.added.effort = [0.0, 0.0]
    assert wait_until(lambda: robot.newest_is(GRAVITY, 1e-3)), robot.newest
    robot.call(Trigger, 'feedforward/tare', Trigger.Request())


def publisher(robot: FakeRobot, message: Any, topic: str) -> Any:
    """Return a publisher that the node has discovered."""
    made = robot.node.create_publisher(type(message), topic, 1)
    assert wait_until(lambda: made.get_subscription_count() > 0), topic
    return made


def test_trajectory_speed_scaling_and_malformed_bytes_arrive(robot: FakeRobot) -> None:
    q = np.array(POSE) + 0.02
    motion = trajectory_message(JOINTS, [0.0], [q], [REST], [REST])
    commander = publisher(robot, motion, '/feedforward/joint_trajectory')
    commander.publish(motion)
    held = MODEL.gravity_torques(q) + 10.0 * (q - POSE)
    assert wait_until(lambda: robot.newest_is(held, 1e-3)), robot.newest
    commander.publish(trajectory_message(JOINTS, [0.0], [POSE], [REST], [REST]))
    assert wait_until(lambda: robot.newest_is(GRAVITY, 1e-3))
    publisher(robot, Float64(), '/speed_scaling').publish(Float64(data=0.4))
    assert wait_until(lambda: robot.diagnostics.get('speed_scaling') == '0.400')
    states = publisher(robot, JointState(), '/joint_states')

    def malformed() -> bool:
        states.publish(bytes((0, 1, 0, 0)) + bytes(range(50)))
        return int(robot.diagnostics.get('count/joint_states/malformed', '0')) > 0

    assert wait_until(malformed)


def set_mode(robot: FakeRobot, mode: str, **others: Any) -> None:
    values = {'mode': mode} | {name.replace('__', '.'): value for name, value in others.items()}
    changes = [Parameter(name, value=value).to_parameter_msg() for name, value in values.items()]
    answer = robot.call(
        SetParameters, 'feedforward/set_parameters', SetParameters.Request(parameters=changes)
    )
    assert all(result.successful for result in answer.results), answer.results


def test_a_target_pose_pulls_the_arm_and_a_bad_one_is_counted(robot: FakeRobot) -> None:
    # At 100 Hz: stiffer springs of a light arm are softened.
    soft = [50.0, 50.0, 50.0, 2.0, 2.0, 2.0]
    set_mode(robot, 'cartesian_impedance', cartesian_impedance__stiffness=soft)
    message = PoseStamped()
    message.header.frame_id, message.pose.position.z = 'fer_link8', 0.01
    targets = publisher(robot, message, '/feedforward/target_pose')
    targets.publish(message)
    pulled = GRAVITY + MODEL.jacobian(POSE, 'fer_link8')[3:].T @ (0.0, 0.0, 50.0 * 0.01)
    assert wait_until(lambda: robot.newest_is(pulled, 1e-3)), robot.newest
    message.pose.orientation.w = 0.0
    targets.publish(message)
    counted = 'count/target_pose/not_unit_quaternion'
    assert wait_until(lambda: robot.diagnostics.get(counted) == '1')
    assert robot.newest_is(pulled, 1e-3)
    set_mode(robot, 'feedforward')
    assert wait_until(lambda: robot.newest_is(GRAVITY, 1e-3))


def test_every_output_comes_while_it_is_listened_to(robot: FakeRobot) -> None:
    robot.message.effort = array('d', GRAVITY)
    for topic, kind in (
        ('effort', JointState), ('terms/gravity', JointState), ('external_effort', JointState),
        ('wrench/flange', WrenchStamped), ('external_wrench', WrenchStamped),
    ):
        received: list[Any] = []
        robot.node.create_subscription(kind, f'feedforward/{topic}', received.append, 10)
        assert wait_until(lambda got=received: got), topic  # type: ignore[misc]
        if kind is WrenchStamped:
            assert received[0].header.frame_id == 'fer_link8'
        else:
            assert tuple(received[0].name) == JOINTS


def test_parameters_are_listed_read_and_set_together(robot: FakeRobot) -> None:
    def ask(kind: Any, name: str, **fields: Any) -> Any:
        return robot.call(kind, f'feedforward/{name}', kind.Request(**fields))

    changes = [
        Parameter(name, value=value).to_parameter_msg()
        for name, value in (('mode', 'feedback'), ('gains.kp', [1.0, -2.0]))
    ]
    result = ask(SetParametersAtomically, 'set_parameters_atomically', parameters=changes).result
    assert not result.successful
    assert result.reason.startswith('gains.kp: ')
    names = ask(ListParameters, 'list_parameters').result.names
    values = ask(GetParameters, 'get_parameters', names=names).values
    mode = values[names.index('mode')]
    assert mode.string_value == 'feedforward'
    assert {'rate', 'command_topic', 'robot_description', 'use_sim_time'} <= set(names)
    # All that was read is set while active, with one change.
    for mode.string_value in ('computed_torque', 'feedforward'):
        messages = [ParameterMessage(name=n, value=v) for n, v in zip(names, values, strict=True)]
        results = ask(SetParameters, 'set_parameters', parameters=messages).results
        assert [each.reason for each in results if not each.successful] == []
        assert wait_until(lambda: robot.diagnostics.get('mode') == mode.string_value)


def test_a_factor_of_gravity_is_commanded_at_once(robot: FakeRobot) -> None:
    for factor in (0.9, 1.0):
        change = Parameter('gravity_factor', value=[factor]).to_parameter_msg()
        request = SetParameters.Request(parameters=[change])
        (result,) = robot.call(SetParameters, 'feedforward/set_parameters', request).results
        assert result.successful
        expected = factor * GRAVITY
        assert wait_until(lambda expected=expected: robot.newest_is(expected, 1e-3))  # type: ignore[misc]


def test_the_lifecycle_services_end_a_life_and_begin_another(robot: FakeRobot) -> None:
    assert robot.change_state(Transition.TRANSITION_DEACTIVATE)
    assert wait_until(lambda: robot.newest_is(REST, 0.0))
    assert robot.change_state(Transition.TRANSITION_CLEANUP)
    assert wait_until(lambda: robot.change_state(Transition.TRANSITION_CONFIGURE))
    assert robot.change_state(Transition.TRANSITION_ACTIVATE)
    assert wait_until(lambda: robot.newest_is(GRAVITY, 1e-3))


# --- nodes of their own --------------------------------------------------------------------------


def test_a_signal_ramps_to_zero_and_ends_with_exit_code_0(domain_id: int) -> None:
    with fake_robot(domain_id) as robot, node(domain_id) as process:
        assert wait_until(lambda: robot.newest_is(GRAVITY)), process.output
        process.send(signal.SIGINT)
        process.send(signal.SIGTERM)
        assert process.wait() == 0
        assert wait_until(lambda: robot.newest_is(REST, 0.0))
        robot.assert_safe()


def test_a_second_signal_ends_the_way_to_the_rest_pose(domain_id: int) -> None:
    away = np.array(POSE) + 0.5
    options = f'{TO_REST} -p rest_pose:={away.tolist()} -p rest_speed:=0.02'.replace(', ', ',')
    with fake_robot(domain_id) as robot, node(domain_id, options) as process:
        assert wait_until(lambda: robot.newest_is(GRAVITY)), process.output
        robot.wait_until_controlled()
        process.send(signal.SIGINT)
        process.wait_for('moves to rest_pose in 25.')

        def ended() -> bool:
            process.send(signal.SIGINT)  # further ones, as soon as they count
            return 'not at rest_pose: another signal' in process.output

        assert wait_until(ended), process.output
        assert process.wait() == 0
        assert wait_until(lambda: robot.newest_is(REST, 0.0))
        robot.assert_safe()


def test_a_loop_that_hangs_without_a_watchdog_ends_in_zeros(domain_id: int) -> None:
    module = 'support.ros.hanging_node'
    with fake_robot(domain_id) as robot, node(domain_id, module=module) as process:
        assert wait_until(lambda: robot.newest_is(GRAVITY)), process.output
        process.send(signal.SIGUSR1)
        process.wait_for('RuntimeError: the control loop hangs for 0.9 s')
        process.wait_for('fault (internal_error)')
        assert wait_until(lambda: robot.newest_is(REST, 0.0))
        process.send(signal.SIGINT)
        assert process.wait() == 0
        robot.assert_safe()


def test_a_controller_that_is_back_is_asked_and_commanded(domain_id: int) -> None:
    def is_gravity(commands: Any) -> bool:
        return bool(commands) and np.allclose(commands[-1][1], GRAVITY, atol=1e-9)

    with fake_robot(domain_id, controller=False) as robot:
        with fake_controller(domain_id) as commands:
            process = node(domain_id)
            assert wait_until(lambda: is_gravity(commands)), process.output
        with process:
            assert wait_until(lambda: robot.diagnostics.get('effort_controller') == 'absent')
            with fake_controller(domain_id) as commands:
                assert wait_until(lambda: is_gravity(commands)), process.output


TO_REST = (
    '-p mode:=computed_torque -p gains.kp:=[400.0] -p gains.kd:=[40.0] '
    '-p constraints.goal_time:=60.0'
)
ARM = ('-p', f'urdf:={ROOT / "urdf/ur5e.urdf"}', '-p', f'extra_damping:={[20.0] * 6}')
LOCKSTEP = ['-p', 'lockstep:=true', '-p', 'publish_clock:=true', '-p', 'state_rate:=100.0']
IN_LOCKSTEP = '-p trigger:=joint_states -p use_sim_time:=true'
"""Simulated time waits for the node on a busy machine, where late ticks would throw the arm."""
PATIENT = ('-p', 'timeout:=1.0')
"""Machines stall: the watchdog must not take a node that lives for dead."""


def commands_since(seen: Onlooker, began: float) -> bool:
    """Return whether an effort was commanded after a time, s."""
    return any(sent > began and command.any() for sent, command in list(seen.commands))


def test_after_a_kill_the_effort_ends_and_a_new_node_controls(domain_id: int) -> None:
    pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')
    with (
        ros_node(domain_id) as observer,
        RosProcess(
            'rnea_ros.sim.simulated_robot', '--ros-args', *ARM, domain_id=domain_id
        ) as arm,
        RosProcess(
            'rnea_ros.watchdog.effort_watchdog', '--ros-args', *PATIENT, domain_id=domain_id
        ) as watchdog,
    ):
        seen = Onlooker(observer)
        with node(domain_id, '-p hold_duration:=60.0') as first:
            seen.wait_until_controlled()
            assert wait_until(lambda: np.abs(seen.newest).max() > 1.0)
            assert wait_until(lambda: seen.states.get('effort_watchdog') == 'watching')
            first.send(signal.SIGKILL)
            assert first.wait() == -signal.SIGKILL
        watchdog.wait_for('zero effort was commanded')
        assert wait_until(lambda: not seen.newest.any())
        seen.diagnostics, began = {}, time.time()
        with node(domain_id, '-p hold_duration:=60.0') as second:
            seen.wait_until_controlled()
            assert wait_until(lambda: commands_since(seen, began))
            second.send(signal.SIGTERM)
            assert second.wait() == 0, second.output
        assert wait_until(lambda: not seen.newest.any())
        for process in (first, second, watchdog, arm):
            assert 'Traceback' not in process.output


def test_ctrl_c_moves_an_arm_to_its_rest_pose_and_ramps_to_zero(domain_id: int) -> None:
    pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')
    rest = np.array([0.3, -1.8, 1.9, -1.6, -1.4, 0.2])
    options = f'{TO_REST} {IN_LOCKSTEP} -p rest_speed:=1.0 -p rest_pose:={rest.tolist()}'
    options = options.replace(', ', ',')
    errors: list[float] = []
    with (
        ros_node(domain_id) as observer,
        RosProcess(
            'support.ros.patient_robot', '--ros-args', *ARM[:2], *LOCKSTEP, domain_id=domain_id
        ) as arm,
    ):
        seen = Onlooker(observer)
        observer.create_subscription(
            JointState, 'joint_states',
            lambda state: errors.append(np.abs(np.array(state.position) - rest).max()), 100,
        )
        with node(domain_id, options) as process:
            seen.wait_until_controlled()
            assert wait_until(lambda: np.abs(seen.newest).max() > 1.0)
            assert errors[-1] > 0.2
            process.send(signal.SIGINT)
            assert process.wait() == 0
            assert 'is at rest_pose' in process.output, process.output
        assert min(errors) < 5e-3
        assert wait_until(lambda: not seen.newest.any())
        assert 'Traceback' not in arm.output
