# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Play the joint states of a recorded bag over DDS at their own pace, stamped anew.

Each sample is sent at the time that its own stamp gives it, counted from the first one. The order
of joints, and fields that were recorded as empty or as not a number, are sent as they are.
"""

from __future__ import annotations

import argparse
from array import array
from collections.abc import Sequence
from pathlib import Path
import sys
import time
from typing import Any

import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.utilities import remove_ros_args
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from ..preflight.recording import BagError, Sample, read_joint_states

LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)


def play(node: Any, samples: Sequence[Sample], topic: str, speed: float, wait: float) -> int:
    """
    Publish samples at their own pace.

    :param node: the node to publish from
    :param samples: in order of time
    :param topic: where to publish
    :param speed: 2 plays twice as fast
    :param wait: how long to wait for somebody to listen before the first sample, s
    :return: how many were sent
    """
    publisher = node.create_publisher(JointState, topic, 1)
    deadline = time.monotonic() + wait
    while publisher.get_subscription_count() == 0 and time.monotonic() < deadline:
        time.sleep(0.05)
    start = time.monotonic()
    for sample in samples:
        time.sleep(max(start + sample.time / speed - time.monotonic(), 0.0))
        message = JointState(
            name=list(sample.names),
            position=array('d', sample.position),
            velocity=array('d', sample.velocity),
            effort=array('d', sample.effort),
        )
        message.header.stamp = node.get_clock().now().to_msg()
        publisher.publish(message)
    return len(samples)


def main(args: list[str] | None = None) -> int:
    """Play a bag; return the exit code."""
    arguments = sys.argv if args is None else ['play_joint_states', *args]
    parser = argparse.ArgumentParser(prog='play_joint_states', description=__doc__)
    parser.add_argument('bag', type=Path, help='bag directory or file (.db3, .mcap, .bag)')
    parser.add_argument('--source-topic', help='recorded topic, where there are several')
    parser.add_argument('--topic', default='joint_states', help='topic to publish on')
    parser.add_argument('--urdf', type=Path, help='URDF to latch on robot_description')
    parser.add_argument('--speed', type=float, default=1.0, help='2 plays twice as fast')
    parser.add_argument('--wait', type=float, default=30.0, help='wait so long for a listener, s')
    options = parser.parse_args(remove_ros_args(arguments)[1:])
    if not options.speed > 0.0:
        parser.error(f'--speed {options.speed} is not positive')

    try:
        samples = list(read_joint_states(options.bag, options.source_topic))
    except BagError as error:
        print(f'play_joint_states: {error}', file=sys.stderr)
        return 1
    rclpy.init(args=arguments)
    node = rclpy.create_node('play_joint_states')
    latch = node.create_publisher(String, 'robot_description', LATCHED)
    if options.urdf is not None:
        latch.publish(String(data=options.urdf.read_text(encoding='utf-8')))
    print(f'{len(samples)} joint states, {samples[-1].time:.1f} s, waiting for a listener ...')
    try:
        sent = play(node, samples, options.topic, options.speed, options.wait)
        print(f'{sent} joint states sent')
    except KeyboardInterrupt:
        print('interrupted')
    node.destroy_node()
    rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
