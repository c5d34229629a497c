# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The last stage before a command is sent: blends, effort limits and rate limits (slew rates)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..compilation import kernel


class EffortLimiter:
    """
    Turns efforts into commands without steps.

    A blend bridges a step in the effort: its offset is the last command minus the new effort, and
    fades linearly to zero. A change counts from the time at which the last command was sent.

    The first blend of a start is its ramp. What ends the ramp keeps the share that it has reached:
    see :meth:`ramped`.

    :param effort_limits: maximum command in either direction, m values, N m or N
    :param effort_rate_limit: maximum change of a command, m values, N m/s or N/s
    :ivar command: the last command, shape (m,), N m or N
    :ivar saturated: commands that the effort limits cut at the last tick, shape (m,)
    :ivar starting: time for which the rate limit may still delay a start, s; 0 once commands have
        reached their efforts
    """

    def __init__(self, effort_limits: ArrayLike, effort_rate_limit: ArrayLike) -> None:
        self._limits = np.array(effort_limits, dtype=np.float64)
        self._rate_limit = np.array(effort_rate_limit, dtype=np.float64)
        self._offset, self._before, self._start_effort, self.command = np.zeros(
            (4, self._limits.size)
        )
        self.saturated = np.zeros(self._limits.shape, dtype=bool)
        self._offset_is_due = False
        self._remaining, self._duration = 0.0, 1.0
        self._start_share = 1.0  # what the ramp has left of the effort from which commands started
        self._sent_at = self._sent_before = -math.inf
        self.starting = 0.0
        self.limit(self.command, -math.inf, 0.0)  # compiles before the loop starts
        self.starting = math.inf

    @property
    def blending(self) -> bool:
        """Whether an offset is fading."""
        return self._remaining > 0.0

    def start(self, effort: Array) -> None:
        """Set the last command to an effort, cut at its limits, and end the blend."""
        np.clip(effort, -self._limits, self._limits, out=self.command)
        self.saturated[:] = False
        self._remaining = 0.0
        self._sent_at = -math.inf
        self.starting = math.inf

    def ramp(self, duration: float) -> None:
        """Ramp from the last command, from which commands start, for a duration in s."""
        self._start_effort[:] = self.command
        self._start_share = 1.0 if duration > 0.0 else 0.0
        self.blend(duration)

    def ramped(self, effort: Array) -> Array:
        """Return how far the start ramp has come on the way to an effort, shape (m,)."""
        return effort + self._start_share * (self._start_effort - effort)

    def blend(self, duration: float) -> None:
        """Blend from the last command to the effort of the next tick, for a duration in s."""
        self._remaining = self._duration = duration
        self._offset_is_due = True

    def end_blend(self) -> None:
        """End the blend; the rate limit smooths the remaining step."""
        self._remaining = 0.0

    def limit(self, effort: Array, now: float, dt: float) -> Array:
        """
        Return the next command for finite efforts, shape (m,); the next call overwrites it.

        It counts as sent now; correct that with :meth:`sent` or :meth:`withdraw`.
        """
        if self.starting == math.inf:
            bounded = np.clip(effort, -self._limits, self._limits)
            self.starting = float((np.abs(bounded - self.command) / self._rate_limit).max())
        share = 0.0
        if self._remaining > 0.0:
            if self._offset_is_due:
                np.subtract(self.command, effort, out=self._offset)
                self._offset_is_due = False
            before, self._remaining = self._remaining, max(self._remaining - dt, 0.0)
            self._start_share *= self._remaining / before
            share = self._remaining / self._duration
        since_sent = now - self._sent_at
        # Simulated time can be set back: then the last command counts as one period old.
        allowed = min(dt, since_sent) if since_sent >= 0.0 else dt
        self._sent_before, self._sent_at = self._sent_at, now
        reached = limit_commands(
            self._limits, self._rate_limit, self._offset, self._before, self.command,
            self.saturated, effort, share, allowed,
        )
        self.starting = 0.0 if reached and share == 0.0 else self.starting - dt
        return self.command

    def sent(self, now: float) -> None:
        """Set the time right after sending: a stall may lie between the limits and sending."""
        self._sent_at = now
        self._before[:] = self.command

    def withdraw(self) -> None:
        """Restore the command before the last one: its own was not sent."""
        self.command[:] = self._before
        self._sent_at = self._sent_before

    def settled(self, effort: Array, dt: float) -> bool:
        """Return whether the command is at an effort or its limit, within dt at the rate limit."""
        bounded = np.clip(effort, -self._limits, self._limits)
        return bool((np.abs(bounded - self.command) <= self._rate_limit * dt).all())


@kernel
def limit_commands(
    limits: Array, rate_limit: Array, offset: Array, before: Array, command: Array,
    saturated: NDArray[np.bool_], effort: Array, share: float, dt: float,
) -> bool:
    """Move commands within the limits; return whether all are as far as effort limits allow."""
    reached = True
    for i in range(command.size):
        before[i] = command[i]
        target = effort[i]
        if share != 0.0:  # avoid 0 * inf
            target += share * offset[i]
        bounded = min(max(target, -limits[i]), limits[i])
        saturated[i] = bounded != target
        change = rate_limit[i] * dt
        command[i] = min(max(bounded, command[i] - change), command[i] + change)
        reached &= command[i] == bounded
    return reached
