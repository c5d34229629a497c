# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The ticks of a loop: an absolute schedule, a log that another process reads, period errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
import time
from typing import Any

import numpy as np

from ..robots import Array

PERCENTILES = (50.0, 99.0, 99.9, 100.0)


def pace(period: float) -> Iterator[tuple[float, float]]:
    """Yield at fixed times when each tick began, and how late, s; skip ticks that were missed."""
    deadline = time.monotonic()
    while True:
        deadline += period
        while (now := time.monotonic()) < deadline:
            time.sleep(deadline - now)
        yield now, now - deadline
        deadline += period * int((now - deadline) / period)


def take(subscription: Any, kind: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the new messages of a subscription, oldest first, with their times; no executor."""
    handle = subscription.handle
    with handle:
        while (taken := handle.take_message(kind, False)) is not None:
            yield taken


class TickLog:
    """
    The newest ticks of a loop, in a file that is mapped into memory.

    :param capacity: number of ticks that it holds
    """

    def __init__(self, path: Path, capacity: int) -> None:
        self._rows = np.memmap(path, dtype=np.float64, mode='w+', shape=(capacity, 3))
        self._rows[:] = np.nan  # from now on its pages count as memory of the process
        self._next = 0

    def record(self, began: float, lateness: float, compute: float) -> None:
        """Record a tick: monotonic time of its start, its lateness and its duration, s."""
        self._rows[self._next] = began, lateness, compute
        self._next = (self._next + 1) % len(self._rows)


@dataclass(frozen=True)
class Lateness:
    """Period errors of one loop: its period, s, and how late each tick began, shape (n,), s."""

    period: float
    errors: Array

    @property
    def percentiles(self) -> list[float]:
        """The period errors at :data:`PERCENTILES`, s."""
        errors: list[float] = np.percentile(self.errors, PERCENTILES).tolist()
        return errors

    @property
    def skipped(self) -> int:
        """Ticks that never came, because the one before them was too late."""
        return int((np.maximum(self.errors, 0.0) // self.period).sum())

    @property
    def ticks(self) -> int:
        """Number of ticks with those that never came."""
        return self.errors.size + self.skipped

    @property
    def late(self) -> int:
        """Number of ticks that came over half a period late, or never."""
        return int((self.errors > 0.5 * self.period).sum()) + self.skipped
