# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Random messages for a feedforward node: such as it is to follow, and such as it is to reject."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
import math
import time
from typing import Any

from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import WrenchStamped
import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

Array = NDArray[np.float64]

FRAME = 'chaos'
"""Frame of every joint state made here; the robot's own have another."""

NOT_NUMBERS = (math.nan, math.inf, -math.inf)


@dataclass(frozen=True)
class Known:
    """
    What chance knows of the robot.

    :param joints: names
    :param base: positions around which motions are wanted, rad
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
            'motion': self.motion,
            'motion in the future': self._motion_in_future,
            'set-point': self._set_point,
            'cancel': lambda _: JointTrajectory(),
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
        return [
            self._point(1.0 + 0.01 * k, q + phase * way) for k, phase in enumerate(phases)
        ]

    def _long(self, q: Array) -> Any:
        return self._trajectory(self._many_points(q))

    def _long_and_bad(self, q: Array) -> Any:
        points = self._many_points(q)
        points[-1].positions = self._not_numbers(q)
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


class States:
    """
    JointState messages of a second publisher, of which none may make a difference.

    What is wrong with a position can be seen on it, or it is further off than any stall explains.
    A false position that could be true is a lie that no controller can tell, and so is a false
    velocity: they are left out.

    :param known: the robot
    :param rng: chance
    """

    def __init__(self, known: Known, rng: np.random.Generator) -> None:
        self._known, self._rng = known, rng
        names, n = list(known.joints), len(known.joints)
        self.malformed: dict[str, Callable[[Array], Any]] = {
            'a joint twice': lambda q: self._state([*names, names[0]], [*q, 0.0], [0.0] * (n + 1)),
            'a position too few': lambda q: self._state(names, q[1:], [0.0] * n),
            'a velocity too many': lambda q: self._state(names, q, [0.0] * (n + 1)),
            'an effort too few': lambda q: self._state(names, q, [0.0] * n, [0.0] * (n - 1)),
            'positions not numbers': lambda q: self._state(names, self._broken(q), [0.0] * n),
            'velocities not numbers': lambda q: self._state(names, q, self._broken(0.0 * q)),
            'no velocities': lambda q: self._state(names, q, []),
            'nothing': lambda _: self._state([], [], []),
            'names alone': lambda _: self._state(names, [], []),
            'a jump': self._jump,
            'old': lambda q: self._state(names, q, [0.0] * n, age=float(rng.uniform(1.0, 1e6))),
            'ahead of time': lambda q: self._state(
                names, q, [0.0] * n, age=-float(rng.uniform(1.0, 1e6))
            ),
        }
        self.valid: dict[str, Callable[[Array], Any]] = {
            'of other joints': lambda _: self._state(['left', ''], [math.nan, 1.0], [1e300, 0.0]),
            'of very many other joints': lambda _: self._state(
                [f'{rng.random()}' * 10 for _ in range(200)], [0.0] * 200, [0.0] * 200
            ),
        }

    def _state(
        self, names: list[str], q: Any, qd: Any, effort: Any = (), age: float = 0.0
    ) -> Any:
        message = JointState(
            name=names,
            position=array('d', q),
            velocity=array('d', qd),
            effort=array('d', effort),
        )
        message.header.frame_id = FRAME
        message.header.stamp = stamp(time.time() - age)
        return message

    def _broken(self, values: Array) -> Array:
        broken = values.copy()
        broken[self._rng.integers(values.size)] = self._rng.choice(NOT_NUMBERS)
        return broken

    def _jump(self, q: Array) -> Any:
        jumped = q.copy()
        way = self._rng.choice([50.0, 1e3, 1e9, 1e300]) * self._rng.uniform(1.0, 2.0)
        jumped[self._rng.integers(q.size)] += way * self._rng.choice([-1.0, 1.0])
        return self._state(list(self._known.joints), jumped, [0.0] * q.size)


class Wrenches:
    """
    WrenchStamped messages; those that count push no harder than a hand.

    :param known: the robot
    :param rng: chance
    """

    def __init__(self, known: Known, rng: np.random.Generator) -> None:
        self._known, self._rng = known, rng
        self.malformed: dict[str, Callable[[Array], Any]] = {
            'not a number': lambda _: self._wrench(x=float(rng.choice(NOT_NUMBERS))),
            'over the cap': lambda _: self._wrench(x=float(rng.choice([1e3, -1e300]))),
            'of an unknown link': lambda _: self._wrench(link='nose'),
            'of no link': lambda _: self._wrench(link=''),
            'of the root link': lambda _: self._wrench(link=known.root),
            'old': lambda _: self._wrench(age=float(rng.uniform(1.0, 1e6))),
            'ahead of time': lambda _: self._wrench(age=-float(rng.uniform(1.0, 1e6))),
        }
        self.valid: dict[str, Callable[[Array], Any]] = {'push': lambda _: self._wrench()}

    def _wrench(self, link: str | None = None, x: float | None = None, age: float = 0.0) -> Any:
        force, torque = self._rng.uniform(-4.0, 4.0, 3), self._rng.uniform(-0.5, 0.5, 3)
        message = WrenchStamped()
        message.header.stamp = stamp(time.time() - age)
        message.header.frame_id = self._known.links[0] if link is None else link
        wrench = message.wrench
        wrench.force.x, wrench.force.y, wrench.force.z = force.tolist()
        wrench.torque.x, wrench.torque.y, wrench.torque.z = torque.tolist()
        if x is not None:
            part = wrench.force if self._rng.random() < 0.5 else wrench.torque
            part.x = x
        return message


class Imus:
    """
    Imu messages; those that count are of a base that hardly moves.

    :param known: the robot
    :param rng: chance
    """

    def __init__(self, known: Known, rng: np.random.Generator) -> None:
        self._known, self._rng = known, rng
        self.malformed: dict[str, Callable[[Array], Any]] = {
            'not a number': lambda _: self._imu(z=float(rng.choice(NOT_NUMBERS))),
            'over the cap': lambda _: self._imu(z=float(rng.choice([1e3, -1e300]))),
            'in free fall': lambda _: self._imu(z=0.0),
            'turns too fast': lambda _: self._imu(turn=1e3),
            'without an accelerometer': self._deaf,
            'no rotation': self._no_rotation,
            'of a link that moves': lambda _: self._imu(link=known.links[0]),
            'of an unknown link': lambda _: self._imu(link='nose'),
            'old': lambda _: self._imu(age=float(rng.uniform(1.0, 1e6))),
            'ahead of time': lambda _: self._imu(age=-float(rng.uniform(1.0, 1e6))),
        }
        self.valid: dict[str, Callable[[Array], Any]] = {'at rest': lambda _: self._imu()}

    def _imu(
        self,
        z: float | None = None,
        turn: float = 0.01,
        link: str | None = None,
        age: float = 0.0,
    ) -> Any:
        message = Imu()
        message.header.stamp = stamp(time.time() - age)
        message.header.frame_id = self._known.root if link is None else link
        message.orientation_covariance[0] = -1.0
        felt, rate = message.linear_acceleration, message.angular_velocity
        felt.x, felt.y = self._rng.uniform(-0.2, 0.2, 2).tolist()
        felt.z = 9.81 + float(self._rng.uniform(-0.2, 0.2)) if z is None else z
        if z == 0.0:
            felt.x = felt.y = 0.0
        rate.x = float(self._rng.uniform(0.5, 1.0)) * turn
        return message

    def _deaf(self, _: Array) -> Any:
        message = self._imu()
        message.linear_acceleration_covariance[0] = -1.0
        return message

    def _no_rotation(self, _: Array) -> Any:
        message = self._imu()
        message.orientation_covariance[0] = 0.0
        message.orientation.w = float(self._rng.choice([0.0, 2.0, *NOT_NUMBERS]))
        return message


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
