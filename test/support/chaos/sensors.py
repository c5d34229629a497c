# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Random readings of sensors for a feedforward node: to follow, and to reject."""

from array import array
from collections.abc import Callable
import math
import time
from typing import Any

from geometry_msgs.msg import WrenchStamped
import numpy as np
from sensor_msgs.msg import Imu, JointState

from support.chaos.messages import NOT_NUMBERS, Array, Known, stamp

FRAME = 'chaos'
"""Frame of every joint state made here; the robot's own have another."""


class States:
    """
    JointState messages of a second publisher, of which none may make a difference.

    What is wrong with a position can be seen on it, or it is further off than any stall explains.
    A false position or velocity that could be true cannot be detected by any controller: left out.

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

    def _state(self, names: list[str], q: Any, qd: Any, effort: Any = (), age: float = 0.0) -> Any:
        message = JointState(
            name=names, position=array('d', q), velocity=array('d', qd), effort=array('d', effort),
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
            'without an accelerometer': self._deaf, 'no rotation': self._no_rotation,
            'of a link that moves': lambda _: self._imu(link=known.links[0]),
            'of an unknown link': lambda _: self._imu(link='nose'),
            'old': lambda _: self._imu(age=float(rng.uniform(1.0, 1e6))),
            'ahead of time': lambda _: self._imu(age=-float(rng.uniform(1.0, 1e6))),
        }
        self.valid: dict[str, Callable[[Array], Any]] = {'at rest': lambda _: self._imu()}

    def _imu(
        self, z: float | None = None, turn: float = 0.01, link: str | None = None, age: float = 0.0
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
