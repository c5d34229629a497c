# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Real-time settings of a thread: scheduler, cores, locked memory; and memory for large blocks.

Most users need a permission for the settings. A rejected one is reported with the permission that
it needs; the others stay in force.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
import ctypes
import os
from pathlib import Path
import resource
import sys
import threading

from ...feedforward.settings import RealtimeSettings

_PR_SET_TIMERSLACK = 29
_MCL_CURRENT_AND_FUTURE = 3
_CAP_IPC_LOCK = 14


def enter_realtime(settings: RealtimeSettings) -> list[str]:
    """
    Apply the settings to the calling thread; memory is locked for the whole process.

    Returns one sentence per rejected setting, with the permission that it needs.
    """
    if sys.platform != 'linux':
        asked = settings != RealtimeSettings()
        return [f'realtime.* is not in force: {sys.platform} is not Linux'] if asked else []
    # Linux then wakes the thread on time, not up to 50 us later to save power.
    prctl = getattr(ctypes.CDLL(None), 'prctl', None)
    if prctl is not None:
        prctl(_PR_SET_TIMERSLACK, ctypes.c_ulong(1), 0, 0, 0)
    steps: list[tuple[bool, Callable[[RealtimeSettings], str]]] = [
        (bool(settings.cpus), _set_affinity),
        (settings.lock_memory, _lock_memory),
        (settings.priority > 0, _set_priority),
    ]
    warnings = [step(settings) for requested, step in steps if requested]
    return [warning for warning in warnings if warning]


def _set_affinity(settings: RealtimeSettings) -> str:
    try:
        os.sched_setaffinity(0, settings.cpus)
    except OSError as error:
        allowed = sorted(os.sched_getaffinity(0))
        return (
            f'realtime.cpu_affinity {list(settings.cpus)} is not in force ({error.strerror}): '
            f'this process may use the cores {allowed}'
        )
    return ''


def _set_priority(settings: RealtimeSettings) -> str:
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(settings.priority))
        _schedule_others(os.SCHED_FIFO, settings.priority - 1)
    except OSError as error:
        return (
            f'realtime.priority {settings.priority} is not in force ({error.strerror}): it takes '
            'a line "<user> - rtprio 98" in /etc/security/limits.conf, or the capability '
            'CAP_SYS_NICE'
        )
    return ''


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


def _lock_memory(_: RealtimeSettings) -> str:
    # With a limit, a later allocation beyond it would fail and crash the process.
    if resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] != resource.RLIM_INFINITY:
        allowed = _capabilities() >> _CAP_IPC_LOCK & 1
    else:
        allowed = True
    if not allowed or ctypes.CDLL(None).mlockall(_MCL_CURRENT_AND_FUTURE) != 0:
        return (
            'realtime.lock_memory is not in force: it takes a line "<user> - memlock unlimited" '
            'in /etc/security/limits.conf, or the capability CAP_IPC_LOCK'
        )
    return ''


def _capabilities() -> int:
    for line in Path('/proc/self/status').read_text(encoding='ascii').splitlines():
        if line.startswith('CapEff:'):
            return int(line.split()[1], 16)
    return 0


RESERVE = 32 * 1024 * 1024  # bytes; a trajectory of 10,000 points of 7 joints needs so much

# Parameters of glibc's mallopt, and their values.
_M_TRIM_THRESHOLD, _NEVER = -1, -1
_M_MMAP_MAX, _NONE = -4, 0


def reserve_memory() -> bool:
    """
    Allocate memory for large blocks, and keep freed blocks in the process.

    By default the C library takes every large block from the system and gives it back at once.
    Per MB, that took 1 ms at the first use and 0.25 ms at the return, with Python's lock held.

    :return: whether the C library can keep memory: only glibc can
    """
    mallopt = getattr(ctypes.CDLL(None), 'mallopt', None)
    if mallopt is None:
        return False
    kept = bool(mallopt(_M_MMAP_MAX, _NONE) and mallopt(_M_TRIM_THRESHOLD, _NEVER))
    bytearray(b'\1') * RESERVE  # written to, so that the system provides it; then freed
    return kept
