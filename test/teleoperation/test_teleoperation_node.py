# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The node teleoperation as a process, between two arms made of topics."""

from typing import Any

import numpy as np
import pytest

from support.ros.fake_robot import PANDA_ARM, POSE
from support.ros.ros_process import NO_ROS, RosProcess, ros_node, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)

from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from rnea_ros.ros import LATCHED

JOINTS = ('fer_joint2', 'fer_joint4')
NAMES = [f'fer_joint{number}' for number in range(1, 8)]
LIMIT = 6.0

PARAMETERS = (
    f'joints:=[{",".join(JOINTS)}]', 'rate:=100.0', 'align_speed:=1.0', 'timeout:=2.0',
    'feedback.source:=external_effort', f'feedback.limits:=[{LIMIT}]',
    'feedback.damping_rate:=0.0',
)


class TwoArms:
    """Both arms; the follower goes where the set-points say."""

    def __init__(self, node: Any) -> None:
        self.leader, self.follower = np.array(POSE), np.array(POSE) + 0.1
        self.setpoints: list[Any] = []
        self.efforts: list[Any] = []
        self._node, self._publishers = node, {}
        for arm in ('leader', 'follower'):
            description = node.create_publisher(String, f'{arm}/robot_description', LATCHED)
            description.publish(String(data=PANDA_ARM))
            for topic in (f'{arm}/joint_states', f'{arm}/feedforward/external_effort'):
                self._publishers[topic] = node.create_publisher(JointState, topic, 1)
        follow = 'follower/feedforward/joint_trajectory'
        node.create_subscription(JointTrajectory, follow, self._on_setpoint, 10)
        node.create_subscription(
            JointState, 'leader/feedforward/additional_effort', self.efforts.append, 10
        )
        node.create_timer(0.01, self._publish)

    def _on_setpoint(self, message: Any) -> None:
        self.setpoints.append(message)
        for name, position in zip(message.joint_names, message.points[0].positions, strict=True):
            self.follower[NAMES.index(name)] = position

    def _publish(self) -> None:
        external = [0.0, 4.0, 0.0, -9.0, 0.0, 0.0, 0.0]
        for topic, publisher in self._publishers.items():
            position = self.leader if topic.startswith('leader') else self.follower
            message = JointState(name=NAMES, effort=external)
            if topic.endswith('joint_states'):
                message = JointState(name=NAMES, position=position.tolist(), velocity=[0.0] * 7)
            message.header.stamp = self._node.get_clock().now().to_msg()
            publisher.publish(message)


@pytest.mark.ros
def test_two_arms_are_aligned_coupled_and_let_go(domain_id: int) -> None:
    parameters = [part for each in PARAMETERS for part in ('-p', each)]
    with ros_node(domain_id) as node:
        arms = TwoArms(node)
        with RosProcess(
            'rnea_ros.teleoperation.teleoperation_node', '--ros-args', *parameters,
            domain_id=domain_id,
        ) as process:
            process.wait_for('aligning')
            process.wait_for('coupled')
            expected = pytest.approx([4.0, -LIMIT], rel=1e-3)
            assert wait_until(lambda: any(
                sent.effort.tolist() == expected for sent in arms.efforts
            ))
            assert wait_until(lambda: np.abs(arms.follower - arms.leader)[[1, 3]].max() < 1e-6)
            assert tuple(arms.efforts[-1].name) == JOINTS
            setpoint = arms.setpoints[-1]
            assert tuple(setpoint.joint_names) == JOINTS
            (point,) = setpoint.points
            assert len(point.velocities) == len(point.accelerations) == len(JOINTS)
            assert np.abs(arms.follower - arms.leader)[0] == pytest.approx(0.1)  # not coupled
            process.interrupt()
            assert process.wait() == 0
            assert wait_until(lambda: not any(arms.efforts[-1].effort))


@pytest.mark.ros
def test_a_leader_that_publishes_positions_alone_is_followed(domain_id: int) -> None:
    given = (*PARAMETERS[:4], 'leader:=gello', 'leader_node:=false', 'leader_joints:=[a, b]')
    with ros_node(domain_id) as node:
        arms = TwoArms(node)
        leader = node.create_publisher(JointState, 'gello/joint_states', 1)
        message = JointState(
            name=['b', 'grip', 'a'], position=[-2.0, 0.0, 0.3], velocity=[np.nan, 0.0, 1e3]
        )
        node.create_timer(0.05, lambda: leader.publish(message))
        with RosProcess(
            'rnea_ros.teleoperation.teleoperation_node', '--ros-args',
            *(part for each in given for part in ('-p', each)), domain_id=domain_id,
        ) as process:
            process.wait_for('coupled')
            assert wait_until(lambda: arms.follower[[1, 3]] == pytest.approx([0.3, -2.0]))
            message.position[0] += 0.2
            assert wait_until(lambda: arms.follower[[1, 3]] == pytest.approx([0.3, -1.8]))
            process.interrupt()
            assert process.wait() == 0
