# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The offset of a force-torque sensor: averaged on request, then blended in without a step."""

from __future__ import annotations

from collections.abc import Hashable
import math

import numpy as np

from ..arrays import Array
from .reasons import Reason
from .settings import WrenchInputSettings

PARTS = 4  # a tare compares the means of this number of equal times
STEADY_FORCE, STEADY_TORQUE = 1.0, 0.1  # N and N m: permitted changes; more in a deadband

TareOffsets = dict[Hashable, tuple[Array, float]]
"""Last tares: offset, shape (6,), and time in s, by what its sensor measured in which frame."""


class Tare:
    """
    Averages the readings of an unloaded sensor, and takes the mean as its offset.

    :ivar kept: the last tares; another control may go on with them
    :ivar offset: the offset in force, shape (6,), N m and N
    :ivar averaging: whether a tare is averaging
    :ivar rejection: why the last tare was rejected, None if it was not
    """

    def __init__(self, settings: WrenchInputSettings) -> None:
        self._settings = settings
        self._key: Hashable = None
        self._began = self._blend_began = -math.inf
        self._sums, self._counts = np.zeros((PARTS, 6)), np.zeros((PARTS, 1))
        self._from, self._to, self.offset = np.zeros((3, 6))
        self.kept: TareOffsets = {}
        self.averaging = False
        self.rejection: Reason | None = None

    def begin(self, now: float) -> None:
        """Begin to average; a tare in progress begins again."""
        self._began = now
        self._sums[:] = self._counts[:] = 0.0
        self.averaging, self.rejection = True, None

    def reject(self, reason: Reason) -> None:
        """Reject a tare in progress; the offset stays in force."""
        if self.averaging:
            self.averaging, self.rejection = False, reason

    def mount(self, link: str) -> None:
        """Go on with the last tare in the frame of a link, at once; a new mount has no offset."""
        sensor = self._settings
        self._key = (sensor.name, sensor.topic, link, sensor.measures, sensor.placement)
        self.offset[:] = self.kept[self._key][0] if self._key in self.kept else 0.0
        self._blend_began = -math.inf

    def summary(self, now: float) -> str:
        """Return the last tare in words: force, torque, age; empty before the first."""
        if self._key not in self.kept:
            return ''
        offset, taken = self.kept[self._key]
        torque, force = math.hypot(*offset[:3]), math.hypot(*offset[3:])
        return f'{force:.3g} N, {torque:.3g} N m, {max(now - taken, 0.0):.0f} s ago'

    def average(self, now: float, reading: Array) -> None:
        """Add a reading, shape (6,), once a tick; it is without load, so motions do not count."""
        if not self.averaging:
            return
        self._began = min(self._began, now)  # simulated time may be set back
        share = (now - self._began) / self._settings.tare_duration
        part = min(int(PARTS * share), PARTS - 1)
        self._sums[part] += reading
        self._counts[part] += 1.0
        if share >= 1.0:
            self._finish(now)

    def advance(self, now: float) -> None:
        """Advance ``offset`` during a blend."""
        if self._blend_began > -math.inf:
            share = min(max((now - self._blend_began) / self._settings.fade, 0.0), 1.0)
            self.offset[:] = (1.0 - share) * self._from + share * self._to
            if share == 1.0:
                self._blend_began = -math.inf

    def _finish(self, now: float) -> None:
        """Start to blend the mean in, or reject it."""
        settings, mean = self._settings, self._sums.sum(axis=0) / self._counts.sum()
        changes = np.ptp(self._sums / np.maximum(self._counts, 1.0), axis=0)
        max_torque_change = max(STEADY_TORQUE, settings.deadband_torque)
        max_force_change = max(STEADY_FORCE, settings.deadband_force)
        if not self._counts.all() or _exceeds(changes, max_torque_change, max_force_change):
            self.reject(Reason.TARE_UNSTEADY)
        elif _exceeds(mean, settings.max_torque, settings.max_force):
            self.reject(Reason.OVER_CAP)
        else:
            self.averaging = False
            self._from[:], self._to[:] = self.offset, mean
            self._blend_began = now
            self.kept[self._key] = (mean, now)


def _exceeds(wrench: Array, max_torque: float, max_force: float) -> bool:
    return math.hypot(*wrench[:3]) > max_torque or math.hypot(*wrench[3:]) > max_force
