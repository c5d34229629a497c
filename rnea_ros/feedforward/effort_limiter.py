# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The last stage before a command leaves: blended, limited in size and in rate, always finite."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..dynamics.compilation import entry, entry_point


class EffortLimiter:
    """
    Turns wanted efforts into commands that never step.

    A blend bridges whatever jumps: at its start the difference between the last command and the
    newly wanted effort is kept as an offset, which then fades linearly to zero.

    :param effort_limits: greatest command, in either direction, shape (m,), N m or N
    :param effort_rate_limit: greatest change of command, likewise, shape (m,), N m/s or N/s
    """

    def __init__(self, effort_limits: Array, effort_rate_limit: Array) -> None:
        self._limits = effort_limits
        self._rate_limit = effort_rate_limit
        self._offset = np.zeros_like(effort_limits)
        self._remaining = 0.0
        self._duration = 1.0
        self._rebase = False
        self.command = np.zeros_like(effort_limits)
        self.saturated = np.zeros(effort_limits.shape, dtype=bool)
        constant = (effort_limits, effort_rate_limit, self._offset, self.command, self.saturated)
        self._approach = partial(
            entry_point(_approach, (*constant, self.command, 0.0, 0.0)), *constant
        )

    @property
    def blending(self) -> bool:
        """Whether an offset is still fading."""
        return self._remaining > 0.0

    def start(self, effort: Array) -> None:
        """
        Take the effort that acts now as the last command.

        :param effort: shape (m,), N m or N; what exceeds the limits is cut
        """
        np.clip(effort, -self._limits, self._limits, out=self.command)
        self.saturated[:] = False
        self._remaining = 0.0

    def blend(self, duration: float) -> None:
        """
        Bridge the jump at the next step.

        :param duration: s
        """
        self._remaining = self._duration = duration
        self._rebase = True

    def end_blend(self) -> None:
        """Drop what is left of an offset; the rate limit bridges the rest."""
        self._remaining = 0.0

    def step(self, wanted: Array, dt: float) -> Array:
        """
        Return the next command.

        :param wanted: finite efforts, shape (m,), N m or N
        :param dt: time since the command before, s
        :return: the command, shape (m,); overwritten by the next call
        """
        share = 0.0
        if self._remaining > 0.0:
            if self._rebase:
                np.subtract(self.command, wanted, out=self._offset)
                self._rebase = False
            self._remaining = max(self._remaining - dt, 0.0)
            share = self._remaining / self._duration
        self._approach(wanted, share, dt)
        return self.command

    def settled(self, wanted: Array, dt: float) -> bool:
        """
        Return whether the command has reached what is wanted, or its limit.

        :param wanted: efforts, shape (m,), N m or N
        :param dt: what could be reached in so long a time counts as reached, s
        """
        bounded = np.clip(wanted, -self._limits, self._limits)
        return bool((np.abs(bounded - self.command) <= self._rate_limit * dt).all())


@entry
def _approach(
    limits: Array,
    rate_limit: Array,
    offset: Array,
    command: Array,
    saturated: NDArray[np.bool_],
    wanted: Array,
    share: float,
    dt: float,
) -> None:
    """Move commands to what is wanted and a share of the offset, as far as limits allow."""
    for i in range(command.size):
        target = wanted[i]
        if share != 0.0:  # an infinite offset is none once it has faded
            target += share * offset[i]
        bounded = min(max(target, -limits[i]), limits[i])
        saturated[i] = bounded != target
        change = rate_limit[i] * dt
        command[i] = min(max(bounded, command[i] - change), command[i] + change)
