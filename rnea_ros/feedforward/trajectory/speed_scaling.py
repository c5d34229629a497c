# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
How fast a motion's own time runs, as a share of real time, for a robot that slows down.

For a motion q(t') whose time advances at rate s, velocity is s q'(t') and acceleration
s^2 q''(t') + (ds/dt) q'(t').
"""

from __future__ import annotations

import enum

from ...errors import InputError

RATE = 2.0
"""How fast the factor changes, 1/s: from full speed to a stop in half a second."""

ROUNDING = 1e-6
"""By how much a factor may be out of its range: a product of two that were in single precision."""


class ScalingUnit(enum.Enum):
    """What full speed is."""

    FACTOR = 'factor'    # 1
    PERCENT = 'percent'  # 100


def speed_factor(value: float, unit: ScalingUnit) -> float:
    """
    Return a speed as a factor from 0 to 1.

    :raises InputError: it is beyond that, or not a number
    """
    factor = value / 100.0 if unit is ScalingUnit.PERCENT else value
    if not -ROUNDING <= factor <= 1.0 + ROUNDING:
        raise InputError('speed scaling', f'{value} ({unit.value}) is not from stop to full speed')
    return min(max(factor, 0.0), 1.0)


class SpeedScaling:
    """
    Follows the factor that is asked for, at a bounded rate.

    :ivar factor: in force, from 0 (motions stand still) to 1
    :ivar change: how fast that changes, 1/s
    :ivar delay: by how much motions are behind real time, s; it only ever grows
    """

    def __init__(self) -> None:
        self._asked = 1.0
        self._seen: float | None = None
        self.factor = 1.0
        self.change = 0.0
        self.delay = 0.0

    def ask(self, factor: float) -> None:
        """
        Ask for a factor, which counts until another one is asked for; any thread may.

        :param factor: from 0 to 1
        :raises InputError: it is beyond that, or not a number
        """
        self._asked = speed_factor(factor, ScalingUnit.FACTOR)

    def delay_at(self, time: float) -> float:
        """
        Return the delay at a time if the factor stays as it is.

        :param time: monotonic time, s, not before the last one that passed
        """
        ahead = 0.0 if self._seen is None else time - self._seen
        return self.delay + (1.0 - self.factor) * ahead

    def advance(self, now: float) -> None:
        """
        Let time pass; time that runs backwards does not count.

        :param now: monotonic time, s
        """
        elapsed = 0.0 if self._seen is None else max(now - self._seen, 0.0)
        self._seen = now
        if elapsed == 0.0:
            return
        before, reach = self.factor, RATE * elapsed
        self.factor = min(max(self._asked, before - reach), before + reach)
        self.change = (self.factor - before) / elapsed
        self.delay += elapsed * (1.0 - 0.5 * (before + self.factor))
