# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The faults of the control once more, through the node and over real DDS.

What must follow each of them is tested without ROS; here that it does when messages bring it.
"""

import signal
import time
from typing import Any

import numpy as np
import pytest

from support.ros.fake_robot import (
    GRAVITY,
    JOINTS,
    MODEL,
    NODE,
    PANDA_ARM,
    PATIENT,
    PERIOD,
    POSE,
    RAMPS,
    FakeRobot,
    fake_robot,
    node,
)
from support.ros.ros_process import NO_ROS, RosProcess, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)

from lifecycle_msgs.msg import Transition
from rclpy.duration import Duration
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

pytestmark = pytest.mark.ros

REST = np.zeros(7)

SOON = RAMPS + '-p joint_states_timeout:=2.0 '

KP = 5.0
FOLLOWING = f'-p mode:=feedforward -p gains.kp:=[{KP}] -p reference_timeout:=0.5 '


def wait_for_flag(robot: FakeRobot, flag: str, *, raised: bool = True) -> None:
    unknown = '' if raised else flag
    reached = wait_until(lambda: (flag in robot.diagnostics.get('flags', unknown)) is raised)
    assert reached, f'{flag}: {robot.diagnostics}'


def wait_for_count(robot: FakeRobot, key: str) -> None:
    counted = wait_until(lambda: int(robot.diagnostics.get(f'count/{key}', '0')) > 0)
    assert counted, f'{key} was not counted: {robot.diagnostics}'


# --- row 2: samples get lost ---------------------------------------------------------------------


def test_lost_joint_states_are_flagged_and_end_nothing(robot: FakeRobot, domain_id: int) -> None:
    with node(domain_id) as process:
        assert wait_until(lambda: robot.steady(GRAVITY))
        robot.sending = False
        wait_for_flag(robot, 'joint_states_late')
        robot.sending = True
        wait_for_flag(robot, 'joint_states_late', raised=False)
        robot.wait_for_state('active')
        assert robot.steady(GRAVITY)
        assert 'holding' not in process.output


# --- row 3: stamps -------------------------------------------------------------------------------


def test_joint_states_of_repeated_stamps_are_rejected(robot: FakeRobot, domain_id: int) -> None:
    with node(domain_id, SOON) as process:
        assert wait_until(lambda: robot.steady(GRAVITY))

        def spoil() -> None:
            robot.stamped = False
            robot.message.position[1] += 0.01

        robot.node.executor.create_task(spoil)  # between two joint states
        wait_for_count(robot, 'joint_states/stamp_not_newer')
        process.wait_for('fault (joint_states_stale)')
        robot.assert_safe()


# --- rows 4 and 6: frozen joint states, and set-points that stop ---------------------------------


class Commander:
    """Sends motions to the node."""

    def __init__(self, robot: FakeRobot) -> None:
        self._publisher = robot.node.create_publisher(
            JointTrajectory, 'feedforward/joint_trajectory', 10
        )
        assert wait_until(lambda: self._publisher.get_subscription_count() > 0)

    def send(self, q: Any, qd: Any, seconds: int, start: Any = None) -> None:
        point = JointTrajectoryPoint(positions=list(q), velocities=list(qd))
        point.time_from_start.sec = seconds
        message = JointTrajectory(joint_names=list(JOINTS), points=[point])
        if start is not None:
            message.header.stamp = start
        self._publisher.publish(message)


def test_joint_states_that_freeze_in_motion_are_flagged(robot: FakeRobot, domain_id: int) -> None:
    with node(domain_id, FOLLOWING):
        assert wait_until(lambda: robot.steady(GRAVITY))
        commander = Commander(robot)
        wait_for_flag(robot, 'joint_states_frozen', raised=False)
        assert 'count/joint_states_frozen' not in robot.diagnostics
        commander.send(np.array(POSE) + 0.5, REST, 60)
        wait_for_flag(robot, 'joint_states_frozen')
        robot.wait_for_state('degraded')
        robot.node.create_timer(0.004, lambda: move_a_little(robot))
        wait_for_flag(robot, 'joint_states_frozen', raised=False)
        robot.assert_safe()


def move_a_little(robot: FakeRobot) -> None:
    robot.message.position[6] += 1e-6


def test_set_points_that_stop_are_flagged_and_held(robot: FakeRobot, domain_id: int) -> None:
    q, qd = np.array(POSE) + 0.02, np.full(7, 0.3)
    moving = MODEL.inverse_dynamics(q, qd, REST) + KP * (q - POSE)
    held = MODEL.gravity_torques(q) + KP * (q - POSE)
    assert np.abs(moving - held).max() > 0.01
    with node(domain_id, FOLLOWING):
        assert wait_until(lambda: robot.steady(GRAVITY))
        commander = Commander(robot)
        timer = robot.node.create_timer(0.02, lambda: commander.send(q, qd, 0))
        assert wait_until(lambda: robot.steady(moving))
        timer.cancel()
        assert wait_until(lambda: robot.steady(held))
        wait_for_flag(robot, 'reference_stale')
        robot.wait_for_state('degraded')
        robot.assert_safe()


# --- row 8: positions that jump ------------------------------------------------------------------


def test_a_persistent_jump_ends_the_control(robot: FakeRobot, domain_id: int) -> None:
    with node(domain_id, SOON) as process:
        assert wait_until(lambda: robot.steady(GRAVITY))
        since = len(robot.commands)
        # Further than the joint's velocity limit allows within twice the timeout.
        robot.message.position[1] += 2.5
        wait_for_count(robot, 'joint_states/position_jump')
        process.wait_for('fault (joint_states_stale)')
        assert wait_until(lambda: robot.steady(REST, 0.0))
        # Gravity of the last valid position, then less and less of it.
        values = np.array([command for _, command in robot.commands[since:]])
        np.testing.assert_allclose(values[0], GRAVITY, atol=1e-6)
        assert (values * np.sign(GRAVITY) >= -1e-9).all()
        assert (np.diff(np.abs(values), axis=0) <= 1e-9).all()


# --- row 9: every way to be asked to stop --------------------------------------------------------


def test_a_shutdown_ramps_to_zero(robot: FakeRobot, domain_id: int) -> None:
    with node(domain_id):
        assert wait_until(lambda: robot.steady(GRAVITY))
        assert robot.change_state(Transition.TRANSITION_ACTIVE_SHUTDOWN)
        assert wait_until(lambda: robot.steady(REST, 0.0))
        robot.assert_safe()


# --- row 11: a tick that is blocked --------------------------------------------------------------


def test_blocked_ticks_are_counted_and_not_made_up_for(robot: FakeRobot, domain_id: int) -> None:
    blocked = 1.0
    with node(domain_id) as process:
        assert wait_until(lambda: robot.steady(GRAVITY))
        robot.wait_until_controlled()
        missed, began = missed_ticks(robot), time.time()
        process.send(signal.SIGSTOP)
        time.sleep(blocked)
        process.send(signal.SIGCONT)
        assert wait_until(lambda: missed_ticks(robot) - missed >= int(0.9 * blocked / PERIOD))
        sent = [at for at, _ in list(robot.commands) if at > began]
        # What was due before and after the stop, and a tick at each end of these two stretches.
        assert len(sent) <= (time.time() - began - blocked) / PERIOD + 5
        assert 'holding' not in process.output
        robot.assert_safe()


def missed_ticks(robot: FakeRobot) -> int:
    return int(robot.diagnostics.get('missed_ticks', '0'))


# --- row 12: times of two clocks -----------------------------------------------------------------


def test_a_motion_starts_at_the_wall_time_of_its_stamp(robot: FakeRobot, domain_id: int) -> None:
    q = np.array(POSE) + 0.05
    held = MODEL.gravity_torques(q) + KP * (q - POSE)
    with node(domain_id, FOLLOWING):
        assert wait_until(lambda: robot.steady(GRAVITY))
        commander = Commander(robot)
        now = robot.node.get_clock().now()
        commander.send(q, REST, 1, (now + Duration(seconds=2)).to_msg())
        assert wait_until(lambda: robot.steady(held))
        assert robot.node.get_clock().now() - now > Duration(seconds=3)


# --- row 17: an exception in a tick --------------------------------------------------------------


def test_exceptions_in_ticks_end_in_zeros_logged_once(robot: FakeRobot, domain_id: int) -> None:
    law = 'rnea_ros.feedforward.law.control_law:ControlLaw.effort'
    options = f'{NODE} {law} 200 --ros-args {PATIENT}'
    with RosProcess('support.ros.raising_node', *options.split(), domain_id=domain_id) as process:
        process.wait_for('fault (internal_error)')
        assert wait_until(lambda: robot.steady(REST, 0.0))
        assert any(np.allclose(command, GRAVITY, atol=1e-9) for _, command in robot.commands)
        robot.assert_safe()
        process.send(signal.SIGINT)
        assert process.wait() == 0
        assert process.output.count('RuntimeError: broken by a test') == 1
        assert process.output.count('Traceback') == 1


BROKEN_INERTIA = PANDA_ARM.replace('ixx="', 'ixx="1000', 1)


def test_an_impossible_inertia_is_rejected_where_asked_to(domain_id: int) -> None:
    strict = '-p strict_inertia:=true'
    with fake_robot(domain_id, urdf=BROKEN_INERTIA) as robot, node(domain_id, strict) as process:
        process.wait_for('cannot configure: link')
        assert 'triangle inequality' in process.output
        assert robot.commands == []


def test_joint_states_without_velocity_can_be_taken(robot: FakeRobot, domain_id: int) -> None:
    robot.message.velocity = []
    with node(domain_id, '-p differentiate_velocity:=true'):
        assert wait_until(lambda: robot.steady(GRAVITY))
