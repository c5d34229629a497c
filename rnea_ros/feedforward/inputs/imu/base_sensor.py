# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
How the robot's base moves, as an IMU on it tells: without a step, whatever the messages do.

Gravity follows the messages' direction no faster than the base may turn. When messages stop, or
come again, everything goes in a smooth blend from where it is to where it belongs: a weighted mean
of two vectors, so that gravity is never longer than the model's.
"""

from __future__ import annotations

from collections import Counter
import math
from typing import NamedTuple

import numpy as np

from ....arrays import Array
from ....robot import RobotModel
from ...reasons import Reason
from ...settings import BaseSensorSettings, BaseUse, StaleBase
from .monitor import ImuMonitor
from .motion import Numbers


class BaseState(NamedTuple):
    """
    Motion of the base, as :meth:`~rnea_ros.dynamics.workspace.Workspace.set_base_motion` takes it.

    No force depends on how fast the root link's origin moves, and no IMU knows: spatial vectors
    are those of a frame that is where the root link is and momentarily does not move along.

    :param gravity: acceleration of free fall in the root link's axes, shape (3,), m/s^2
    :param velocity: spatial, [angular; zero], in the root link's axes, shape (6,)
    :param acceleration: spatial, [angular; linear], in the root link's axes, shape (6,)
    """

    gravity: Array
    velocity: Array
    acceleration: Array


class BaseSensor:
    """
    Turns the messages of an IMU into the motion of the base.

    :param model: the robot; its gravity is the configured one
    :param settings: of the IMU
    :raises InputError: the first parameter that cannot be used
    """

    def __init__(self, model: RobotModel, settings: BaseSensorSettings) -> None:
        self._imu = ImuMonitor(model, settings)
        self._settings = settings
        self._moves = settings.use is BaseUse.MOTION
        self._configured = model.gravity
        self._magnitude = math.hypot(*model.gravity)
        self._greatest_rate = self._magnitude * settings.max_angular_velocity
        self._now = -math.inf
        self._run = 0
        self._began = -math.inf
        self._gravity = model.gravity.copy()
        # Gravity, velocity and acceleration, one after the other.
        self._from, self._to, self._motion = np.zeros((3, 15))
        self._to[:3] = self._motion[:3] = model.gravity
        self._state = BaseState(self._motion[:3], self._motion[3:9], self._motion[9:])
        self.stale = True

    @property
    def rejections(self) -> Counter[Reason]:
        """How often messages were refused, by reason."""
        return self._imu.rejections

    @property
    def blending(self) -> bool:
        """Whether the motion is on its way to where it belongs since messages stopped or came."""
        return self._now - self._began < self._settings.fade

    def age(self, now: float) -> float:
        """
        Return how long ago the newest valid message came, s; infinite before the first.

        :param now: monotonic time, s
        """
        return self._imu.age(now)

    def update(
        self,
        frame_id: str,
        orientation: Numbers | None,
        angular_velocity: Numbers | None,
        linear_acceleration: Numbers | None,
        *,
        stamp: float,
        clock: float,
        received: float,
    ) -> Reason | None:
        """Take a message, or refuse it whole, as :meth:`.imu_monitor.ImuMonitor.update` does."""
        return self._imu.update(
            frame_id,
            orientation,
            angular_velocity,
            linear_acceleration,
            stamp=stamp,
            clock=clock,
            received=received,
        )

    def refuse(self, reason: Reason) -> None:
        """Count a refusal of a message."""
        self._imu.refuse(reason)

    def sample(self, now: float) -> BaseState:
        """
        Return how the base moves; overwritten by the next call.

        :param now: monotonic time, s
        """
        dt = max(now - self._now, 0.0)
        self._now = now
        stale = self._imu.age(now) > self._settings.timeout
        if stale != self.stale or self._run != self._imu.runs:
            self.stale, self._run = stale, self._imu.runs
            self._from[:] = self._motion
            self._began = now
            if stale:
                self._rest()
            else:
                np.multiply(self._imu.motion.down, self._magnitude, out=self._gravity)
        if not stale:
            self._follow(dt)
        self._blend((now - self._began) / self._settings.fade)
        return self._state

    def _rest(self) -> None:
        """Let the base belong at rest, under the gravity that counts while the IMU is silent."""
        self._to[:] = 0.0
        if self._settings.stale is StaleBase.HOLD:
            np.multiply(self._imu.motion.down, self._magnitude, out=self._to[:3])
        else:
            self._to[:3] = self._configured

    def _follow(self, dt: float) -> None:
        """Let the base belong where the newest message has it."""
        motion, to = self._imu.motion, self._to
        way = self._magnitude * motion.down
        way -= self._gravity
        length, greatest = math.hypot(*way.tolist()), self._greatest_rate * dt
        if length > greatest:
            way *= greatest / length
        self._gravity += way
        to[:3] = self._gravity
        if self._moves:
            to[3:6] = motion.angular_velocity
            to[9:12] = motion.angular_acceleration
            # What is felt is a - g, whatever part of it is gravity's.
            np.add(motion.proper_acceleration, self._gravity, out=to[12:])

    def _blend(self, s: float) -> None:
        """Write the motion at a share ``s`` of the blend's time; it sets in and ends gently."""
        s = min(max(s, 0.0), 1.0)
        if s == 1.0:
            self._motion[:] = self._to
            return
        share = (3.0 - 2.0 * s) * s * s
        np.subtract(self._to, self._from, out=self._motion)
        self._motion *= share
        self._motion += self._from
