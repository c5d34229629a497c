# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Sends a feedforward node everything that it listens to, good and bad, as chance will have it."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
import itertools
import os
import threading
from typing import Any

from geometry_msgs.msg import WrenchStamped
import numpy as np
from numpy.typing import NDArray
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from rnea_ros.ros import PeriodicSchedule
from rnea_ros.ros.rclpy_internals import ROS_ERROR
from support.chaos.messages import Descriptions, Known, Motions, corrupted
from support.chaos.requests import REQUESTS, Requests
from support.chaos.sensors import Imus, States, Wrenches

Array = NDArray[np.float64]

RATE = 250.0
"""Messages and requests a second, Hz."""

MAX_AT_ONCE = 50

RARE = {'thousands': 0.025, 'very': 0.025, 'cancel': 0.3, 'set-point': 0.3}
"""Chance of kinds that take the node long to read, or that end a motion, among the others."""

BYTES = os.environ.get('ROS_DISTRO') != 'humble'
"""Whether bytes that are no message are sent: Humble allocates as much memory as they claim."""

STREAM_EVERY = 10
"""Messages and requests between two set-points of a stream: they come 50 times a second."""

STREAM = 'a stream of set-points'
STREAM_CHANCE = 0.02
"""Chance that a stream begins, each time that a set-point could be sent."""


@dataclass(frozen=True)
class Stream:
    """
    A topic that the node listens to.

    :param name: the topic
    :param kind: type of the messages
    :param makers: of messages
    :param publisher: on the topic
    :param weight: its share of the messages
    :param good: the share of messages in it that count
    """

    name: str
    kind: Any
    makers: Any
    publisher: Any
    weight: float
    good: float


class Chaos:
    """
    Sends at :data:`RATE`, in a thread of its own, from start to end.

    Requests are sent only while ``requests.asking`` is set: a node that is not active takes
    parameters that it rejects while it is. Positions that jump are sent only while ``jumping`` is
    set too: a node that has just come, or that stood still for seconds, cannot know that a
    position jumps.

    :param node: publishes and asks; spun elsewhere
    :param known: what is known of the robot
    :param measured: where it is
    :param contact: topic of a force-torque sensor without other subscribers
    :param inline: topic of one that the robot has
    :param imu: topic of the base's
    :param seed: of everything
    """

    def __init__(
        self, node: Any, known: Known, measured: Callable[[], Array], *, contact: str, inline: str,
        imu: str, seed: int,
    ) -> None:
        self.sent: Counter[str] = Counter()
        self.jumping = False
        self.failure: BaseException | None = None
        self._rng = rng = np.random.default_rng(seed)
        self._measured = measured
        self.requests = Requests(node, rng)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)

        def stream(
            name: str, kind: Any, makers: Any, weight: float, good: float, qos: Any = 10
        ) -> Stream:
            publisher = node.create_publisher(kind, name, qos)
            return Stream(name, kind, makers(known, rng), publisher, weight, good)

        self._streams = [
            stream('joint_states', JointState, States, 0.35, 0.2),
            stream('feedforward/joint_trajectory', JointTrajectory, Motions, 0.12, 0.04),
            stream(contact, WrenchStamped, Wrenches, 0.2, 0.7),
            stream(inline, WrenchStamped, Wrenches, 0.1, 0.0), stream(imu, Imu, Imus, 0.2, 0.7),
            stream('robot_description', String, Descriptions, 0.03, 0.0, latched),
        ]
        motions = self._streams[1]
        self._motions: Motions = motions.makers
        self._motion_publisher = motions.publisher
        self._set_points: Iterator[Any] = iter(())
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name='chaos', daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def unsent(self) -> set[str]:
        """What was never sent, of all kinds but those that take the node long to read."""
        kinds = {f'{stream.name}: bytes' for stream in self._streams if BYTES}
        kinds |= {STREAM, *REQUESTS}
        for stream in self._streams:
            makers = {'malformed': stream.makers.malformed}
            if stream.good:
                makers['valid'] = stream.makers.valid
            kinds |= {
                f'{stream.name}: {word}: {kind}'
                for word, each in makers.items()
                for kind in each
                if RARE.get(kind.split()[0], 1.0) > 0.1
            }
        return kinds - set(self.sent) - set(self.requests.sent)

    def end(self) -> None:
        """Cease."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        schedule = PeriodicSchedule(1.0 / RATE)
        missed, number = 0, itertools.count()
        try:
            while not self._ended.is_set():
                schedule.wait()
                # What a stall held up comes in a burst.
                due, missed = 1 + schedule.missed - missed, schedule.missed
                for _ in range(min(due, MAX_AT_ONCE)):
                    with suppress(ROS_ERROR):  # Fast DDS gives up sending after 0.1 s
                        self._act()
                        if next(number) % STREAM_EVERY == 0:
                            self._send_set_point()
        except Exception as error:  # the test's own thread fails over it
            self.failure = error

    def _act(self) -> None:
        chance = self._rng.random()
        if chance < 0.08 and BYTES:
            self._send_bytes()
        elif chance < 0.098:
            self.requests.make(self._rng.random())
        else:
            self._send_message()

    def _send_set_point(self) -> None:
        """Go on with the stream of set-points; now and then begin one."""
        message = next(self._set_points, None)
        if message is not None:
            self._motion_publisher.publish(message)
            self.sent[STREAM] += 1
        elif self._rng.random() < STREAM_CHANCE:
            self._set_points = self._motions.stream(self._measured())

    def _stream(self) -> Stream:
        weights = [stream.weight for stream in self._streams]
        return self._streams[self._rng.choice(len(weights), p=weights)]

    def _maker(self, makers: Any) -> tuple[str, Callable[[Array], Any]]:
        kinds = [kind for kind in makers if self._rng.random() < RARE.get(kind.split()[0], 1.0)]
        kind = str(self._rng.choice(kinds))
        return kind, makers[kind]

    def _send_message(self) -> None:
        stream = self._stream()
        good = self._rng.random() < stream.good
        kind, make = self._maker(stream.makers.valid if good else stream.makers.malformed)
        if kind == 'a jump' and not (self.jumping and self.requests.asking):
            return
        stream.publisher.publish(make(self._measured()))
        self.sent[f'{stream.name}: {"valid" if good else "malformed"}: {kind}'] += 1

    def _send_bytes(self) -> None:
        """Send what is no message; bytes that by chance are one are left out."""
        stream = self._stream()
        _, make = self._maker(stream.makers.malformed)
        data = corrupted(serialize_message(make(self._measured())), self._rng)
        try:
            deserialize_message(data, stream.kind)
        except Exception:
            stream.publisher.publish(data)
            self.sent[f'{stream.name}: bytes'] += 1
