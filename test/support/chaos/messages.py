# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Random motions and descriptions for a feedforward node: to follow, and to reject."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
import math
import time
from typing import Any

from builtin_interfaces.msg import Duration, Time
import numpy as np
from numpy.typing import NDArray
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

Array = NDArray[np.float64]

NOT_NUMBERS = (math.nan, math.inf, -math.inf)


@dataclass(frozen=True)
class Known:
    """
    What chance knows of the robot.

    :param joints: names
    :param base: positions around which motions are requested, rad
    :param speeds: velocity limits, rad/s
    :param links: that a force-torque sensor may be on
    :param root: link on which the IMU is
    """

    joints: tuple[str, ...]
    base: Array
    speeds: Array
    links: tuple[str, ...]
    root: str


def _time(seconds: float) -> tuple[int, int]:
    whole = math.floor(seconds)
    return whole, min(int(1e9 * (seconds - whole)), 999_999_999)


def stamp(seconds: float) -> Time:
    sec, nanosec = _time(seconds)
    return Time(sec=sec, nanosec=nanosec)


def duration(seconds: float) -> Duration:
    sec, nanosec = _time(seconds)
    return Duration(sec=sec, nanosec=nanosec)


class Motions:
    """
    JointTrajectory messages.

    A motion that is to be followed asks for a third of the velocity limits.

    :param known: the robot
    :param rng: chance
    """

    share = 0.3
    reach = 0.5

    def __init__(self, known: Known, rng: np.random.Generator) -> None:
        self._known, self._rng = known, rng
        self.malformed: dict[str, Callable[[Array], Any]] = {
            'no joint names': lambda q: self._spoiled(q, joint_names=[]),
            'a joint twice': lambda q: self._spoiled(q, joint_names=[known.joints[0]] * 6),
            'an unknown joint': lambda q: self._spoiled(
                q, joint_names=['nose', *known.joints[1:]]
            ),
            'a joint too few': lambda q: self._spoiled(q, joint_names=list(known.joints[1:])),
            'a value too few': lambda q: self._spoiled_point(q, positions=q[1:]),
            'a velocity too many': lambda q: self._spoiled_point(q, velocities=[0.0] * 7),
            'no positions': lambda q: self._spoiled_point(q, positions=[]),
            'accelerations alone': self._accelerations_alone,
            'not a number': lambda q: self._spoiled_point(q, positions=self._not_numbers(q)),
            'velocity not a number': lambda q: self._spoiled_point(
                q, velocities=self._not_numbers(q)
            ),
            'huge': lambda q: self._spoiled_point(q, positions=q + rng.choice([1e9, -1e300], 6)),
            'beyond a limit': lambda q: self._spoiled_point(q, positions=q + 7.0),
            'times that go back': self._times_that_go_back,
            'a negative time': lambda q: self._spoiled_point(q, time_from_start=duration(-1.0)),
            'too fast': lambda q: self._spoiled_point(q, time_from_start=duration(0.01)),
            'ended long ago': self._ended,
            'a velocity at the end': self._velocity_at_end,
            'a start far away': self._start_far_away,
            'thousands of points, the last not a number': self._long_and_bad,
        }
        self.valid: dict[str, Callable[[Array], Any]] = {
            'motion': self.motion, 'motion in the future': self._motion_in_future,
            'set-point': self._set_point, 'cancel': lambda _: JointTrajectory(),
            'thousands of points': self._long,
        }

    def motion(self, q: Array) -> Any:
        """Return a motion from anywhere to one or a few places near the base pose."""
        known, rng = self._known, self._rng
        points, end = [], 0.0
        for _ in range(int(rng.integers(1, 4))):
            target = known.base + rng.uniform(-self.reach, self.reach, known.base.size)
            # A cubic is half as fast again in its middle; the robot may move meanwhile.
            end += 0.5 + float((1.5 * np.abs(target - q) / (self.share * known.speeds)).max())
            points.append(self._point(end, target))
            q = target
        return self._trajectory(points)

    def _point(self, at: float, q: Array) -> Any:
        return JointTrajectoryPoint(
            positions=q.tolist(), velocities=[0.0] * q.size, time_from_start=duration(at)
        )

    def _trajectory(self, points: list[Any], start: float = 0.0) -> Any:
        message = JointTrajectory(joint_names=list(self._known.joints), points=points)
        message.header.stamp = stamp(start)
        return message

    def _motion_in_future(self, q: Array) -> Any:
        message = self.motion(q)
        message.header.stamp = stamp(time.time() + float(self._rng.uniform(0.0, 0.5)))
        return message

    def _set_point(self, q: Array) -> Any:
        return self._trajectory([self._point(0.0, q + self._rng.uniform(-0.03, 0.03, q.size))])

    def stream(self, q: Array) -> Iterator[Any]:
        """Return set-points of a motion away and back, of which one is due every 20 ms."""
        count = int(self._rng.integers(20, 80))
        way = self._rng.uniform(-0.15, 0.15, q.size)
        for k in range(count):
            phase = 0.5 - 0.5 * math.cos(2.0 * math.pi * k / count)
            yield self._trajectory([self._point(0.0, q + phase * way)])

    def _many_points(self, q: Array) -> list[Any]:
        """Return thousands of points, 10 ms apart, that move slowly away and come back."""
        count = int(self._rng.integers(2000, 4000))
        way = self._rng.uniform(-0.3, 0.3, q.size)
        phases = 0.5 - 0.5 * np.cos(2.0 * math.pi * np.arange(1, count + 1) / count)
        return [self._point(1.0 + 0.01 * k, q + phase * way) for k, phase in enumerate(phases)]

    def _long(self, q: Array) -> Any:
        return self._trajectory(self._many_points(q))

    def _long_and_bad(self, q: Array) -> Any:
        points = self._many_points(q)
        points[-1].positions = self._not_numbers(q).tolist()
        return self._trajectory(points)

    def _not_numbers(self, q: Array) -> Array:
        spoiled = q.copy()
        spoiled[self._rng.integers(q.size)] = self._rng.choice(NOT_NUMBERS)
        return spoiled

    def _spoiled(self, q: Array, **fields: Any) -> Any:
        message = self.motion(q)
        for name, value in fields.items():
            setattr(message, name, value)
        return message

    def _spoiled_point(self, q: Array, **fields: Any) -> Any:
        message = self.motion(q)
        point = message.points[self._rng.integers(len(message.points))]
        for name, value in fields.items():
            setattr(point, name, list(value) if isinstance(value, np.ndarray) else value)
        return message

    def _accelerations_alone(self, q: Array) -> Any:
        return self._spoiled_point(q, velocities=[], accelerations=[0.0] * q.size)

    def _times_that_go_back(self, q: Array) -> Any:
        message = self.motion(q)
        message.points.append(self._point(0.1, q))
        return message

    def _ended(self, q: Array) -> Any:
        return self._trajectory([self._point(1.0, q)], start=time.time() - 100.0)

    def _velocity_at_end(self, q: Array) -> Any:
        message = self.motion(q)
        message.points[-1].velocities = [0.5] * q.size
        return message

    def _start_far_away(self, q: Array) -> Any:
        away = self._point(0.0, q + self._rng.choice([-1.0, 1.0], q.size))
        return self._trajectory([away, self._point(9.0, q)])


class Descriptions:
    """
    String messages on robot_description, none of which counts while the node is configured.

    :param known: the robot
    :param rng: chance
    """

    def __init__(self, known: Known, rng: np.random.Generator) -> None:
        del known
        self._rng = rng
        self.malformed: dict[str, Callable[[Array], Any]] = {
            'empty': lambda _: String(),
            'no XML': lambda _: String(data=bytes(rng.integers(32, 127, 500).tolist()).decode()),
            'no robot': lambda _: String(data='<robot name="nobody"/>'),
            'cut off': lambda _: String(data='<robot name="half"><link name="a"/><joint na'),
            'very long': lambda _: String(data='<' * int(rng.integers(1, 300_000))),
        }
        self.valid: dict[str, Callable[[Array], Any]] = {}


def corrupted(cdr: bytes, rng: np.random.Generator) -> bytes:
    """
    Return bytes that stand for a message but are none.

    :param cdr: a message as it goes over the wire
    """
    kind = int(rng.integers(5))
    if kind == 0:
        return rng.bytes(int(rng.integers(200)))
    if kind == 1:
        return cdr[: int(rng.integers(len(cdr)))]
    if kind == 2:
        return cdr[:4] + rng.bytes(max(len(cdr) - 4, 1))
    spoiled = bytearray(cdr)
    if kind == 3:
        at = 4 * int(rng.integers(1, max(len(cdr) // 4, 2)))
        spoiled[at : at + 4] = rng.choice([b'\xff\xff\xff\xff', b'\xff\xff\xff\x7f', b'\0\0\1\0'])
        return bytes(spoiled)
    for _ in range(int(rng.integers(1, 8))):
        spoiled[rng.integers(len(spoiled))] = rng.integers(256)
    return bytes(spoiled)
