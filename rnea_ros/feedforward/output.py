# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The last stage before a command leaves: blended, limited in size and in rate, always finite."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


class OutputStage:
    """
    Turns wanted efforts into commands that never step.

    A blend bridges whatever jumps: at its start the difference between the last command and the
    newly wanted effort is kept as an offset, which then fades linearly to zero.

    :param effort_limits: greatest |command|, shape (m,), N m or N
    :param effort_rate_limit: greatest |change of command|, shape (m,), N m/s or N/s
    :param period: time between commands, s
    """

    def __init__(self, effort_limits: Array, effort_rate_limit: Array, period: float) -> None:
        self._limits = effort_limits
        self._greatest_change = effort_rate_limit * period
        self._period = period
        self._offset = np.zeros_like(effort_limits)
        self._remaining = 0.0
        self._duration = 1.0
        self._rebase = False
        self.command = np.zeros_like(effort_limits)
        self.saturated = np.zeros(effort_limits.shape, dtype=bool)

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
        self._remaining = 0.0

    def blend(self, duration: float) -> None:
        """
        Bridge the jump at the next step.

        :param duration: s
        """
        self._duration = max(duration, self._period)
        self._remaining = self._duration
        self._rebase = True

    def end_blend(self) -> None:
        """Drop what is left of an offset; the rate limit bridges the rest."""
        self._remaining = 0.0

    def step(self, wanted: Array) -> Array:
        """
        Return the next command.

        :param wanted: finite efforts, shape (m,), N m or N
        :return: the command, shape (m,); overwritten by the next call
        """
        target = wanted
        if self._remaining > 0.0:
            if self._rebase:
                np.subtract(self.command, wanted, out=self._offset)
                self._rebase = False
            self._remaining -= self._period
            target = wanted + max(self._remaining / self._duration, 0.0) * self._offset
        bounded = np.clip(target, -self._limits, self._limits)
        np.not_equal(bounded, target, out=self.saturated)
        low = self.command - self._greatest_change
        high = self.command + self._greatest_change
        np.clip(bounded, low, high, out=self.command)
        return self.command

    def settled(self, wanted: Array) -> bool:
        """
        Return whether the command has reached what is wanted, or its limit.

        :param wanted: efforts, shape (m,), N m or N
        """
        bounded = np.clip(wanted, -self._limits, self._limits)
        return bool((np.abs(bounded - self.command) <= self._greatest_change).all())
