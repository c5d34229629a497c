# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Trajectories through the node and over real DDS: efforts, rejections, starts, slower motions."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from support.ros.fake_robot import GRAVITY, JOINTS, POSE, FakeRobot, node
from support.ros.ros_process import NO_ROS, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)
pytestmark = pytest.mark.ros

EFFORT = np.array([1.0, -2.0, 3.0, -1.5, 0.5, -0.5, 0.25])

# A set-point counts for a minute, so that no stall of the machine ends it.
LASTING = '-p reference_timeout:=60.0 -p use_trajectory_effort:=true '

Send = Callable[..., None]


def sender(robot: FakeRobot) -> Send:
    """Return a function that publishes a trajectory to an active node."""
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    publisher = robot.node.create_publisher(JointTrajectory, 'feedforward/joint_trajectory', 10)
    robot.wait_until_controlled()
    assert wait_until(lambda: publisher.get_subscription_count() > 0)

    def send(*times: int, **fields: Sequence[float]) -> None:
        message = JointTrajectory(joint_names=list(JOINTS))
        for time in times:
            point = JointTrajectoryPoint(positions=list(POSE))
            point.time_from_start.sec = time
            for field, values in fields.items():
                setattr(point, field, list(values))
            message.points.append(point)
        publisher.publish(message)

    return send


def rejected(robot: FakeRobot, reason: str) -> bool:
    """Whether a trajectory was rejected for a reason, by the time the test's patience ends."""
    key = f'count/joint_trajectory/{reason}'
    return wait_until(lambda: int(robot.diagnostics.get(key, '0')) > 0)


def test_a_set_points_efforts_reach_command_and_topic(robot: FakeRobot, domain_id: int) -> None:
    from sensor_msgs.msg import JointState

    terms: list[Any] = []
    robot.node.create_subscription(
        JointState, 'feedforward/terms/trajectory', lambda message: terms.append(message), 10
    )
    with node(domain_id, LASTING + '-p mode:=feedforward'):
        sender(robot)(0, effort=EFFORT)
        assert wait_until(lambda: robot.steady(GRAVITY + EFFORT))
        assert wait_until(lambda: terms and list(terms[-1].effort) == EFFORT.tolist())
        robot.assert_safe()


def test_no_points_cancel_and_the_position_is_held(robot: FakeRobot, domain_id: int) -> None:
    with node(domain_id, LASTING + '-p mode:=feedback -p gains.kp:=[10.0]'):
        send = sender(robot)
        send(0, positions=np.add(POSE, 0.05), effort=EFFORT)
        assert wait_until(lambda: robot.steady(0.5 + EFFORT))
        send()
        assert wait_until(lambda: robot.steady(np.full(7, 0.5)))


def test_a_rejection_leaves_the_trajectory_in_force(robot: FakeRobot, domain_id: int) -> None:
    from trajectory_msgs.msg import JointTrajectory

    publisher = robot.node.create_publisher(JointTrajectory, 'feedforward/joint_trajectory', 1)
    with node(domain_id, f'{LASTING} -p mode:=feedforward') as process:
        send = sender(robot)
        send(0, effort=EFFORT)
        assert wait_until(lambda: robot.steady(GRAVITY + EFFORT))
        assert wait_until(lambda: publisher.get_subscription_count() > 0)
        publisher.publish(bytes((0, 1, 0, 0)) + bytes(8) + bytes((255,)) * 8)
        assert rejected(robot, 'malformed')
        process.wait_for(
            'trajectory rejected: malformed: byte 16: frame: 4294967295 bytes expected, 4 left'
        )
        send(0, velocities=[9.0] * 7)
        assert rejected(robot, 'velocity_limit')
        assert robot.steady(GRAVITY + EFFORT)
        send(0)
        assert wait_until(lambda: robot.steady(GRAVITY))


@pytest.mark.parametrize('from_desired', ['false', 'true'])
def test_the_way_begins_in_the_measured_or_the_desired_state(
    robot: FakeRobot, domain_id: int, from_desired: str
) -> None:
    options = (
        f'-p mode:=feedback -p gains.kp:=[10.0] -p interpolate_from_desired_state:={from_desired}'
    )
    with node(domain_id, LASTING + options):
        send = sender(robot)
        send(0, positions=np.add(POSE, 0.05))
        # The efforts and not the commands: where the test stalls, more of them are kept.
        assert wait_until(lambda: robot.efforts and np.allclose(robot.efforts[-1][1], 0.5))
        since = len(robot.efforts)
        # A minute long: the position stays, while the effort grows by 1 N m/s and shows that the
        # motion has begun.
        send(60, velocities=[0.0] * 7, effort=[60.0] * 4 + [12.0] * 3)
        assert wait_until(lambda: robot.efforts[-1][1][0] > 0.8)
        lowest = min(float(effort[0]) for _, effort in robot.efforts[since:])
        assert lowest > 0.49 if from_desired == 'true' else lowest < 0.2


def test_speed_scaling_is_followed_or_counted_as_bad(robot: FakeRobot, domain_id: int) -> None:
    from std_msgs.msg import Float64

    publisher = robot.node.create_publisher(Float64, 'speed_scaling', 10)
    options = (
        '-p mode:=feedback -p gains.kd:=[2.0] -p speed_scaling_topic:=speed_scaling '
        '-p speed_scaling_scale:=0.01'
    )
    with node(domain_id, LASTING + options):
        sender(robot)(0, velocities=[0.5] * 7)
        assert wait_until(lambda: robot.steady(np.full(7, 1.0)))
        assert wait_until(lambda: publisher.get_subscription_count() > 0)
        publisher.publish(Float64(data=40.0))
        assert wait_until(lambda: robot.steady(np.full(7, 0.4)))
        assert wait_until(lambda: robot.diagnostics['speed_scaling'] == '0.400')
        key = 'count/speed_scaling/out_of_range'
        publisher.publish(Float64(data=101.0))
        assert wait_until(lambda: robot.diagnostics.get(key) == '1')
        publisher.publish(Float64(data=float('nan')))
        assert wait_until(lambda: robot.diagnostics.get(key) == '2')
        assert robot.steady(np.full(7, 0.4))
