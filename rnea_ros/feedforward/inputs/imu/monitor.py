# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The messages of the IMU on the robot's base: checked, and aged by time of receipt."""

from __future__ import annotations

from collections import Counter
import math

from ....robot import RobotModel
from ...reasons import Reason
from ...settings import BaseSensorSettings, BaseUse, check_base_sensor, links_on_base
from ...stamps import SINGLE, StampOrder
from .motion import ImuMessage, Mount, Numbers, RootMotion

UNIT_TOLERANCE = 0.01
"""How far a quaternion's length may be from one; drivers round them to 16 bits."""

LEAST_GRAVITY = 0.1
"""An accelerometer that reads less than this share of gravity is broken, or falls."""


class ImuMonitor:
    """
    Takes messages, or refuses them whole and counts why.

    ``motion`` is what the messages make of the root link's motion, ``runs`` how often they began
    after a silence.

    :param model: the robot
    :param settings: of the IMU
    :raises InputError: the first parameter that cannot be used
    """

    def __init__(self, model: RobotModel, settings: BaseSensorSettings) -> None:
        check_base_sensor(settings, model)
        self._settings = settings
        self._links = frozenset(model.link_names)
        self._mounts = {
            link: Mount.at(placement) for link, placement in links_on_base(model).items()
        }
        self._link = settings.link
        self._moves = settings.use is BaseUse.MOTION
        self._least_acceleration = LEAST_GRAVITY * math.hypot(*model.gravity)
        self._stamps = StampOrder(1)
        self._received = -math.inf
        self.motion = RootMotion(
            settings.tilt_cutoff, settings.motion_cutoff, self._least_acceleration
        )
        self.runs = 0
        self.rejections: Counter[Reason] = Counter()

    def age(self, now: float) -> float:
        """
        Return how long ago the newest valid message came, s; infinite before the first.

        :param now: monotonic time, s
        """
        return now - self._received

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
        """
        Take a message, or refuse it whole; parts that are not used are not looked at.

        :param frame_id: of its header; not looked at where the settings name a link
        :param orientation: x, y, z, w of the quaternion that takes the IMU's axes to those of a
            world whose z axis points up; None where absent
        :param angular_velocity: x, y, z, rad/s; None where absent
        :param linear_acceleration: what the accelerometer reads, x, y, z, m/s^2; None where absent
        :param stamp: the message's own time, s; 0 where it has none, then its order is not checked
        :param clock: the clock that stamps are given in, s
        :param received: monotonic time of receipt, s
        :return: why it was refused, None where it was taken
        """
        message = self._used(orientation, angular_velocity, linear_acceleration)
        again = received - self._received > self._settings.timeout
        link = self._settings.link or ('' if again else self._link) or frame_id
        reason = self._frame_refusal(link, frame_id) or self._reading_refusal(message)
        if stamp:
            reason = reason or self._stamps.check(SINGLE, stamp, clock, received)
        if reason is not None:
            self.refuse(reason)
            return reason
        dt = self._elapsed(stamp, received)
        self._link, self._received = link, received
        mount = self._mounts[link]
        if again:
            self.runs += 1
            self.motion.begin()
        self.motion.take_tilt(message, mount, dt)
        if self._moves:
            self.motion.take_motion(message, mount, dt)
        return None

    def refuse(self, reason: Reason) -> None:
        """Count a refusal."""
        # Replaced, not changed: another thread may be reading it.
        self.rejections = self.rejections + Counter((reason,))

    def _used(
        self,
        orientation: Numbers | None,
        angular_velocity: Numbers | None,
        linear_acceleration: Numbers | None,
    ) -> ImuMessage:
        if not self._settings.use_orientation:
            orientation = None
        if self._moves:
            return ImuMessage(orientation, angular_velocity, linear_acceleration)
        return ImuMessage(orientation, None, linear_acceleration if orientation is None else None)

    def _frame_refusal(self, link: str, frame_id: str) -> Reason | None:
        if link not in self._mounts:
            return Reason.FRAME_MOVES if link in self._links else Reason.UNKNOWN_FRAME
        if not self._settings.link and link != frame_id:
            return Reason.FRAME_CHANGED
        return None

    def _elapsed(self, stamp: float, received: float) -> float:
        """Return the time since the message before, by stamps where they are of one clock, s."""
        by_receipt = max(received - self._received, 0.0)
        if not stamp:
            return by_receipt
        before, steps = self._stamps.newest(SINGLE)[0], self._stamps.steps
        self._stamps.accept(SINGLE, stamp, received)
        of_one_clock = before > 0.0 and self._stamps.steps == steps
        return stamp - before if of_one_clock else by_receipt

    def _reading_refusal(self, message: ImuMessage) -> Reason | None:
        quaternion, turn, push = parts = (
            message.orientation, message.angular_velocity, message.linear_acceleration
        )
        tilt_missing = quaternion is None and push is None
        if tilt_missing or (self._moves and (turn is None or push is None)):
            return Reason.PART_MISSING
        if not all(math.isfinite(x) for part in parts if part is not None for x in part):
            return Reason.NOT_FINITE
        if quaternion is not None and not abs(math.hypot(*quaternion) - 1.0) <= UNIT_TOLERANCE:
            return Reason.NOT_UNIT_QUATERNION
        if turn is not None and math.hypot(*turn) > self._settings.max_angular_velocity:
            return Reason.OVER_CAP
        if push is not None and math.hypot(*push) > self._settings.max_acceleration:
            return Reason.OVER_CAP
        if push is not None and math.hypot(*push) < self._least_acceleration:
            return Reason.FREE_FALL
        return None
