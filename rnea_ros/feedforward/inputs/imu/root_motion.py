# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
From an IMU's readings to the motion of the root link on which it is mounted.

An accelerometer reads the proper acceleration s = a - g: +9.81 m/s^2 upwards at rest. With the
IMU at r in the root link, the root link's origin has::

    s_root = s - alpha x r - w x (w x r)

Readings pass a low-pass filter of first order, T y' = u - y, which delays them by T. The rate of
its output is (u - y) / T; that of the gyroscope is alpha, delayed by another half interval
between messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import TypeAlias

import numpy as np

from ....arrays import Array
from ....dynamics.tree import Placement

Numbers: TypeAlias = Sequence[float]


@dataclass(frozen=True)
class ImuMessage:
    """
    The used parts of a message, in the axes of the IMU; None for a missing part.

    :param orientation: x, y, z, w of the quaternion from the IMU's axes to a world whose z axis
        points up
    :param angular_velocity: x, y, z, rad/s
    :param linear_acceleration: reading of the accelerometer, x, y, z, m/s^2
    """

    orientation: Numbers | None
    angular_velocity: Numbers | None
    linear_acceleration: Numbers | None


@dataclass(frozen=True)
class ImuMount:
    """
    Where the IMU is mounted in the root link.

    :param R: rotation from the IMU's axes to the root link's, shape (3, 3)
    :param RR: the same rotation for two vectors, shape (6, 6)
    :param r: the IMU's origin in the root link, shape (3,), m
    :param cross_r: matrix with cross_r a = a x r, shape (3, 3)
    """

    R: Array
    RR: Array
    r: Array
    cross_r: Array

    @classmethod
    def at(cls, placement: Placement) -> ImuMount:
        """Return the mount at a placement in the root link."""
        R, r = placement.rotation, placement.translation
        RR = np.zeros((6, 6))
        RR[:3, :3] = RR[3:, 3:] = R
        return cls(R, RR, r, np.cross(np.eye(3), r).T)


class FirstOrderLowPass:
    """
    A low-pass filter of first order for readings at irregular times, with a cutoff in Hz.

    :ivar value: the output, shape (size,)
    :ivar rate: rate of the output, shape (size,), 1/s
    """

    def __init__(self, cutoff: float, size: int) -> None:
        self._time_constant = 1.0 / (2.0 * math.pi * cutoff)
        self._running = False
        self.value = np.zeros(size)
        self.rate = np.zeros(size)

    def reset(self) -> None:
        """Start again with the next reading."""
        self._running = False

    def advance(self, reading: Array, dt: float) -> None:
        """Advance ``value`` and ``rate`` by a time dt, s, to a reading, shape (size,)."""
        if not self._running:
            self._running = True
            self.value[:], self.rate[:] = reading, 0.0
            return
        # The distance to the reading is T times the rate, and shrinks by T / (T + dt).
        np.subtract(reading, self.value, out=self.rate)
        self.rate /= self._time_constant + dt
        self.value += dt * self.rate


class RootMotion:
    """
    The root link's motion in its own axes.

    :param tilt_cutoff: cutoff of the accelerometer's filter for the direction of gravity, Hz
    :param motion_cutoff: cutoff of the motion's filter, Hz
    :param least_acceleration: smallest acceleration that has a direction, m/s^2
    :ivar down: direction of gravity, a unit vector, shape (3,)
    :ivar angular_velocity: delayed by the filter, shape (3,), rad/s
    :ivar angular_acceleration: delayed by the filter, shape (3,), rad/s^2
    :ivar proper_acceleration: a - g of the origin, delayed by the filter, shape (3,), m/s^2
    """

    def __init__(
        self, tilt_cutoff: float, motion_cutoff: float, least_acceleration: float
    ) -> None:
        self._tilt = FirstOrderLowPass(tilt_cutoff, 3)
        self._motion = FirstOrderLowPass(motion_cutoff, 6)
        self._least_acceleration = least_acceleration
        self.down = np.zeros(3)
        self.angular_velocity = np.zeros(3)
        self.angular_acceleration = np.zeros(3)
        self.proper_acceleration = np.zeros(3)

    def reset(self) -> None:
        """Start the filters again with the next message."""
        self._tilt.reset()
        self._motion.reset()

    def advance_tilt(self, message: ImuMessage, mount: ImuMount, dt: float) -> None:
        """Advance ``down`` to a valid message, dt after the last one, s; ignored in the first."""
        if message.orientation is not None:
            np.dot(mount.R, down(message.orientation), out=self.down)
            self._tilt.reset()
        elif message.linear_acceleration is not None:
            self._tilt.advance(np.dot(mount.R, message.linear_acceleration), dt)
            length = math.hypot(*self._tilt.value.tolist())
            if length > self._least_acceleration:
                np.divide(self._tilt.value, -length, out=self.down)

    def advance_motion(self, message: ImuMessage, mount: ImuMount, dt: float) -> None:
        """Advance the motion: filter the readings, and transform them to the root link."""
        if message.angular_velocity is None or message.linear_acceleration is None:
            return
        reading = np.array((*message.angular_velocity, *message.linear_acceleration))
        self._motion.advance(mount.RR @ reading, dt)
        w, s = self._motion.value[:3], self._motion.value[3:]
        alpha, r = self._motion.rate[:3], mount.r
        self.angular_velocity[:], self.angular_acceleration[:] = w, alpha
        # w x (w x r) = (w . r) w - (w . w) r
        self.proper_acceleration[:] = s - mount.cross_r @ alpha - (w @ r) * w + (w @ w) * r


def down(orientation: Numbers) -> Array:
    """Return the unit vector of gravity in the IMU's axes, shape (3,); see :class:`ImuMessage`."""
    x, y, z, w = orientation
    # Last row of the rotation matrix, times the squared length of the quaternion.
    squares = x * x + y * y + z * z + w * w
    up = (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w + z * z - x * x - y * y)
    return np.array(up) / -squares
