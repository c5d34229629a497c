# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Send target poses to the node ``feedforward`` in mode cartesian_impedance: a square."""

import argparse
import sys
import time

from geometry_msgs.msg import PoseStamped
import rclpy
from rclpy.utilities import remove_ros_args

SIDES = ((0.1, 0.0), (0.0, 0.1), (-0.1, 0.0), (0.0, -0.1))  # x, y in the link's axes, m
SECONDS = 2.0  # for a side; at 0.25 m/s a target takes half of it


def main() -> None:
    """Move a link along its own axes, from where it is; it keeps its orientation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('link', help='the link that the springs hold: cartesian_impedance.link')
    link = parser.parse_args(remove_ros_args(sys.argv)[1:]).link
    rclpy.init()
    node = rclpy.create_node('cartesian_target')
    publisher = node.create_publisher(PoseStamped, 'feedforward/target_pose', 1)
    end = time.monotonic() + 60.0
    while not publisher.get_subscription_count():
        if time.monotonic() > end:
            sys.exit('cartesian_target: no node feedforward')
        rclpy.spin_once(node, timeout_sec=0.1)
    target = PoseStamped()  # its orientation is no rotation
    target.header.frame_id = link  # converted when it arrives; '': the root link
    for x, y in SIDES:
        target.pose.position.x, target.pose.position.y = x, y
        publisher.publish(target)
        print(f'{link}: {x:+.1f} {y:+.1f} m sent', flush=True)
        time.sleep(SECONDS)
    node.destroy_node()
    rclpy.shutdown()


if __name__ == '__main__':
    main()
