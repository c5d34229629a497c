# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Whether memory or jitter grew in a long run: the verdict of a soak, from plain numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..robots import Array

WARM_UP = 0.2
"""The share of the run in which memory may grow."""

MEMORY_RISE = 2.0
"""MB that memory may rise by in the rest."""

PARTS = 4
"""A leak goes on: memory must rise from each of so many parts of the rest to the next."""

STEADY = 0.05
"""The share of the allowed rise that counts as a rise from one part to the next."""

JITTER_RATIO = 1.5
"""How many times greater jitter may become than a loop's that only sleeps."""


@dataclass(frozen=True)
class Endurance:
    """
    What a soak found.

    :param memory_rise: how much memory rose after the warm-up, by a robust straight line, MB
    :param memory_grows: whether that is too much, and goes on
    :param jitter: p99 of the last third of the run, of that of the first
    :param baseline: the same of a loop that only sleeps
    :param jitter_grows: whether jitter grew, and more than the machine explains
    """

    memory_rise: float
    memory_grows: bool
    jitter: float
    baseline: float
    jitter_grows: bool

    @property
    def lasts(self) -> bool:
        """Whether nothing grew."""
        return not (self.memory_grows or self.jitter_grows)


def endurance(times: Array, memory: Array, p99: Array, sleeper: Array) -> Endurance:
    """
    Judge a run.

    :param times: of the samples, evenly spaced, shape (n,), s; at least eight
    :param memory: shape (n,), MB
    :param p99: period error of each interval, shape (n,), s
    :param sleeper: the same of a loop that only sleeps, beside it
    """
    warm = times >= times[0] + WARM_UP * (times[-1] - times[0])
    rise = _slope(times[warm], memory[warm]) * float(np.ptp(times[warm]))
    levels = np.array([np.median(part) for part in np.array_split(memory[warm], PARTS)])
    goes_on = bool((np.diff(levels) > STEADY * MEMORY_RISE).all())
    jitter, apart = _thirds(p99)
    baseline, _ = _thirds(sleeper)
    return Endurance(
        memory_rise=rise,
        memory_grows=rise > MEMORY_RISE and goes_on,
        jitter=jitter,
        baseline=baseline,
        jitter_grows=apart and jitter > JITTER_RATIO * max(baseline, 1.0),
    )


def _slope(times: Array, values: Array) -> float:
    """Return the median of the slopes between all pairs (Theil and Sen): no outlier moves it."""
    first, second = np.triu_indices(times.size, 1)
    return float(np.median((values[second] - values[first]) / (times[second] - times[first])))


def _thirds(values: Array) -> tuple[float, bool]:
    """Return the last third's median by the first's, and whether most of it lies above."""
    first, _, last = np.array_split(values, 3)
    apart = bool(np.percentile(last, 25.0) > np.percentile(first, 75.0))
    return float(np.median(last) / np.median(first)), apart
