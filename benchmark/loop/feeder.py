# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Feeds arms: joint states and a wrench for each, at a rate, and notes when commands come.

It is the nodes ``effort_controller`` too, which take the commands and name their joints. When a
command came is what DDS says, so that it may be taken a while later.
"""

from __future__ import annotations

import argparse
from array import array
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
import sys
import threading
import time
from typing import Any

from geometry_msgs.msg import Vector3, Wrench, WrenchStamped
import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from .inbox import Inbox
from .motion import FORCE, JOINTS, LINK, MOVING_JOINT, TORQUE, motion
from .pace import asked_to_end, pace

SLOWNESS = 1.001
"""Two clocks never agree: with a period so much longer, every phase between two loops occurs."""

ROOM = 1000
"""Commands that wait to be noted."""


class FedArm:
    """
    One arm's topics.

    :param namespace: in which they are
    """

    def __init__(self, namespace: str) -> None:
        self.node = rclpy.create_node('effort_controller', namespace=namespace)
        self.node.declare_parameter('joints', list(JOINTS))
        self._state = JointState(
            name=list(JOINTS), velocity=array('d', [0.0] * 7), effort=array('d', [0.0] * 7)
        )
        self._wrench = WrenchStamped(
            wrench=Wrench(force=_vector(FORCE), torque=_vector(TORQUE))
        )
        self._wrench.header.frame_id = LINK
        self._states = self.node.create_publisher(JointState, 'joint_states', 10)
        self._wrenches = self.node.create_publisher(WrenchStamped, 'wrench', 10)
        self.commands = Inbox(self.node, Float64MultiArray, '~/commands', ROOM)
        self.commanded = False

    def send(self, position: array[float], now: int) -> None:
        """
        Publish a state, and the wrench.

        :param position: rad
        :param now: wall time, ns
        """
        state, wrench = self._state, self._wrench
        state.position = position
        for stamp in (state.header.stamp, wrench.header.stamp):
            stamp.sec, stamp.nanosec = divmod(now, 1_000_000_000)
        self._states.publish(state)
        self._wrenches.publish(wrench)


class Notes:
    """Times of sent states and received commands, and the values of the commands."""

    def __init__(self) -> None:
        self._monotonic, self._wall = time.monotonic(), time.time_ns()
        self.sent = array('q')
        self._received = array('q')
        self._values = array('d')

    def note(self, message: Any, info: dict[str, Any]) -> None:
        """Note a command."""
        # Not every implementation of DDS has the time of receipt; all have the time of sending.
        self._received.append(info['received_timestamp'] or info['source_timestamp'])
        self._values.append(message.data[MOVING_JOINT])

    def save(self, path: Path) -> None:
        """Write all to a file, times as monotonic time in s."""
        np.savez(
            path,
            sent=self._monotonic_times(self.sent),
            received=self._monotonic_times(self._received),
            commanded=np.array(self._values),
        )

    def _monotonic_times(self, wall: array[int]) -> Any:
        return self._monotonic + 1e-9 * (np.array(wall, dtype=np.int64) - self._wall)


def feed(arms: Sequence[FedArm], rate: float, end: threading.Event, notes: Notes | None) -> None:
    """
    Feed arms until the end.

    :param arms: to feed
    :param rate: Hz
    :param end: set when it is over
    :param notes: of the first arm, None for none
    """
    positions = [array('d', row) for row in motion().positions.tolist()]
    for number, _ in enumerate(pace(SLOWNESS / rate, end)):
        position = positions[number % len(positions)]
        for index, arm in enumerate(arms):
            now = time.time_ns()
            if notes is not None and not index:
                notes.sent.append(now)
            arm.send(position, now)
        for index, arm in enumerate(arms):
            for message, info in arm.commands.take():
                if not arm.commanded:
                    arm.commanded = True
                    if all(other.commanded for other in arms):
                        print(f'commanded {time.monotonic()}', flush=True)
                if notes is not None and not index:
                    notes.note(message, info)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until asked to end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rate', type=float, required=True, help='Hz')
    parser.add_argument('--namespaces', nargs='+', default=['/'], help='of the arms')
    parser.add_argument('--notes', type=Path, help='file to write; without it nothing is noted')
    options = parser.parse_args(arguments)
    end = asked_to_end()
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    arms = [FedArm(namespace) for namespace in options.namespaces]
    executor = SingleThreadedExecutor()
    for arm in arms:
        executor.add_node(arm.node)

    def answer() -> None:
        with suppress(ExternalShutdownException):
            executor.spin()

    answering = threading.Thread(target=answer)
    answering.start()
    notes = Notes() if options.notes else None
    print('ready', flush=True)
    feed(arms, options.rate, end, notes)
    executor.shutdown()
    answering.join()
    if notes is not None:
        notes.save(options.notes)
    for arm in arms:
        arm.node.destroy_node()
    rclpy.try_shutdown()
    return 0


def _vector(values: Sequence[float]) -> Vector3:
    x, y, z = values
    return Vector3(x=x, y=y, z=z)


if __name__ == '__main__':
    sys.exit(main())
