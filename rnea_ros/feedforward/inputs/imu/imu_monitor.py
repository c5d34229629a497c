# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Messages of the IMU on the base: checked, with their age."""

from __future__ import annotations

import math

from ....robot import RobotModel
from ...reasons import Reason
from ...settings import BaseSensorSettings, BaseUse, links_on_base
from ...stamps import SINGLE, SampleMonitor
from .root_motion import ImuMessage, ImuMount, Numbers, RootMotion

UNIT_TOLERANCE = 0.01
"""Permitted deviation of a quaternion's length from 1; some drivers round to 16 bits."""

MIN_GRAVITY = 0.1
"""Smallest plausible reading of the accelerometer, as a share of gravity."""


class ImuMonitor(SampleMonitor):
    """
    Accepts or rejects messages, and updates the root link's motion.

    :ivar motion: the root link's motion
    :ivar starts: number of times that messages started, first or after a silence
    """

    def __init__(self, model: RobotModel, settings: BaseSensorSettings) -> None:
        super().__init__()
        self._settings = settings
        self._mounts = {
            link: ImuMount.at(placement) for link, placement in links_on_base(model).items()
        }
        self._link = settings.link
        self._moves = settings.use is BaseUse.MOTION
        self._least_acceleration = MIN_GRAVITY * math.hypot(*model.gravity)
        self.motion = RootMotion(
            settings.tilt_cutoff, settings.motion_cutoff, self._least_acceleration
        )
        self.starts = 0

    def take_sample(
        self, frame_id: str, orientation: Numbers | None, angular_velocity: Numbers | None,
        linear_acceleration: Numbers | None, *, stamp: float, clock: float, received: float,
    ) -> Reason | None:
        """
        Accept a message, or return why it is rejected as a whole; unused parts are ignored.

        :param frame_id: frame of its header; ignored if the settings name a link
        :param orientation: x, y, z, w of the quaternion from the IMU's axes to a world whose z
            axis points up; None if missing
        :param angular_velocity: x, y, z, rad/s; None if missing
        :param linear_acceleration: reading of the accelerometer, x, y, z, m/s^2; None if missing
        """
        message = self._used(orientation, angular_velocity, linear_acceleration)
        starts = received - self._received > self._settings.timeout
        link = self._settings.link or ('' if starts else self._link) or frame_id
        reason = self._check_frame(link, frame_id) or self._check_reading(message)
        by_receipt = max(received - self._received, 0.0)
        last, steps = self._stamps.newest(SINGLE)[0], self._stamps.steps
        reason = self._register(reason, stamp, clock, received)
        if reason is not None:
            return reason
        # The time since the last message, from stamps if both have one of the same clock.
        of_one_clock = stamp and last > 0.0 and self._stamps.steps == steps
        dt = stamp - last if of_one_clock else by_receipt
        self._link = link
        mount = self._mounts[link]
        if starts:
            self.starts += 1
            self.motion.reset()
        self.motion.advance_tilt(message, mount, dt)
        if self._moves:
            self.motion.advance_motion(message, mount, dt)
        return None

    def _used(
        self, orientation: Numbers | None, angular_velocity: Numbers | None,
        linear_acceleration: Numbers | None,
    ) -> ImuMessage:
        if not self._settings.use_orientation:
            orientation = None
        if self._moves:
            return ImuMessage(orientation, angular_velocity, linear_acceleration)
        return ImuMessage(orientation, None, linear_acceleration if orientation is None else None)

    def _check_frame(self, link: str, frame_id: str) -> Reason | None:
        if link not in self._mounts:
            return Reason.UNKNOWN_FRAME  # not a link that is fixed to the root link
        if not self._settings.link and link != frame_id:
            return Reason.FRAME_CHANGED
        return None

    def _check_reading(self, message: ImuMessage) -> Reason | None:
        quaternion, rotation, acceleration = parts = (
            message.orientation, message.angular_velocity, message.linear_acceleration
        )
        tilt_missing = quaternion is None and acceleration is None
        if tilt_missing or (self._moves and (rotation is None or acceleration is None)):
            return Reason.PART_MISSING
        if not all(math.isfinite(x) for part in parts if part is not None for x in part):
            return Reason.NOT_FINITE
        if quaternion is not None and not abs(math.hypot(*quaternion) - 1.0) <= UNIT_TOLERANCE:
            return Reason.NOT_UNIT_QUATERNION
        if rotation is not None and math.hypot(*rotation) > self._settings.max_angular_velocity:
            return Reason.OVER_CAP
        if acceleration is not None:
            magnitude = math.hypot(*acceleration)
            if magnitude > self._settings.max_acceleration:
                return Reason.OVER_CAP
            if magnitude < self._least_acceleration:
                return Reason.FREE_FALL
        return None
