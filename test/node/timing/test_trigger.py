# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A node whose ticks joint states set off, and what it asks of the system, through ROS."""

import time
from typing import Any

import numpy as np
import pytest

from support.ros.fake_robot import GRAVITY, MODEL, POSE, FakeRobot, SimulatedTime, fake_robot, node
from support.ros.ros_process import NO_ROS, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)
pytestmark = pytest.mark.ros

TRIGGERED = '-p trigger:=joint_states'


def test_there_are_as_many_commands_as_joint_states_at_any_rate(domain_id: int) -> None:
    """
    The time would set off half as many.

    A machine that stalls may lose some: of 20 in a row, 16 must have one command each.
    """
    from sensor_msgs.msg import JointState

    from rnea_ros.ros import seconds

    came: list[Any] = []
    options = f'{TRIGGERED} -p rate:=20.0'
    with fake_robot(domain_id, rate=38.0) as robot, node(domain_id, options):
        robot.node.create_subscription(JointState, 'joint_states', came.append, 100)
        robot.wait_until_controlled()

        def as_many() -> bool:
            states = [seconds(message.header.stamp) for message in came[-21:]]
            commands = [stamp for stamp, _ in list(robot.efforts)]
            counts, _ = np.histogram(commands, states)
            return bool(np.count_nonzero(counts == 1) >= 16)

        assert wait_until(lambda: len(came) > 20 and as_many())


def test_a_command_is_made_from_the_joint_state_before(robot: FakeRobot, domain_id: int) -> None:
    with node(domain_id, TRIGGERED):
        assert wait_until(lambda: robot.steady(GRAVITY))
        robot.message.position[3] += 0.001
        pose = np.array(POSE)
        pose[3] += 0.001
        assert wait_until(lambda: robot.steady(MODEL.gravity_torques(pose)))


def test_ticks_go_on_where_joint_states_stop(robot: FakeRobot, domain_id: int) -> None:
    with node(domain_id, f'{TRIGGERED} -p use_sim_time:=true'):
        simulated = SimulatedTime(robot)
        robot.wait_until_controlled()
        robot.sending = False
        for _ in range(2):  # each time less than the timeout: no tick comes too late
            simulated.skip(3.0)
        robot.wait_for_state('fault')
        assert robot.diagnostics['reason'] == 'joint_states_stale'
        assert int(robot.diagnostics['untriggered_ticks']) > 0
        assert wait_until(lambda: not robot.newest.any())
        robot.assert_safe()


def test_invalid_bytes_of_a_joint_state_are_only_counted(robot: FakeRobot, domain_id: int) -> None:
    from sensor_msgs.msg import JointState

    publisher = robot.node.create_publisher(JointState, 'joint_states', 1)
    with node(domain_id):
        robot.wait_until_controlled()

        def malformed(size: int) -> int:
            publisher.publish(bytes((0, 1, 0, 0)) + bytes(range(size)))
            return int(robot.diagnostics.get('count/joint_states/malformed', '0'))

        for size in range(4, 100):
            malformed(size)
            time.sleep(0.005)
        assert wait_until(lambda: malformed(50) > 10)
        assert robot.controlled
        robot.assert_safe()


def test_a_rejection_by_the_system_is_logged_once(robot: FakeRobot, domain_id: int) -> None:
    with node(domain_id, '-p realtime.cpu_affinity:=[1023]') as process:
        process.wait_for('realtime.cpu_affinity [1023] is not in force')
        robot.wait_until_controlled()
        reports = robot.reports
        assert wait_until(lambda: robot.reports > reports + 5)
        assert process.output.count('is not in force') == 1
