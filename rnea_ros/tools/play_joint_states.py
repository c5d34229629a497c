# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Publish the joint states of a bag at their recorded pace, with new stamps.

The time between messages is that between the recorded stamps. The order of joints, empty fields
and NaN are published as recorded.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
import math
from pathlib import Path
import sys
import time
from typing import Any

from sensor_msgs.msg import JointState
from std_msgs.msg import String

from ..command_line import OneLineParser, tool
from ..live import live_node
from ..recordings import BagError, Sample, read_joint_states
from ..ros import LATCHED
from ..urdf import read_urdf
from .arguments import add_bag, positive


def play(node: Any, samples: Sequence[Sample], topic: str, speed: float, wait: float) -> int:
    """Publish samples at their pace times ``speed``, after at most ``wait``, s; return a count."""
    publisher = node.create_publisher(JointState, topic, 1)
    deadline = time.monotonic() + wait
    while publisher.get_subscription_count() == 0 and time.monotonic() < deadline:
        time.sleep(0.05)
    start = time.monotonic()
    for sample in samples:
        time.sleep(max(start + sample.time / speed - time.monotonic(), 0.0))
        message = JointState(
            name=list(sample.names), position=array('d', sample.position),
            velocity=array('d', sample.velocity), effort=array('d', sample.effort)
        )
        message.header.stamp = node.get_clock().now().to_msg()
        publisher.publish(message)
    return len(samples)


@tool
def main(args: list[str] | None = None) -> int:
    """Play a bag; return the exit code."""
    parser = OneLineParser(prog='play_joint_states', description=__doc__)
    add_bag(parser, 'recording', required=True)
    parser.add_argument('--source-topic', help='recorded topic, if the bag has several')
    parser.add_argument('--topic', default='joint_states', help='topic; joint_states')
    parser.add_argument('--urdf', type=Path, help='URDF to publish on robot_description')
    parser.add_argument('--speed', type=positive, default=1.0, help='2 plays twice as fast')
    parser.add_argument('--wait', type=float, default=30.0,
                        help='longest wait for a subscription, s; 30')
    options = parser.parse(args)
    if math.isnan(options.wait):
        parser.error('--wait is not a number')
    if not 1e-3 <= options.speed <= 1e3:
        parser.error(f'--speed {options.speed:g} is not between 0.001 and 1000')

    description = None if options.urdf is None else read_urdf(options.urdf)
    samples = list(read_joint_states(options.bag, options.source_topic))
    if not samples:
        raise BagError(f'{options.bag} has no joint state')
    with live_node('play_joint_states', options.ros_arguments) as live:
        node = live.node
        latch = node.create_publisher(String, 'robot_description', LATCHED)
        if description is not None:
            latch.publish(String(data=description))
        try:
            print(f'{len(samples)} joint states, {samples[-1].time:.1f} s, '
                  'waiting for a subscription ...')
            sent = play(node, samples, options.topic, options.speed, options.wait)
            print(f'{sent} joint states sent')
        except KeyboardInterrupt:
            print('interrupted')
    return 0


if __name__ == '__main__':
    sys.exit(main())
