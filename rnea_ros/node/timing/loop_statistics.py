# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""How well the loop keeps its time, measured tick by tick without allocating."""

from __future__ import annotations

from dataclasses import dataclass
import time

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class LoopReport:
    """
    What the loop did since the last report.

    :param rate: ticks a second of the loop's clock, Hz
    :param late: ticks that came over half a period late, since the start
    :param missed: ticks that were skipped, since the start
    :param unprompted: ticks that came although what they are for did not, since the start
    :param lateness: 50th and 99th percentile and maximum, s
    :param compute: time spent in a tick, likewise, s
    :param cpu: share of one core that the whole process used
    """

    rate: float
    late: int
    missed: int
    unprompted: int
    lateness: tuple[float, float, float]
    compute: tuple[float, float, float]
    cpu: float


class LoopStatistics:
    """
    Collects lateness and compute time of ticks.

    One thread records, another reports; a report may miss the tick that is under way.

    :param period: s
    :param loop_time: of the loop's clock now, s
    :param capacity: how many ticks a report looks back at most
    """

    def __init__(self, period: float, loop_time: float, capacity: int = 10_000) -> None:
        self._period = period
        self._lateness = np.zeros(capacity)
        self._compute = np.zeros(capacity)
        self._ticks = 0
        self._late = 0
        self.missed = 0
        self.unprompted = 0
        self._reported_ticks = 0
        self._reported_loop_time = loop_time
        self._reported_at = time.monotonic()
        self._reported_cpu = time.process_time()

    def record(self, lateness: float, compute: float) -> None:
        """
        Take one tick.

        :param lateness: how late it began, s
        :param compute: how long it took, s
        """
        slot = self._ticks % self._lateness.size
        self._lateness[slot] = lateness
        self._compute[slot] = compute
        self._ticks += 1
        if lateness > 0.5 * self._period:
            self._late += 1

    def report(self, loop_time: float) -> LoopReport:
        """
        Return what happened since the last report.

        :param loop_time: of the loop's clock now, s
        """
        now, cpu, ticks = time.monotonic(), time.process_time(), self._ticks
        new = ticks - self._reported_ticks
        elapsed = max(now - self._reported_at, 1e-9)
        passed = loop_time - self._reported_loop_time
        report = LoopReport(
            rate=new / passed if passed > 0.0 else 0.0,
            late=self._late,
            missed=self.missed,
            unprompted=self.unprompted,
            lateness=_summary(self._lateness, ticks, new),
            compute=_summary(self._compute, ticks, new),
            cpu=(cpu - self._reported_cpu) / elapsed,
        )
        self._reported_at, self._reported_cpu, self._reported_ticks = now, cpu, ticks
        self._reported_loop_time = loop_time
        return report


def _summary(ring: NDArray[np.float64], ticks: int, new: int) -> tuple[float, float, float]:
    """Return p50, p99 and maximum of the newest values in a ring."""
    count = min(new, ring.size)
    if count == 0:
        return (0.0, 0.0, 0.0)
    newest = ring[np.arange(ticks - count, ticks) % ring.size]
    p50, p99 = np.percentile(newest, (50.0, 99.0))
    return (float(p50), float(p99), float(newest.max()))
