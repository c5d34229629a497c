# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The last stage before a command is sent: blends, effort limits and rate limits."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..dynamics.compilation import entry, entry_point


class EffortLimiter:
    """
    Turns efforts into commands without steps.

    A blend bridges a step in the effort: its offset is the last command minus the new effort, and
    fades linearly to zero.

    :param effort_limits: maximum command in either direction, shape (m,), N m or N
    :param effort_rate_limit: maximum change of a command, shape (m,), N m/s or N/s
    :ivar command: the last command, shape (m,), N m or N
    :ivar saturated: commands that the effort limits cut at the last step, shape (m,)
    """

    def __init__(self, effort_limits: Array, effort_rate_limit: Array) -> None:
        self._limits = effort_limits
        self._rate_limit = effort_rate_limit
        self._offset = np.zeros_like(effort_limits)
        self._remaining = 0.0
        self._duration = 1.0
        self._offset_is_due = False
        self.command = np.zeros_like(effort_limits)
        self.saturated = np.zeros(effort_limits.shape, dtype=bool)
        constant = (effort_limits, effort_rate_limit, self._offset, self.command, self.saturated)
        self._approach = partial(
            entry_point(_approach, (*constant, self.command, 0.0, 0.0)), *constant
        )

    @property
    def blending(self) -> bool:
        """Whether an offset is fading."""
        return self._remaining > 0.0

    def start(self, effort: Array) -> None:
        """
        Set the last command to an effort, and end the blend.

        :param effort: shape (m,), N m or N; cut at the effort limits
        """
        np.clip(effort, -self._limits, self._limits, out=self.command)
        self.saturated[:] = False
        self._remaining = 0.0

    def blend(self, duration: float) -> None:
        """
        Blend from the last command to the effort of the next step.

        :param duration: s
        """
        self._remaining = self._duration = duration
        self._offset_is_due = True

    def end_blend(self) -> None:
        """End the blend; the rate limit smooths the remaining step."""
        self._remaining = 0.0

    def step(self, effort: Array, dt: float) -> Array:
        """
        Return the next command, shape (m,); the next call overwrites it.

        :param effort: finite efforts, shape (m,), N m or N
        :param dt: time since the last command, s
        """
        share = 0.0
        if self._remaining > 0.0:
            if self._offset_is_due:
                np.subtract(self.command, effort, out=self._offset)
                self._offset_is_due = False
            self._remaining = max(self._remaining - dt, 0.0)
            share = self._remaining / self._duration
        self._approach(effort, share, dt)
        return self.command

    def settled(self, effort: Array, dt: float) -> bool:
        """
        Return whether the command has reached an effort, or its limit.

        :param effort: shape (m,), N m or N
        :param dt: tolerance, as a time at the rate limit, s
        """
        bounded = np.clip(effort, -self._limits, self._limits)
        return bool((np.abs(bounded - self.command) <= self._rate_limit * dt).all())


@entry
def _approach(
    limits: Array,
    rate_limit: Array,
    offset: Array,
    command: Array,
    saturated: NDArray[np.bool_],
    effort: Array,
    share: float,
    dt: float,
) -> None:
    """Move commands towards efforts plus a share of the offset, as far as the limits allow."""
    for i in range(command.size):
        target = effort[i]
        if share != 0.0:  # avoid 0 * inf
            target += share * offset[i]
        bounded = min(max(target, -limits[i]), limits[i])
        saturated[i] = bounded != target
        change = rate_limit[i] * dt
        command[i] = min(max(bounded, command[i] - change), command[i] + change)
