# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Short turns on a core that others want too.

Linux lets threads of the usual scheduler take turns, of 3 ms or so. From 6.12 on a thread may ask
for shorter ones, without any right to: it then gives the core away sooner, and gets it sooner when
it wakes, which is what a thread needs that works for a fraction of a millisecond at a time.
"""

from __future__ import annotations

import ctypes
import os
import platform

SLICE = 100_000
"""The shortest turn there is, ns."""

_SCHED_SETATTR = {'x86_64': 314, 'aarch64': 274}
"""The number of the system call, which C libraries have no function for, by machine."""


class _SchedulingAttributes(ctypes.Structure):
    """struct sched_attr of Linux; for the usual scheduler the runtime is the length of a turn."""

    _fields_ = (
        ('size', ctypes.c_uint32),
        ('policy', ctypes.c_uint32),
        ('flags', ctypes.c_uint64),
        ('nice', ctypes.c_int32),
        ('priority', ctypes.c_uint32),
        ('runtime', ctypes.c_uint64),
        ('deadline', ctypes.c_uint64),
        ('period', ctypes.c_uint64),
    )


def take_short_turns(thread: int) -> bool:
    """
    Ask for short turns, if a thread is scheduled as usual; older systems take no notice.

    :param thread: its number in the system
    :return: whether the system took it
    """
    number = _SCHED_SETATTR.get(platform.machine())
    if number is None or os.sched_getscheduler(thread) != os.SCHED_OTHER:
        return False
    attributes = _SchedulingAttributes(
        size=ctypes.sizeof(_SchedulingAttributes),
        policy=os.SCHED_OTHER,
        nice=os.getpriority(os.PRIO_PROCESS, thread),
        runtime=SLICE,
    )
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    return bool(syscall(number, thread, ctypes.byref(attributes), 0) == 0)
