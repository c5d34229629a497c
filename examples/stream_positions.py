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

RATE = 15.0  # points per second
PERIOD, DURATION = 4.0, 12.0  # of a swing, and of all, s
SWING = 0.3  # rad


def main() -> None:
    """Swing the last joint, then send the last point for a second."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node('stream_positions')
    states: dict[str, JointState] = {}  # the newest ones
    for topic in ('joint_states', 'feedforward/effort'):
        node.create_subscription(JointState, topic, lambda m, t=topic: states.update({t: m}), 1)
    publisher = node.create_publisher(JointTrajectory, 'feedforward/joint_trajectory', 1)

    def receive(duration: float) -> None:
        end = time.monotonic() + duration
        while (left := end - time.monotonic()) > 0.0:
            rclpy.spin_once(node, timeout_sec=left)

    def measured() -> list[float]:
        state = states['joint_states']
        return [state.position[list(state.name).index(name)] for name in names]

    with interrupts_held() as interrupted:  # Ctrl-C ends it between two points
        while not (interrupted() or (len(states) == 2 and publisher.get_subscription_count())):
            receive(0.1)
        if not interrupted():
            names = list(states['feedforward/effort'].name)  # the commanded joints
            *others, last = measured()
            began = time.monotonic()
            while (elapsed := time.monotonic() - began) < DURATION + 1.0 and not interrupted():
                angle = SWING * math.sin(math.tau * min(elapsed, DURATION) / PERIOD)
                point = JointTrajectoryPoint(positions=array('d', [*others, last + angle]))
                publisher.publish(JointTrajectory(joint_names=names, points=[point]))
                receive(random.uniform(0.7, 1.3) / RATE)
            print(f'{names[-1]} rests {1e3 * (measured()[-1] - last):+.1f} mrad from its start')
    rclpy.shutdown()


if __name__ == '__main__':
    main()
