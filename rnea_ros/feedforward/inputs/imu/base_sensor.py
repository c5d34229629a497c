# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The motion of the base from an IMU, without steps whatever its messages do.

The direction of gravity follows the messages at most at ``max_angular_velocity``. When messages
stop or start, the motion blends smoothly from its last value to its new target. The blend is a
weighted mean of two vectors, so gravity is never larger than the model's.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ....arrays import Array
from ....robot import RobotModel
from ...settings import BaseSensorSettings, BaseUse, StaleBase
from .imu_monitor import ImuMonitor


class BaseState(NamedTuple):
    """
    Motion of the base, for :meth:`~rnea_ros.dynamics.workspace.Workspace.set_base_motion`.

    The linear velocity is zero: an IMU does not measure it, and no force depends on it.

    :param gravity: gravitational acceleration in the root link's axes, shape (3,), m/s^2
    :param velocity: spatial, [angular; zero], in the root link's axes, shape (6,)
    :param acceleration: spatial, [angular; linear], in the root link's axes, shape (6,)
    """

    gravity: Array
    velocity: Array
    acceleration: Array


class BaseSensor:
    """
    Turns the messages of an IMU into the motion of the base; :class:`ImuMonitor` checks it.

    :ivar imu: its messages
    :ivar stale: whether the IMU is silent
    """

    def __init__(self, model: RobotModel, settings: BaseSensorSettings) -> None:
        self.imu = ImuMonitor(model, settings)
        self._settings = settings
        self._moves = settings.use is BaseUse.MOTION
        self._configured = model.gravity
        self._magnitude = math.hypot(*model.gravity)
        self._greatest_rate = self._magnitude * settings.max_angular_velocity
        self._now = -math.inf
        self._starts = 0
        self._began = -math.inf
        self._gravity = model.gravity.copy()
        # Gravity, velocity and acceleration in one array each.
        self._blend_start, self._target, self._motion = np.zeros((3, 15))
        self._target[:3] = self._motion[:3] = model.gravity
        self._state = BaseState(self._motion[:3], self._motion[3:9], self._motion[9:])
        self.stale = True

    def advance(self, now: float) -> BaseState:
        """Advance the motion of the base, and return it; the next call overwrites it."""
        dt = max(now - self._now, 0.0)
        self._now = now
        stale = self.imu.age(now) > self._settings.timeout
        if stale != self.stale or self._starts != self.imu.starts:
            self.stale, self._starts = stale, self.imu.starts
            self._blend_start[:] = self._motion
            self._began = now
            if stale:
                self._set_target_at_rest()
            else:
                np.multiply(self.imu.motion.down, self._magnitude, out=self._gravity)
        if not stale:
            self._set_target_in_motion(dt)
        self._blend((now - self._began) / self._settings.fade)
        return self._state

    def _set_target_at_rest(self) -> None:
        """Set the target for a silent IMU: at rest, with the gravity of parameter ``stale``."""
        self._target[:] = 0.0
        if self._settings.stale is StaleBase.HOLD:
            np.multiply(self.imu.motion.down, self._magnitude, out=self._target[:3])
        else:
            self._target[:3] = self._configured

    def _set_target_in_motion(self, dt: float) -> None:
        """Set the target to the motion of the latest message."""
        motion, target = self.imu.motion, self._target
        change = self._magnitude * motion.down
        change -= self._gravity
        length, greatest = math.hypot(*change.tolist()), self._greatest_rate * dt
        if length > greatest:
            change *= greatest / length
        self._gravity += change
        target[:3] = self._gravity
        if self._moves:
            target[3:6] = motion.angular_velocity
            target[9:12] = motion.angular_acceleration
            # a = (a - g) + g
            np.add(motion.proper_acceleration, self._gravity, out=target[12:])

    def _blend(self, s: float) -> None:
        """Write the motion at a share ``s`` of the blend's time, a cubic with zero end slopes."""
        s = min(max(s, 0.0), 1.0)
        if s == 1.0:
            self._motion[:] = self._target
            return
        share = (3.0 - 2.0 * s) * s * s
        np.subtract(self._target, self._blend_start, out=self._motion)
        self._motion *= share
        self._motion += self._blend_start
