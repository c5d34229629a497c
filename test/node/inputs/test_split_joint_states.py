# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Joint states that several publishers send: none is lost to another's over real DDS."""

from __future__ import annotations

import time

import pytest

from support.ros.fake_robot import JOINTS, POSE, fake_robot, node
from support.ros.ros_process import NO_ROS, new_domain_id, ros_node, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)

from sensor_msgs.msg import JointState

from rnea_ros.node.configuration import JOINT_STATES
from rnea_ros.ros import PolledSubscription

pytestmark = pytest.mark.ros


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
