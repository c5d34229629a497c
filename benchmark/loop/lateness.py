# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""How well ticks keep their time, and how long commands take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..robots import Array

PERCENTILES = (50.0, 99.0, 99.9)

EARLY = 0.05
"""Share of a period by which a tick may precede its fitted time."""

CLOSE = 1e-3
"""Numbers are the same if they differ by less than this much of the least between two states."""


@dataclass(frozen=True)
class Lateness:
    """
    Period errors of one loop.

    :param period: s
    :param errors: how late each tick began, shape (n,), s
    """

    period: float
    errors: Array

    @property
    def percentiles(self) -> tuple[float, float, float]:
        """The 50th, 99th and 99.9th percentile, s."""
        p50, p99, p999 = np.percentile(self.errors, PERCENTILES)
        return float(p50), float(p99), float(p999)

    @property
    def greatest(self) -> float:
        """The greatest of all, s."""
        return float(self.errors.max())

    @property
    def skipped(self) -> int:
        """Ticks that never came, because the one before them was too late."""
        return int((np.maximum(self.errors, 0.0) // self.period).sum())

    @property
    def ticks(self) -> int:
        """Ticks that there should have been."""
        return self.errors.size + self.skipped

    @property
    def late(self) -> int:
        """Ticks that came over half a period late, or never."""
        return int((self.errors > 0.5 * self.period).sum()) + self.skipped


def pooled(parts: Sequence[Lateness]) -> Lateness:
    """Return the period errors of several turns as one."""
    return Lateness(parts[0].period, np.concatenate([part.errors for part in parts]))


def of_grid(times: Array, period: float) -> Array:
    """
    Return how late ticks with an unknown schedule are, by the grid that fits them best.

    The grid begins where the earliest hundredth of the ticks begin. After each tick the next time
    of the grid is due, as for a timer that skips missed ticks.

    :param times: when the ticks began, shape (n,), s
    :param period: of the grid, s
    :return: shape (n - 1,), s
    """
    phases = (times - times[0]) % period
    centre = np.angle(np.exp(2j * np.pi * phases / period).mean()) * period / (2.0 * np.pi)
    around = (phases - centre + 0.5 * period) % period - 0.5 * period
    begin = times[0] + centre + np.percentile(around, 1.0)
    due = np.floor((times[:-1] - begin) / period + EARLY) + 1.0
    late: Array = times[1:] - begin - due * period
    return late


def around_events(
    began: Array, errors: Array, events: Sequence[float], window: float
) -> tuple[Array, Array]:
    """
    Return the greatest period error in a window before, and in one after, each event.

    :param began: when the ticks began, shape (n,), s
    :param errors: how late they were, shape (n,), s
    :param events: times, s; those without ticks on both sides are left out
    :param window: length, s
    """
    before, after = [], []
    for event in events:
        was = errors[(began >= event - window) & (began < event)]
        then = errors[(began >= event) & (began < event + window)]
        if was.size and then.size:
            before.append(was.max())
            after.append(then.max())
    return np.array(before), np.array(after)


def latencies(sent: Array, received: Array, commanded: Array, expected: Array) -> Array:
    """
    Return the time from the sending of a state to the receipt of the first command made from it.

    States that no command was made from are left out, and commands that no state explains.

    :param sent: when the states were sent, in order, shape (n,), s
    :param received: when the commands came, in order, shape (m,), s
    :param commanded: one joint's command, shape (m,)
    :param expected: the same for each state of a round, all different, shape (k,)
    :return: shape (at most m,), s
    """
    order = np.argsort(expected)
    ranked = expected[order]
    near = np.clip(np.searchsorted(ranked, commanded), 1, ranked.size - 1)
    near -= commanded - ranked[near - 1] < ranked[near] - commanded
    explained = np.abs(ranked[near] - commanded) < CLOSE * np.diff(ranked).min()
    newest = np.searchsorted(sent, received) - 1
    numbers = newest - (newest - order[near]) % ranked.size
    explained &= numbers >= 0
    used, first = np.unique(numbers[explained], return_index=True)
    found: Array = received[explained][first] - sent[used]
    return found
