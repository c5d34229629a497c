# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Stream positions to the node ``feedforward`` as a policy does: 15 Hz, uneven, without times."""

from array import array
import math
import random
import time

import rclpy
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from rnea_ros.interrupts import interrupts_held

RATE, SWING = 15.0, 0.3  # points per second; rad or m
PERIOD, DURATION = 4.0, 12.0  # of a swing, and of all, s


def main() -> None:
    """Swing the last joint, then send the last point for a second."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node('stream_positions')
    positions: dict[str, float] = {}
    newest: dict[str, list[str]] = {'joints': []}

    def take(states: JointState) -> None:
        positions.update(zip(states.name, states.position, strict=False))

    node.create_subscription(JointState, 'joint_states', take, 10)
    node.create_subscription(
        JointState, 'feedforward/effort', lambda m: newest.update(joints=list(m.name)), 1
    )
    publisher = node.create_publisher(JointTrajectory, 'feedforward/joint_trajectory', 1)
    began, start = math.inf, [0.0]
    with interrupts_held() as interrupted:  # Ctrl-C ends it between two points
        while not interrupted() and time.monotonic() < began + DURATION + 1.0:
            rclpy.spin_once(node, timeout_sec=0.01)
            joints = newest['joints']
            if not (joints and publisher.get_subscription_count() and {*joints} <= {*positions}):
                continue
            if began == math.inf:
                began = due = time.monotonic()
                start = [positions[joint] for joint in joints]
            if time.monotonic() > due:
                angle = SWING * math.sin(math.tau * min(due - began, DURATION) / PERIOD)
                q = array('d', [*start[:-1], start[-1] + angle])
                points = [JointTrajectoryPoint(positions=q)]
                publisher.publish(JointTrajectory(joint_names=joints, points=points))
                due += random.uniform(0.7, 1.3) / RATE
    if began < math.inf:
        print(f'{joints[-1]} went {1e3 * (positions[joints[-1]] - start[-1]):+.1f} mrad or mm')
    rclpy.shutdown()


if __name__ == '__main__':
    main()
