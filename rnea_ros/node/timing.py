# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Timing of the loop's thread: real-time settings, memory, statistics. Importable without ROS.

Most settings need a permission. A rejected one is reported with it; the others stay in force.
"""

from __future__ import annotations

from array import array
from contextlib import suppress
import ctypes
import os
from pathlib import Path
import resource
import sys
import threading
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..feedforward.settings import RealtimeSettings

RESERVE = 32 * 1024 * 1024  # bytes; a trajectory of 10,000 points of 7 joints needs so much

_M_TRIM_THRESHOLD, _NEVER = -1, -1  # a parameter of glibc's mallopt, and its value
_M_MMAP_MAX, _NONE = -4, 0
_PR_SET_TIMERSLACK = 29
_MCL_CURRENT_AND_FUTURE = 3
_CAP_IPC_LOCK = 14


def enter_realtime(settings: RealtimeSettings) -> list[str]:
    """Apply the settings to the calling thread; return a sentence for each rejected one."""
    if sys.platform != 'linux':
        asked = settings != RealtimeSettings()
        return [f'realtime.* is not in force: {sys.platform} is not Linux'] if asked else []
    # Linux then wakes the thread on time, not up to 50 us later to save power.
    prctl = getattr(ctypes.CDLL(None), 'prctl', None)
    if prctl is not None:
        prctl(_PR_SET_TIMERSLACK, ctypes.c_ulong(1), 0, 0, 0)
    rejected = []
    try:
        if settings.cpus:
            os.sched_setaffinity(0, settings.cpus)
    except OSError as error:
        rejected.append(
            f'realtime.cpu_affinity {list(settings.cpus)} is not in force ({error.strerror}): '
            f'this process may use the cores {sorted(os.sched_getaffinity(0))}'
        )
    if settings.lock_memory and not _lock_memory():
        rejected.append(
            'realtime.lock_memory is not in force: it takes a line "<user> - memlock unlimited" '
            'in /etc/security/limits.conf, or the capability CAP_IPC_LOCK'
        )
    try:
        if settings.priority:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(settings.priority))
            _schedule_others(os.SCHED_FIFO, settings.priority - 1)
    except OSError as error:
        rejected.append(
            f'realtime.priority {settings.priority} is not in force ({error.strerror}): it takes '
            'a line "<user> - rtprio 98" in /etc/security/limits.conf, or the capability '
            'CAP_SYS_NICE'
        )
    return rejected


def leave_realtime(settings: RealtimeSettings) -> None:
    """Give the process's threads the default scheduler again; for its main thread."""
    if settings.priority and sys.platform == 'linux':
        with suppress(OSError):
            _schedule_others(os.SCHED_OTHER, 0)
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def _schedule_others(scheduler: int, priority: int) -> None:
    own = threading.get_native_id()
    for thread in map(int, os.listdir('/proc/self/task')):
        if thread != own:
            with suppress(ProcessLookupError):  # it may have ended meanwhile
                os.sched_setscheduler(thread, scheduler, os.sched_param(priority))


def _lock_memory() -> bool:
    # With a limit, a later allocation beyond it would fail and crash the process.
    unlimited = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] == resource.RLIM_INFINITY
    allowed = unlimited or bool(_capabilities() >> _CAP_IPC_LOCK & 1)
    return allowed and ctypes.CDLL(None).mlockall(_MCL_CURRENT_AND_FUTURE) == 0


def _capabilities() -> int:
    for line in Path('/proc/self/status').read_text(encoding='ascii').splitlines():
        if line.startswith('CapEff:'):
            return int(line.split()[1], 16)
    return 0


def reserve_memory() -> bool:
    """
    Allocate memory for large blocks, keep freed blocks; return whether the C library can (glibc).

    By default each large block comes from the system and goes back at once: 1.25 ms per MB with
    Python's lock held.
    """
    mallopt = getattr(ctypes.CDLL(None), 'mallopt', None)
    if mallopt is None:
        return False
    kept = bool(mallopt(_M_MMAP_MAX, _NONE) and mallopt(_M_TRIM_THRESHOLD, _NEVER))
    bytearray(b'\1') * RESERVE  # written to, so that the system provides it; then freed
    return kept


class LoopReport(NamedTuple):
    """Timing of the loop since the last report; pairs: 99th percentile and maximum, s."""

    rate: float                     # ticks per second of the loop's clock, Hz
    late: int                       # ticks more than half a period late, since the start
    lateness: tuple[float, float]   # delay of a tick's start
    compute: tuple[float, float]    # duration of a tick
    cpu: float                      # share of one core that the whole process used


class LoopStatistics:
    """Records ticks without allocating memory; another thread reports the last ``capacity``."""

    def __init__(self, period: float, loop_time: float, capacity: int = 10_000) -> None:
        self._late_after, self._capacity = 0.5 * period, capacity
        self._lateness, self._compute = (array('d', bytes(8 * capacity)) for _ in range(2))
        self.ticks = self._late = 0
        self._reported = (time.monotonic(), time.process_time(), 0, loop_time)

    def record(self, lateness: float, compute: float) -> None:
        """Record a tick: the delay of its start, and its duration, s."""
        slot = self.ticks % self._capacity
        self._lateness[slot] = lateness
        self._compute[slot] = compute
        self.ticks += 1
        if lateness > self._late_after:
            self._late += 1

    def report(self, loop_time: float) -> LoopReport:
        """Return the timing since the last report; ``loop_time``: the loop's clock now, s."""
        before = self._reported
        now, cpu, ticks, _ = self._reported = (
            time.monotonic(), time.process_time(), self.ticks, loop_time
        )
        new, passed = ticks - before[2], loop_time - before[3]
        newest = np.arange(ticks - min(new, self._capacity), ticks) % self._capacity
        return LoopReport(
            rate=new / passed if passed > 0.0 else 0.0,
            late=self._late,
            lateness=_summary(np.asarray(self._lateness)[newest]),
            compute=_summary(np.asarray(self._compute)[newest]),
            cpu=(cpu - before[1]) / max(now - before[0], 1e-9),
        )


def _summary(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the 99th percentile and the maximum of some values; zeros without any."""
    if not values.size:
        return (0.0, 0.0)
    return (float(np.percentile(values, 99.0)), float(values.max()))
