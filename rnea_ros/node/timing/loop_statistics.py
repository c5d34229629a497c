# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Timing of the loop, recorded every tick without allocating memory."""

from __future__ import annotations

from dataclasses import dataclass
import time

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class LoopReport:
    """
    Timing of the loop; counts since the start, the rest since the last report.

    :param rate: ticks per second of the loop's clock, Hz
    :param late: number of ticks more than half a period late
    :param missed: number of skipped ticks
    :param untriggered: number of ticks without a new joint state
    :param lateness: delay of a tick's start, 99th percentile and maximum, s
    :param compute: duration of a tick, 99th percentile and maximum, s
    :param cpu: share of one core that the whole process used
    """

    rate: float
    late: int
    missed: int
    untriggered: int
    lateness: tuple[float, float]
    compute: tuple[float, float]
    cpu: float


class LoopStatistics:
    """
    Records lateness and duration of ticks.

    One thread records, another reports; a report may miss the present tick.

    :param capacity: greatest number of ticks in a report
    :ivar missed: number of skipped ticks, set by the loop
    :ivar untriggered: number of ticks without a new joint state, set by the loop
    """

    def __init__(self, period: float, loop_time: float, capacity: int = 10_000) -> None:
        self._period = period
        self._lateness = np.zeros(capacity)
        self._compute = np.zeros(capacity)
        self._ticks = 0
        self._late = 0
        self.missed = 0
        self.untriggered = 0
        self._reported_ticks = 0
        self._reported_loop_time = loop_time
        self._reported_at = time.monotonic()
        self._reported_cpu = time.process_time()

    def record(self, lateness: float, compute: float) -> None:
        """Record a tick: the delay of its start, and its duration, s."""
        slot = self._ticks % self._lateness.size
        self._lateness[slot] = lateness
        self._compute[slot] = compute
        self._ticks += 1
        if lateness > 0.5 * self._period:
            self._late += 1

    def report(self, loop_time: float) -> LoopReport:
        """Return the timing since the last report; ``loop_time``: the loop's clock now, s."""
        now, cpu, ticks = time.monotonic(), time.process_time(), self._ticks
        new = ticks - self._reported_ticks
        elapsed = max(now - self._reported_at, 1e-9)
        passed = loop_time - self._reported_loop_time
        report = LoopReport(
            rate=new / passed if passed > 0.0 else 0.0,
            late=self._late,
            missed=self.missed,
            untriggered=self.untriggered,
            lateness=_summary(self._lateness, ticks, new),
            compute=_summary(self._compute, ticks, new),
            cpu=(cpu - self._reported_cpu) / elapsed,
        )
        self._reported_at, self._reported_cpu, self._reported_ticks = now, cpu, ticks
        self._reported_loop_time = loop_time
        return report


def _summary(ring: NDArray[np.float64], ticks: int, new: int) -> tuple[float, float]:
    """Return the 99th percentile and the maximum of the newest values in a ring."""
    count = min(new, ring.size)
    if count == 0:
        return (0.0, 0.0)
    newest = ring[np.arange(ticks - count, ticks) % ring.size]
    return (float(np.percentile(newest, 99.0)), float(newest.max()))
