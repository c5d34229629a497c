# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A process that commands the same efforts for ever.

``python -m support.ros.commander RATE EFFORT...``

After SIGUSR1 it commands zeros. SIGTERM ends it as a feedforward node ends: with zeros.
"""

import signal
import sys
import threading
import time

import rclpy
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import Float64MultiArray

from rnea_ros.ros import PeriodicSchedule


def main() -> None:
    rate, *efforts = map(float, sys.argv[1:])
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    end = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: end.set())
    node = rclpy.create_node('commander')
    publisher = node.create_publisher(
        Float64MultiArray, 'effort_controller/commands', QoSProfile(depth=1)
    )
    message = Float64MultiArray(data=efforts)
    zeros = [0.0] * len(efforts)
    signal.signal(signal.SIGUSR1, lambda *_: setattr(message, 'data', zeros))
    schedule = PeriodicSchedule(1.0 / rate)
    while not end.is_set():
        schedule.wait()
        publisher.publish(message)
    message.data = zeros
    publisher.publish(message)
    time.sleep(0.1)  # what was not taken yet is lost with its publisher
    node.destroy_node()
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
