# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Sends a trajectory of many points every few seconds, and prints when."""

from __future__ import annotations

import argparse
from array import array
from collections.abc import Sequence
import sys
import time

from builtin_interfaces.msg import Duration
import rclpy
from rclpy.signals import SignalHandlerOptions
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from .motion import JOINTS, POSE
from .pace import asked_to_end

POINTS = 10_000
STEP_NS = 1_000_000
"""Between two points, ns."""


def trajectory() -> JointTrajectory:
    """Return a trajectory that holds a pose: it changes no command."""
    still = array('d', [0.0] * len(JOINTS))
    points = [
        JointTrajectoryPoint(
            positions=array('d', POSE),
            velocities=still,
            accelerations=still,
            time_from_start=Duration(
                sec=number * STEP_NS // 1_000_000_000, nanosec=number * STEP_NS % 1_000_000_000
            ),
        )
        for number in range(POINTS)
    ]
    return JointTrajectory(joint_names=list(JOINTS), points=points)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until asked to end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--interval', type=float, required=True, help='s')
    options = parser.parse_args(arguments)
    end = asked_to_end()
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node('trajectories', start_parameter_services=False)
    publisher = node.create_publisher(JointTrajectory, 'feedforward/joint_trajectory', 1)
    message = trajectory()
    print('ready', flush=True)
    while not end.wait(options.interval):
        began = time.monotonic()
        publisher.publish(message)
        print(f'sent {began}', flush=True)
    node.destroy_node()
    rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
