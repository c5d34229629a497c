# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Send a goal to the node ``feedforward``, as MoveIt does, and wait for the result."""

import sys
import time

import rclpy
from rclpy.action import ActionClient
from rclpy.duration import Duration
from rclpy.wait_for_message import wait_for_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectoryPoint

try:
    from control_msgs.action import FollowJointTrajectory
except ModuleNotFoundError as missing:  # in an installation from PyPI
    sys.exit(f'send_goal: {missing}; send_trajectory.py does without it')

def main() -> int:
    """Move the last joint by 0.3 rad; return the error code of the result."""
    rclpy.init()
    node = rclpy.create_node('send_goal')
    client = ActionClient(node, FollowJointTrajectory, 'feedforward/follow_joint_trajectory')
    received, states = wait_for_message(JointState, node, 'joint_states', time_to_wait=60.0)
    if not (received and client.wait_for_server(timeout_sec=60.0)):
        sys.exit('no joint states, or no action server')
    positions = list(states.position)
    positions[-1] += 0.3
    goal = FollowJointTrajectory.Goal()
    goal.trajectory.joint_names = list(states.name)
    goal.trajectory.points = [JointTrajectoryPoint(
        positions=positions, velocities=[0.0] * len(positions),
        time_from_start=Duration(seconds=2.0).to_msg(),
    )]
    for _ in range(50):  # a node that has just started is not active yet
        sent = client.send_goal_async(goal)
        rclpy.spin_until_future_complete(node, sent)
        if sent.result().accepted:
            break
        time.sleep(0.2)
    else:
        sys.exit('rejected for 10 s: the log of the node gives the reason')
    finished = sent.result().get_result_async()
    rclpy.spin_until_future_complete(node, finished)
    result = finished.result().result
    print(f'error code {result.error_code} {result.error_string}')
    rclpy.shutdown()
    return int(result.error_code)


if __name__ == '__main__':
    sys.exit(main())
