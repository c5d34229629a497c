# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A process that commands the same efforts for ever.

``python -m support.ros.commander TOPIC RATE EFFORT...``
"""

import sys

import rclpy
from rclpy.qos import QoSProfile
from std_msgs.msg import Float64MultiArray

from rnea_ros.ros import PeriodicSchedule


def main() -> None:
    topic, *numbers = sys.argv[1:]
    rate, *efforts = map(float, numbers)
    rclpy.init(args=[])
    node = rclpy.create_node('commander')
    publisher = node.create_publisher(Float64MultiArray, topic, QoSProfile(depth=1))
    schedule = PeriodicSchedule(1.0 / rate)
    while True:
        schedule.wait()
        publisher.publish(Float64MultiArray(data=efforts))


if __name__ == '__main__':
    main()
