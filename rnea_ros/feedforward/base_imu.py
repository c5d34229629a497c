# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The motion of the base from an IMU, without steps whatever its messages do.

:class:`ImuMonitor` checks the messages, and turns them into the motion of the root link on which
the IMU is mounted. An accelerometer reads the proper acceleration s = a - g: +9.81 m/s^2 upwards
at rest. With the IMU at r in the root link, the root link's origin has::

    s_root = s - alpha x r - w x (w x r)

Readings pass a low-pass filter of first order, T y' = u - y, which delays them by T. The rate of
its output is (u - y) / T; that of the gyroscope is alpha, delayed by another half interval
between messages.

In :class:`BaseSensor`, the direction of gravity follows the messages at most at
``max_angular_velocity``. When messages stop or start, the motion blends smoothly from its last
value to its new target. The blend is a weighted mean of two vectors, so gravity is never larger
than the model's.
"""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import NamedTuple, TypeAlias

import numpy as np

from ..arrays import Array
from ..dynamics.tree import Placement
from ..robot import RobotModel
from .reasons import Reason
from .settings import BaseSensorSettings, BaseUse, StaleBase, links_on_base
from .stamps import SINGLE, SampleMonitor

Numbers: TypeAlias = Sequence[float]

UNIT_TOLERANCE = 0.01  # of a quaternion's length; some drivers round to 16 bits
MIN_GRAVITY = 0.1  # smallest plausible reading of the accelerometer, as a share of gravity


class BaseState(NamedTuple):
    """
    Motion of the base, in the root link's axes, as in :meth:`.Workspace.set_base_motion`.

    The linear velocity is zero: an IMU does not measure it, and no force depends on it.
    """

    gravity: Array  # gravitational acceleration, shape (3,), m/s^2
    velocity: Array  # spatial, [angular; zero], shape (6,)
    acceleration: Array  # spatial, [angular; linear], shape (6,)


class BaseSensor:
    """
    Turns the messages of an IMU into the motion of the base.

    :ivar imu: its messages
    :ivar stale: whether the IMU is silent
    """

    def __init__(self, model: RobotModel, settings: BaseSensorSettings) -> None:
        self.imu = ImuMonitor(model, settings)
        self._settings = settings
        self._configured = model.gravity
        self._magnitude = math.hypot(*model.gravity)
        self._now = self._began = -math.inf
        self._starts, self.stale = 0, True
        self._gravity = model.gravity.copy()
        # Gravity, velocity and acceleration in one array each.
        self._blend_start, self._target, self._motion = np.zeros((3, 15))
        self._target[:3] = self._motion[:3] = model.gravity
        self._state = BaseState(self._motion[:3], self._motion[3:9], self._motion[9:])

    def advance(self, now: float) -> BaseState:
        """Advance the motion of the base, and return it; the next call overwrites it."""
        dt = max(now - self._now, 0.0)
        self._now = now
        stale = self.imu.age(now) > self._settings.timeout
        if stale != self.stale or self._starts != self.imu.starts:
            self.stale, self._starts = stale, self.imu.starts
            self._blend_start[:] = self._motion
            self._began = now
            np.multiply(self.imu.down, self._magnitude, out=self._gravity)
            if stale:  # the base counts as at rest
                hold = self._settings.stale is StaleBase.HOLD
                self._target[:] = 0.0
                self._target[:3] = self._gravity if hold else self._configured
        if not stale:
            self._follow(self.imu, dt)
        # A cubic with zero end slopes
        s = min(max((now - self._began) / self._settings.fade, 0.0), 1.0)
        if s == 1.0:
            self._motion[:] = self._target
        else:
            np.subtract(self._target, self._blend_start, out=self._motion)
            self._motion *= (3.0 - 2.0 * s) * s * s
            self._motion += self._blend_start
        return self._state

    def _follow(self, imu: ImuMonitor, dt: float) -> None:
        """Set the target to the motion of the latest message."""
        change = self._magnitude * imu.down
        change -= self._gravity
        length = math.hypot(*change.tolist())
        longest = self._magnitude * self._settings.max_angular_velocity * dt
        if length > longest:
            change *= longest / length
        self._gravity += change
        self._target[:3] = self._gravity
        if self._settings.use is BaseUse.MOTION:
            self._target[3:6] = imu.angular_velocity
            self._target[9:12] = imu.angular_acceleration
            self._target[12:] = imu.proper_acceleration + self._gravity  # a = (a - g) + g


class ImuMonitor(SampleMonitor):
    """
    Accepts or rejects messages, and computes the root link's motion in its own axes from them.

    Vectors have shape (3,). All but ``down`` are delayed by the filter.

    :ivar down: direction of gravity, a unit vector
    :ivar angular_velocity: rad/s; ``angular_acceleration``, rad/s^2
    :ivar proper_acceleration: a - g of the root link's origin, m/s^2
    :ivar starts: number of times that messages started, first or after a silence
    """

    def __init__(self, model: RobotModel, settings: BaseSensorSettings) -> None:
        super().__init__()
        self._settings = settings
        self._mounts = {link: _mount(place) for link, place in links_on_base(model).items()}
        self._link = settings.link
        self._moves = settings.use is BaseUse.MOTION
        self._least_acceleration = MIN_GRAVITY * math.hypot(*model.gravity)
        self._tilt_filter = _LowPass(settings.tilt_cutoff, 3)
        self._motion_filter = _LowPass(settings.motion_cutoff, 6)
        self.down, self.proper_acceleration = np.zeros((2, 3))
        self.angular_velocity = self._motion_filter.value[:3]
        self.angular_acceleration = self._motion_filter.rate[:3]
        self.starts = 0

    def take_sample(
        self, frame_id: str, orientation: Numbers | None, angular_velocity: Numbers | None,
        linear_acceleration: Numbers | None, *, stamp: float, clock: float, received: float,
    ) -> Reason | None:
        """
        Accept a message, or return why it is rejected as a whole; unused parts are ignored.

        :param frame_id: frame of its header; ignored if the settings name a link
        :param orientation: x, y, z, w from the IMU's axes to a world whose z axis points up
        :param angular_velocity: rad/s; None if missing, as the other parts
        :param linear_acceleration: reading of the accelerometer, m/s^2
        """
        if not self._settings.use_orientation:
            orientation = None
        if not self._moves:
            angular_velocity = None
            linear_acceleration = linear_acceleration if orientation is None else None
        starts = received - self._received > self._settings.timeout
        link = self._settings.link or ('' if starts else self._link) or frame_id
        if link not in self._mounts:
            reason: Reason | None = Reason.UNKNOWN_FRAME  # not a link fixed to the root link
        elif not self._settings.link and link != frame_id:
            reason = Reason.FRAME_CHANGED
        else:
            reason = self._check_parts(orientation, angular_velocity, linear_acceleration)
        by_receipt = max(received - self._received, 0.0)
        last, steps = self._stamps.newest(SINGLE)[0], self._stamps.steps
        reason = self._register(reason, stamp, clock, received)
        if reason is not None:
            return reason
        # The time since the last message, from stamps if both have one of the same clock.
        of_one_clock = stamp and last > 0.0 and self._stamps.steps == steps
        dt = stamp - last if of_one_clock else by_receipt
        self._link = link
        if starts:
            self.starts += 1
            self._tilt_filter.running = self._motion_filter.running = False
        mount = self._mounts[link]
        self._advance_tilt(mount, orientation, linear_acceleration, dt)
        if angular_velocity is not None and linear_acceleration is not None:
            self._advance_motion(mount, (*angular_velocity, *linear_acceleration), dt)
        return None

    def _check_parts(
        self, orientation: Numbers | None, rotation: Numbers | None, acceleration: Numbers | None
    ) -> Reason | None:
        tilt_missing = orientation is None and acceleration is None
        if tilt_missing or (self._moves and (rotation is None or acceleration is None)):
            return Reason.PART_MISSING
        parts = (orientation, rotation, acceleration)
        if not all(math.isfinite(x) for part in parts if part is not None for x in part):
            return Reason.NOT_FINITE
        if orientation is not None and not abs(math.hypot(*orientation) - 1.0) <= UNIT_TOLERANCE:
            return Reason.NOT_UNIT_QUATERNION
        if rotation is not None and math.hypot(*rotation) > self._settings.max_angular_velocity:
            return Reason.OVER_CAP
        if acceleration is None:
            return None
        magnitude = math.hypot(*acceleration)
        if magnitude > self._settings.max_acceleration:
            return Reason.OVER_CAP
        return Reason.FREE_FALL if magnitude < self._least_acceleration else None

    def _advance_tilt(
        self, mount: _Mount, orientation: Numbers | None, acceleration: Numbers | None, dt: float
    ) -> None:
        """Advance ``down`` by an orientation, or else by the filtered accelerometer."""
        tilt = self._tilt_filter
        if orientation is not None:
            np.dot(mount.R, _down(orientation), out=self.down)
            tilt.running = False
        elif acceleration is not None:
            tilt.advance(np.dot(mount.R, acceleration), dt)
            length = math.hypot(*tilt.value.tolist())
            if length > self._least_acceleration:
                np.divide(tilt.value, -length, out=self.down)

    def _advance_motion(self, mount: _Mount, reading: Numbers, dt: float) -> None:
        """Filter angular velocity and acceleration, and transform them to the root link."""
        motion, r = self._motion_filter, mount.r
        motion.advance(mount.RR @ np.array(reading), dt)
        w, s, alpha = self.angular_velocity, motion.value[3:], self.angular_acceleration
        # w x (w x r) = (w . r) w - (w . w) r
        self.proper_acceleration[:] = s - mount.cross_r @ alpha - (w @ r) * w + (w @ w) * r


class _Mount(NamedTuple):
    """Where the IMU is mounted in the root link."""

    R: Array  # rotation from the IMU's axes to the root link's, shape (3, 3)
    RR: Array  # the same rotation for two vectors, shape (6, 6)
    r: Array  # the IMU's origin in the root link, shape (3,), m
    cross_r: Array  # matrix with cross_r a = a x r, shape (3, 3)


def _mount(placement: Placement) -> _Mount:
    R, r = placement.rotation, placement.translation
    RR = np.zeros((6, 6))
    RR[:3, :3] = RR[3:, 3:] = R
    return _Mount(R, RR, r, np.cross(np.eye(3), r).T)


class _LowPass:
    """
    A low-pass filter of first order for readings at irregular times, with a cutoff in Hz.

    Unless it is ``running``, it starts with the next reading. Output: ``value``, ``rate`` in 1/s.
    """

    def __init__(self, cutoff: float, size: int) -> None:
        self._time_constant = 1.0 / (2.0 * math.pi * cutoff)
        self.running = False
        self.value, self.rate = np.zeros((2, size))

    def advance(self, reading: Array, dt: float) -> None:
        """Advance by a time dt, s, to a reading."""
        if not self.running:
            self.running = True
            self.value[:], self.rate[:] = reading, 0.0
            return
        # The distance to the reading is T times the rate, and shrinks by T / (T + dt).
        np.subtract(reading, self.value, out=self.rate)
        self.rate /= self._time_constant + dt
        self.value += dt * self.rate


def _down(orientation: Numbers) -> Array:
    """Return the unit vector of gravity in the IMU's axes, by the message's quaternion."""
    x, y, z, w = orientation
    # Last row of the rotation matrix, times the squared length of the quaternion.
    squares = x * x + y * y + z * z + w * w
    up = (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w + z * z - x * x - y * y)
    return np.array(up) / -squares
