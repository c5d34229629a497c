# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
What a thread may ask of the system to be on time: a scheduler, cores, memory that stays.

The system refuses most of it to most users. What is refused is told, once, with what would allow
it, and the rest holds.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
import ctypes
from dataclasses import dataclass
import os
from pathlib import Path
import resource
import sys
import threading

from ...errors import InputError, brief

GREATEST_PRIORITY = 98
"""99 is for the threads of the kernel that nothing may hold up."""

MOST_CORES = 1024
"""So many cores have a place in Linux's cpu_set_t."""

_PR_SET_TIMERSLACK = 29
_MCL_CURRENT_AND_FUTURE = 3
_CAP_IPC_LOCK = 14


@dataclass(frozen=True)
class RealtimeSettings:
    """
    What is asked for.

    :param priority: of SCHED_FIFO, from 2 up; 0 for the usual scheduler. The process's other
        threads get one less: whichever holds the interpreter when the thread needs it is not to
        be kept from giving it back by some other process
    :param cpus: the cores that the thread may run on; none for all
    :param lock_memory: whether the process's memory may not be paged out
    """

    priority: int = 0
    cpus: tuple[int, ...] = ()
    lock_memory: bool = False


def check_realtime(settings: RealtimeSettings) -> None:
    """
    Check what no system could grant.

    :raises InputError: the first parameter that cannot be used
    """
    if settings.priority != 0 and not 2 <= settings.priority <= GREATEST_PRIORITY:
        raise InputError(
            'realtime.priority',
            f'{settings.priority} is neither 0 nor from 2 to {GREATEST_PRIORITY}',
        )
    for cpu in settings.cpus:
        if cpu < 0 or settings.cpus.count(cpu) > 1:
            raise InputError(
                'realtime.cpu_affinity', f'{brief(settings.cpus)} is no list of cores: {cpu}'
            )


def enter_realtime(settings: RealtimeSettings) -> list[str]:
    """
    Ask for all of it, for the calling thread; locked memory is the whole process's.

    :param settings: what is asked for
    :return: what was refused, and what would allow it, a sentence each
    """
    if sys.platform != 'linux':
        asked = settings != RealtimeSettings()
        return [f'realtime.* is not in force: {sys.platform} is not Linux'] if asked else []
    _take_timers_at_their_word()
    steps: list[tuple[bool, Callable[[RealtimeSettings], str]]] = [
        (bool(settings.cpus), _stay_on_cores),
        (settings.lock_memory, _lock_memory),
        (settings.priority > 0, _set_priority),
    ]
    complaints = [step(settings) for wanted, step in steps if wanted]
    return [complaint for complaint in complaints if complaint]


def _take_timers_at_their_word() -> None:
    """Have Linux wake the thread when it is time, and not up to 50 us later, to save power."""
    prctl = getattr(ctypes.CDLL(None), 'prctl', None)
    if prctl is not None:
        prctl(_PR_SET_TIMERSLACK, ctypes.c_ulong(1), 0, 0, 0)


def _stay_on_cores(settings: RealtimeSettings) -> str:
    try:
        os.sched_setaffinity(0, settings.cpus)
    except OSError as error:
        there = sorted(os.sched_getaffinity(0))
        return (
            f'realtime.cpu_affinity {list(settings.cpus)} is not in force ({error.strerror}): '
            f'this process may use the cores {there}'
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
    """
    Let the process's threads be scheduled as usual again; for its main thread.

    :param settings: what was asked for
    """
    if settings.priority and sys.platform == 'linux':
        with suppress(OSError):
            _schedule_others(os.SCHED_OTHER, 0)
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def _schedule_others(scheduler: int, priority: int) -> None:
    own = threading.get_native_id()
    for thread in _threads():
        if thread != own:
            with suppress(ProcessLookupError):  # it may have ended meanwhile
                os.sched_setscheduler(thread, scheduler, os.sched_param(priority))


def _threads() -> list[int]:
    """Return the numbers of the threads of this process."""
    return [int(number) for number in os.listdir('/proc/self/task')]


def _lock_memory(settings: RealtimeSettings) -> str:
    del settings
    # Locked within a limit, memory that is asked for later would be refused: a crash, not a delay.
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
