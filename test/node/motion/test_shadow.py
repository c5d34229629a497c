# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The node with the reference of a trajectory controller, over real DDS."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from support.control.trajectory_controller import NO_CONTROL_MSGS
from support.ros.fake_robot import GRAVITY, JOINTS, MODEL, POSE, FakeRobot, node
from support.ros.ros_process import NO_ROS, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('control_msgs', reason=NO_CONTROL_MSGS)
pytestmark = pytest.mark.ros

MOVING = (0.02, 0.1, -0.1, 0.1, 0.05, 0.1, -0.1)
ACCELERATION = (1.0, -2.0, 1.5, 2.0, -1.0, 0.5, 3.0)
SHADOW = '-p mode:=feedforward -p reference_source:=controller_state -p reference_timeout:=1.0 '


class Controller:
    """A trajectory controller that publishes at 100 Hz; its position creeps and never rests."""

    def __init__(self, robot: FakeRobot, topic: str) -> None:
        from control_msgs import msg as messages

        self.message = messages.JointTrajectoryControllerState(joint_names=list(JOINTS))
        self.message.reference.positions = list(POSE)
        self.message.reference.velocities = list(MOVING)
        self.message.reference.accelerations = list(ACCELERATION)
        self.publishes_speed = hasattr(self.message, 'speed_scaling_factor')
        self.sending = True
        self.creeping = True
        self._node = robot.node
        self._publisher = robot.node.create_publisher(type(self.message), topic, 10)
        robot.node.create_timer(0.01, self._send)

    def _send(self) -> None:
        if not self.sending:
            return
        if self.creeping:
            self.message.reference.positions[0] += 1e-12
        self.message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(self.message)


@contextmanager
def shadowed(
    robot: FakeRobot, domain_id: int, options: str = ''
) -> Iterator[tuple[Controller, Any]]:
    controller = Controller(robot, 'joint_trajectory_controller/controller_state')
    with node(domain_id, SHADOW + options) as process:
        robot.wait_until_controlled()
        yield controller, process


def effort(speed: float = 1.0) -> Any:
    qd, qdd = speed * np.array(MOVING), speed**2 * np.array(ACCELERATION)
    return MODEL.inverse_dynamics(POSE, qd, qdd)


def test_a_controllers_motion_counts_at_its_speed(robot: FakeRobot, domain_id: int) -> None:
    with shadowed(robot, domain_id) as (controller, _):
        assert wait_until(lambda: robot.steady(effort(), 1e-6))
        if controller.publishes_speed:
            controller.message.speed_scaling_factor = 0.5
            assert wait_until(lambda: robot.steady(effort(0.5), 1e-6))
            assert wait_until(lambda: robot.diagnostics.get('speed_scaling') == '0.500')
        controller.creeping = False
        assert wait_until(lambda: robot.steady(GRAVITY, 1e-6))
        robot.assert_safe()


def test_a_silent_controller_is_flagged_until_back(robot: FakeRobot, domain_id: int) -> None:
    with shadowed(robot, domain_id) as (controller, process):
        assert wait_until(lambda: robot.steady(effort(), 1e-6))
        controller.sending = False
        assert wait_until(lambda: 'reference_stale' in robot.diagnostics.get('flags', ''))
        assert wait_until(lambda: robot.steady(GRAVITY, 1e-6))
        assert wait_until(lambda: float(robot.diagnostics['controller_state_age']) > 0.9)
        controller.sending = True
        assert wait_until(lambda: robot.steady(effort(), 1e-6))
        robot.assert_safe()
        assert 'fault' not in process.output


def test_bad_references_are_counted_and_not_followed(robot: FakeRobot, domain_id: int) -> None:
    with shadowed(robot, domain_id) as (controller, process):
        assert wait_until(lambda: robot.steady(effort(), 1e-6))
        for field, value, reason in (
            ('positions', [float('nan')] * 7, 'not_finite'),
            ('positions', [9.0] * 7, 'position_limit'), ('velocities', [0.0] * 6, 'wrong_size'),
        ):
            good = getattr(controller.message.reference, field)
            setattr(controller.message.reference, field, value)
            process.wait_for(f'controller_state rejected: {reason}')
            key = f'count/controller_state/{reason}'
            assert wait_until(lambda k=key: int(robot.diagnostics.get(k, '0')) > 0)  # type: ignore[misc]
            assert wait_until(lambda: robot.steady(GRAVITY, 1e-6))
            setattr(controller.message.reference, field, good)
        robot.assert_safe()


def test_a_trajectory_beside_a_controller_is_rejected(robot: FakeRobot, domain_id: int) -> None:
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    publisher = robot.node.create_publisher(JointTrajectory, 'feedforward/joint_trajectory', 1)
    with shadowed(robot, domain_id) as (_, process):
        assert wait_until(lambda: publisher.get_subscription_count() > 0)
        publisher.publish(JointTrajectory(
            joint_names=list(JOINTS), points=[JointTrajectoryPoint(positions=list(POSE))]
        ))
        process.wait_for('trajectory rejected: other_source: reference_source is controller_state')
        assert wait_until(lambda: robot.steady(effort(), 1e-6))


def test_another_topic_may_be_named(robot: FakeRobot, domain_id: int) -> None:
    controller = Controller(robot, 'scaled_controller/controller_state')
    options = '-p controller_state_topic:=scaled_controller/controller_state'
    with node(domain_id, SHADOW + options):
        assert wait_until(lambda: robot.steady(effort(), 1e-6))
        assert controller.sending
