# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Send a trajectory to the node ``feedforward``: the last joint turns by 0.3 rad and back."""

import time

import rclpy
from rclpy.duration import Duration
from rclpy.wait_for_message import wait_for_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint


def main() -> None:
    """Send one trajectory of 4 s, from where the arm is."""
    rclpy.init()
    node = rclpy.create_node('send_trajectory')
    publisher = node.create_publisher(JointTrajectory, 'feedforward/joint_trajectory', 1)
    received, states = wait_for_message(JointState, node, 'joint_states', time_to_wait=60.0)
    assert received, 'no joint states'
    deadline = time.monotonic() + 60.0
    while publisher.get_subscription_count() == 0:  # DDS discovery
        assert time.monotonic() < deadline, 'no node feedforward'
        rclpy.spin_once(node, timeout_sec=0.1)
    there = list(states.position)
    there[-1] += 0.3
    rest = [0.0] * len(there)
    message = JointTrajectory(joint_names=list(states.name), points=[
        JointTrajectoryPoint(
            positions=positions, velocities=rest,
            time_from_start=Duration(seconds=seconds).to_msg(),
        )
        for seconds, positions in ((2.0, there), (4.0, list(states.position)))
    ])
    publisher.publish(message)  # stamp zero: it starts at once
    assert publisher.wait_for_all_acked(Duration(seconds=5.0))
    print(f'sent: {states.name[-1]} to {there[-1]:.3f} rad and back to {states.position[-1]:.3f}')
    rclpy.shutdown()


if __name__ == '__main__':
    main()
