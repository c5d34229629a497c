# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
From an IMU's readings to the motion of the root link that it is fixed to.

An accelerometer reads a - g, its acceleration less that of free fall: +9.81 m/s^2 upwards at
rest. From the IMU, which is at r in the root link, that of the root link's origin follows::

    s_root = s - alpha x r - w x (w x r)

Readings pass a low-pass of first order, T y' = u - y, and come out as they were a time T ago. The
rate of what comes out is (u - y) / T: the gyroscope's gives alpha, half an interval between
messages later still.
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
    The parts of a message that are used, in the axes of the IMU; None where absent.

    :param orientation: x, y, z, w of the quaternion that takes the IMU's axes to those of a world
        whose z axis points up
    :param angular_velocity: x, y, z, rad/s
    :param linear_acceleration: what the accelerometer reads, x, y, z, m/s^2
    """

    orientation: Numbers | None
    angular_velocity: Numbers | None
    linear_acceleration: Numbers | None


@dataclass(frozen=True)
class Mount:
    """
    Where the IMU is.

    :param R: from its axes to the root link's, shape (3, 3)
    :param RR: the same for two vectors at once, shape (6, 6)
    :param r: its origin in the root link, shape (3,), m
    :param across: the matrix of a x r, shape (3, 3)
    """

    R: Array
    RR: Array
    r: Array
    across: Array

    @classmethod
    def at(cls, placement: Placement) -> Mount:
        """Return what a placement in the root link amounts to."""
        R, r = placement.rotation, placement.translation
        RR = np.zeros((6, 6))
        RR[:3, :3] = RR[3:, 3:] = R
        return cls(R, RR, r, np.cross(np.eye(3), r).T)


class LowPass:
    """
    A low-pass of first order over readings as they come.

    :param cutoff: where half of the power passes, Hz
    :param size: how many numbers a reading has
    """

    def __init__(self, cutoff: float, size: int) -> None:
        self._time_constant = 1.0 / (2.0 * math.pi * cutoff)
        self._running = False
        self.value = np.zeros(size)
        self.rate = np.zeros(size)

    def forget(self) -> None:
        """Begin with the next reading."""
        self._running = False

    def step(self, reading: Array, dt: float) -> None:
        """
        Bring ``value`` and ``rate`` up to a reading.

        :param reading: shape (size,)
        :param dt: time since the reading before, s
        """
        if not self._running:
            self._running = True
            self.value[:], self.rate[:] = reading, 0.0
            return
        # The distance to the reading shrinks by T / (T + dt), and is T times the rate.
        np.subtract(reading, self.value, out=self.rate)
        self.rate /= self._time_constant + dt
        self.value += dt * self.rate


class RootMotion:
    """
    The root link's motion, in its own axes.

    ``down`` is the direction of gravity, of unit length. ``angular_velocity``,
    ``angular_acceleration`` and ``proper_acceleration`` (a - g of the root link's origin) are
    those of a time T ago. All have shape (3,).

    :param tilt_cutoff: of the low-pass that finds gravity in the accelerometer, Hz
    :param motion_cutoff: of the low-pass that the motion passes, Hz
    :param least_acceleration: an accelerometer that reads less has no direction, m/s^2
    """

    def __init__(
        self, tilt_cutoff: float, motion_cutoff: float, least_acceleration: float
    ) -> None:
        self._felt = LowPass(tilt_cutoff, 3)
        self._motion = LowPass(motion_cutoff, 6)
        self._least_acceleration = least_acceleration
        self.down = np.zeros(3)
        self.angular_velocity = np.zeros(3)
        self.angular_acceleration = np.zeros(3)
        self.proper_acceleration = np.zeros(3)

    def begin(self) -> None:
        """Forget what the filters took before."""
        self._felt.forget()
        self._motion.forget()

    def take_tilt(self, message: ImuMessage, mount: Mount, dt: float) -> None:
        """
        Find the direction of gravity.

        :param message: a valid one
        :param mount: of the IMU
        :param dt: time since the message before, s; not used in the first
        """
        if message.orientation is not None:
            np.dot(mount.R, down(message.orientation), out=self.down)
            self._felt.forget()
        elif message.linear_acceleration is not None:
            self._felt.step(np.dot(mount.R, message.linear_acceleration), dt)
            length = math.hypot(*self._felt.value.tolist())
            if length > self._least_acceleration:
                np.divide(self._felt.value, -length, out=self.down)

    def take_motion(self, message: ImuMessage, mount: Mount, dt: float) -> None:
        """
        Filter angular velocity and acceleration alike, and move them to the root link.

        :param message: a valid one
        :param mount: of the IMU
        :param dt: time since the message before, s; not used in the first
        """
        if message.angular_velocity is None or message.linear_acceleration is None:
            return
        reading = np.array((*message.angular_velocity, *message.linear_acceleration))
        self._motion.step(mount.RR @ reading, dt)
        w, s = self._motion.value[:3], self._motion.value[3:]
        alpha, r = self._motion.rate[:3], mount.r
        self.angular_velocity[:], self.angular_acceleration[:] = w, alpha
        # w x (w x r) = (w . r) w - (w . w) r
        self.proper_acceleration[:] = s - mount.across @ alpha - (w @ r) * w + (w @ w) * r


def down(orientation: Numbers) -> Array:
    """
    Return where gravity points in the IMU's axes, a unit vector, shape (3,).

    :param orientation: x, y, z, w of a quaternion, not exactly of unit length
    """
    x, y, z, w = orientation
    # The last row of the matrix that the quaternion stands for, times its length squared.
    squares = x * x + y * y + z * z + w * w
    up = (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w + z * z - x * x - y * y)
    return np.array(up) / -squares
