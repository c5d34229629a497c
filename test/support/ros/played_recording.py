# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A recording on live topics: robot description, and joint states faster than their stamps."""

from array import array
from collections.abc import Iterator
from contextlib import contextmanager
import threading
import time
from typing import Any

from support.ros.ros_process import ros_node


@contextmanager
def played(
    recorded: Any, urdf: str, domain_id: int, speed: float, laps: int = 1
) -> Iterator[None]:
    """
    Publish a recording once there is a subscription, until the end of the block.

    :param recorded: a recording whose times begin at 0
    :param urdf: text of the robot description
    :param domain_id: DDS domain
    :param speed: ratio of the time of the stamps to real time
    :param laps: how many times the recording is played
    """
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from sensor_msgs.msg import JointState
    from std_msgs.msg import String

    done = threading.Event()

    def play(states: Any) -> None:
        while states.get_subscription_count() == 0 and not done.is_set():
            time.sleep(0.05)
        start, rows = time.monotonic(), len(recorded.time)
        for row in range(laps * rows):
            lap, k = divmod(row, rows)
            t = recorded.time[k] + lap * (recorded.time[-1] + recorded.time[1])
            late = time.monotonic() - (start + t / speed)
            start += max(late, 0.0)  # no bursts after a stall
            if done.wait(max(-late, 0.0)):
                return
            message = JointState(
                name=list(recorded.names), position=array('d', recorded.position[k]),
                velocity=array('d', recorded.velocity[k]), effort=array('d', recorded.effort[k]),
            )
            message.header.stamp.sec = 100 + int(t)
            message.header.stamp.nanosec = round(1e9 * (t % 1.0))
            states.publish(message)

    with ros_node(domain_id) as node:
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        publisher = node.create_publisher(String, 'robot_description', latched)
        publisher.publish(String(data=urdf))
        states = node.create_publisher(JointState, 'joint_states', 10)
        player = threading.Thread(target=play, args=(states,))
        player.start()
        try:
            yield
        finally:
            done.set()
            player.join()
