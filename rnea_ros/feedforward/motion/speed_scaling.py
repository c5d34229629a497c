# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Speed scaling: the pace of trajectory time, for robots that slow their motions down.

In: the latest requested factor. Out: the active factor s, which follows at a bounded rate, and
the delay of trajectory time behind real time.

A motion q(t') whose time t' advances at the rate s has velocity s q'(t') and acceleration
s^2 q''(t') + (ds/dt) q'(t').
"""

from __future__ import annotations

from ...errors import InputError

RATE = 2.0
"""Rate of change of the factor, 1/s: from full speed to a stop in half a second."""

ROUNDING = 1e-6
"""Accepted excess over the range of the factor, for values in single precision."""


def speed_factor(value: float, scale: float) -> float:
    """
    Return a speed, times a scale (0.01 for percent), as a factor from 0 to 1.

    :raises InputError: the factor is not in [0, 1], or not a number
    """
    factor = scale * value
    if not -ROUNDING <= factor <= 1.0 + ROUNDING:
        raise InputError(
            'speed scaling', f'{value} times {scale} is not between 0 (stop) and 1 (full speed)'
        )
    return min(max(factor, 0.0), 1.0)


class SpeedScaling:
    """
    The active speed factor. It follows the requested factor at a bounded rate.

    :ivar factor: active factor, from 0 (motions stand still) to 1
    :ivar change: its rate of change, 1/s
    :ivar delay: delay of trajectory time behind real time, s; it only grows
    """

    def __init__(self) -> None:
        self._target = 1.0
        self._last_time: float | None = None
        self.factor = 1.0
        self.change = 0.0
        self.delay = 0.0

    def set_target(self, speed: float, scale: float = 1.0) -> None:
        """Set the requested factor, as in :func:`speed_factor`. Any thread may call this."""
        self._target = speed_factor(speed, scale)

    def delay_at(self, time: float) -> float:
        """Return the delay at a time after the last :meth:`advance`, with the present factor."""
        ahead = 0.0 if self._last_time is None else time - self._last_time
        return self.delay + (1.0 - self.factor) * ahead

    def advance(self, now: float) -> None:
        """Advance factor and delay to the present. A time that runs backwards changes nothing."""
        elapsed = 0.0 if self._last_time is None else max(now - self._last_time, 0.0)
        self._last_time = now
        if elapsed == 0.0:
            return
        before, step = self.factor, RATE * elapsed
        self.factor = min(max(self._target, before - step), before + step)
        self.change = (self.factor - before) / elapsed
        self.delay += elapsed * (1.0 - 0.5 * (before + self.factor))
