# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The offset of a force-torque sensor: averaged on request, then blended in without a step."""

from __future__ import annotations

import math

import numpy as np

from ....arrays import Array
from ...reasons import Reason
from ...settings import WrenchInputSettings

MAX_MOTION = 0.01
"""Permitted motion of a joint during a tare, rad or m."""


class Tare:
    """
    Averages the readings of an unloaded sensor, and takes the mean as its offset.

    :ivar offset: the offset in force, shape (6,), N m and N
    :ivar averaging: whether a tare is averaging
    :ivar rejection: why the last tare was rejected, None if it was not
    """

    def __init__(self, settings: WrenchInputSettings) -> None:
        self._settings = settings
        self._began = -math.inf
        self._q = np.zeros(0)
        self._sum = np.zeros(6)
        self._count = 0
        self._from = np.zeros(6)
        self._to = np.zeros(6)
        self._blend_began = -math.inf
        self._blending = False
        self.offset = np.zeros(6)
        self.averaging = False
        self.rejection: Reason | None = None

    def begin(self, now: float, q: Array) -> None:
        """Begin to average; a tare in progress begins again."""
        self._began, self._q = now, q.copy()
        self._sum[:], self._count = 0.0, 0
        self.averaging, self.rejection = True, None

    def reject(self, reason: Reason) -> None:
        """Reject a tare in progress; the offset stays in force."""
        if self.averaging:
            self.averaging, self.rejection = False, reason

    def reset(self) -> None:
        """Set the offset to zero at once; for a sensor without an effect at this time."""
        self.offset[:] = 0.0
        self._blending = False

    def average(self, now: float, q: Array, reading: Array) -> None:
        """Add an external wrench with the offset, shape (6,), N m and N; once a tick."""
        if not self.averaging:
            return
        if not np.abs(q - self._q).max(initial=0.0) <= MAX_MOTION:
            self.reject(Reason.TARE_ROBOT_MOVED)
            return
        self._sum += reading
        self._count += 1
        if now - self._began >= self._settings.tare_duration:
            self._finish(now)

    def advance(self, now: float) -> None:
        """Advance ``offset`` during a blend."""
        if self._blending:
            share = min(max((now - self._blend_began) / self._settings.fade, 0.0), 1.0)
            self.offset[:] = (1.0 - share) * self._from + share * self._to
            self._blending = share < 1.0

    def _finish(self, now: float) -> None:
        mean = self._sum / self._count
        settings, torque, force = self._settings, mean[:3], mean[3:]
        if math.hypot(*torque) > settings.max_torque or math.hypot(*force) > settings.max_force:
            self.reject(Reason.OVER_CAP)
            return
        self.averaging = False
        self._from[:], self._to[:] = self.offset, mean
        self._blend_began, self._blending = now, True
