# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Ticks of a loop, written into shared memory without allocation, read by the benchmark."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import mmap
from pathlib import Path
import sys

import numpy as np

from ..robots import Array

COLUMNS = 3
HEADER = 2
NUMBER = 8


class TickLog:
    """
    The newest ticks of a loop, in a file that is mapped into memory.

    :param path: of the file, which is made anew; on a memory file system it costs nothing more
    :param capacity: how many ticks it holds
    """

    def __init__(self, path: Path, capacity: int) -> None:
        # Written, not only made longer: its pages count as memory of the process from now on.
        path.write_bytes(bytes(NUMBER * (HEADER + COLUMNS * capacity)))
        with path.open('r+b') as file:
            self._memory = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_SHARED | mmap.MAP_POPULATE)
        self._numbers = memoryview(self._memory).cast('d')
        self._capacity = capacity
        self._count = 0

    def record(self, began: float, lateness: float, compute: float) -> None:
        """
        Take one tick.

        :param began: monotonic time, s
        :param lateness: s
        :param compute: how long it took, s
        """
        numbers, at = self._numbers, HEADER + COLUMNS * (self._count % self._capacity)
        numbers[at] = began
        numbers[at + 1] = lateness
        numbers[at + 2] = compute
        self._count += 1
        numbers[0] = self._count

    def note_blocks(self) -> None:
        """Note how many blocks of memory the interpreter holds."""
        self._numbers[1] = sys.getallocatedblocks()


def read_ticks(path: Path, begin: float = 0.0, end: float = np.inf) -> Array:
    """
    Return the ticks of a log, oldest first: when begun, how late, how long, shape (n, 3), s.

    :param path: of its file
    :param begin: none older, monotonic time, s
    :param end: none newer, s
    """
    numbers = np.fromfile(path)
    rows = numbers[HEADER:].reshape(-1, COLUMNS)
    count = int(numbers[0])
    kept = min(count, len(rows))
    rows = rows[np.arange(count - kept, count) % len(rows)]
    chosen: Array = rows[(rows[:, 0] >= begin) & (rows[:, 0] < end)]
    return chosen


def read_blocks(path: Path) -> int:
    """Return how many blocks of memory a log's process noted last."""
    return int(np.fromfile(path, count=HEADER)[1])


def log_and_others(arguments: Sequence[str] | None) -> tuple[TickLog, list[str]]:
    """Return the log of ticks that is asked for, and the arguments that are for ROS."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--log', type=Path, required=True, help='file of the ticks')
    parser.add_argument('--capacity', type=int, required=True, help='how many it holds')
    options, others = parser.parse_known_args(arguments)
    return TickLog(options.log, options.capacity), others
