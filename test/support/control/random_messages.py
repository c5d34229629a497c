# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Messages of every input of the control loop as bytes: valid, invalid and random ones."""

from array import array
from collections.abc import Callable, Sequence

from geometry_msgs.msg import WrenchStamped
import numpy as np
from numpy.typing import ArrayLike, NDArray
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Imu, JointState

from rnea_ros.ros import set_seconds

Array = NDArray[np.float64]
Maker = Callable[[], bytes]

BAD_VALUES = (np.nan, np.inf, -np.inf)
AT_REST = (0.0, 0.0, 9.81)


class Queue:
    """What a topic has received and nobody has taken."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []

    def take_all(self) -> list[bytes]:
        """Return the messages, oldest first, and keep none."""
        messages, self.messages = self.messages, []
        return messages


def joint_state(
    stamp: float, names: Sequence[str], q: ArrayLike = (), qd: ArrayLike = (),
    effort: ArrayLike | None = None,
) -> bytes:
    """Return a sensor_msgs/JointState; a stamp of 0 counts as none."""
    q, qd, effort = (
        array('d', np.asarray(() if part is None else part, float).tobytes())
        for part in (q, qd, effort)
    )
    message = JointState(name=list(names), position=q, velocity=qd, effort=effort)
    set_seconds(message.header.stamp, stamp)
    return bytes(serialize_message(message))


def wrench(stamp: float, frame: str, force: Sequence[float]) -> bytes:
    """Return a geometry_msgs/WrenchStamped without a torque."""
    message = WrenchStamped()
    set_seconds(message.header.stamp, stamp)
    message.header.frame_id = frame
    part = message.wrench.force
    part.x, part.y, part.z = map(float, force)
    return bytes(serialize_message(message))


def imu(
    stamp: float, frame: str, turn: float = 0.0, felt: Sequence[float] | None = AT_REST,
    w: float | None = None,
) -> bytes:
    """Return a sensor_msgs/Imu: angular velocity about x, an accelerometer, a quaternion's w."""
    message = Imu()
    set_seconds(message.header.stamp, stamp)
    message.header.frame_id = frame
    message.angular_velocity.x = float(turn)
    if felt is None:
        message.linear_acceleration_covariance[0] = -1.0
    else:
        part = message.linear_acceleration
        part.x, part.y, part.z = map(float, felt)
    if w is None:
        message.orientation_covariance[0] = -1.0
    else:
        message.orientation.w = w
    return bytes(serialize_message(message))


class BadMessages:
    """
    Messages of which none may change a command.

    :param names: of all joints, of which a joint state names each
    :param links: of the robot; the first has the IMU, the last a force-torque sensor
    """

    def __init__(
        self, rng: np.random.Generator, names: Sequence[str], links: Sequence[str]
    ) -> None:
        self._rng, self._names, self._links = rng, list(names), links

    def _one_of(self, *makers: Maker) -> bytes:
        return makers[self._rng.integers(len(makers))]()

    def _bad(self) -> float:
        return float(self._rng.choice(BAD_VALUES))

    def _stamp(self, now: float) -> float:
        """Return a time that is too old, or in the future."""
        return now + float(self._rng.choice((-5.0, -0.5, 0.5, 5.0)))

    def corrupted(self, cdr: bytes) -> bytes:
        """Return bytes that are not a message: cut off, random, or of a length that none has."""
        kind, size = self._rng.integers(3), len(cdr)
        if kind == 0:
            return cdr[: self._rng.integers(size)]
        if kind == 1:
            return cdr[:4] + self._rng.bytes(size)
        at = 12  # the length of the frame's name comes after the stamp
        return cdr[:at] + b'\xff\xff\xff\x7f' + cdr[at + 4 :] + bytes(70_000)

    def joint_state(self, now: float, q: Array, qd: Array) -> bytes:
        """Return a joint state that is rejected as a whole, or names no joint of the robot."""
        names, false, spoiled = self._names, q + 0.01, q.copy()
        spoiled[0] = self._bad()
        return self._one_of(
            lambda: joint_state(now, names, false[1:], qd),
            lambda: joint_state(now, names, false, qd[1:]),
            lambda: joint_state(now, names, false, qd, q[1:]),
            lambda: joint_state(now, [*names, names[0]], [*false, 0.0], [*qd, 0.0]),
            lambda: joint_state(now, names, spoiled, qd),
            lambda: joint_state(now, names, false, spoiled),
            lambda: joint_state(now, names, q),
            lambda: joint_state(self._stamp(now), names, q, qd),
            lambda: joint_state(now, names), lambda: joint_state(now, ['a', 'b'], (np.nan, 1e300)),
            lambda: self.corrupted(joint_state(now, names, q, qd)),
        )

    def wrench(self, now: float) -> bytes:
        """Return a reading that is rejected."""
        tip = self._links[-1]
        return self._one_of(
            lambda: wrench(now, tip, (self._bad(), 0.0, 0.0)),
            lambda: wrench(now, tip, (0.0, -1e300, 0.0)),
            lambda: wrench(now, 'nowhere', AT_REST),
            lambda: wrench(now, self._links[-2], AT_REST),
            lambda: wrench(self._stamp(now), tip, AT_REST),
            lambda: self.corrupted(wrench(now, tip, AT_REST)),
        )

    def imu(self, now: float) -> bytes:
        """Return a message that is rejected."""
        root = self._links[0]
        return self._one_of(
            lambda: imu(now, root, felt=(self._bad(), 0.0, 9.81)),
            lambda: imu(now, root, felt=(1e3, 0.0, 0.0)),
            lambda: imu(now, root, felt=(0.0, 0.0, 0.0)), lambda: imu(now, root, felt=None),
            lambda: imu(now, root, turn=100.0), lambda: imu(now, root, w=2.0),
            lambda: imu(now, self._links[-1]), lambda: imu(now, 'nowhere'),
            lambda: imu(self._stamp(now), root), lambda: self.corrupted(imu(now, root)),
        )

    def effort(self, now: float, joints: Sequence[str]) -> bytes:
        """Return additional efforts that are rejected as a whole."""
        first = joints[:1]
        return self._one_of(
            lambda: joint_state(now, ['tail'], effort=(1.0,)),
            lambda: joint_state(now, [*first, *first], effort=(1.0, 1.0)),
            lambda: joint_state(now, first, effort=(1.0, 1.0)),
            lambda: joint_state(now, first, effort=(self._bad(),)),
            lambda: joint_state(self._stamp(now), first, effort=(1.0,)),
            lambda: self.corrupted(joint_state(now, first, effort=(1.0,))),
        )
