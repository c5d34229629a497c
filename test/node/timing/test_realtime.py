# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What the system grants a thread, what is said of what it rejects, memory held in advance."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
import os
import platform
import resource
import sys
from typing import Any

import pytest

from rnea_ros.errors import InputError
from rnea_ros.node.timing import (
    RealtimeSettings,
    check_realtime,
    enter_realtime,
    leave_realtime,
    realtime,
)
from support.python_process import needs_proc, run


def in_thread(function: Callable[[], Any]) -> Any:
    """Return what a function returns in a thread of its own, which it may change as it likes."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def reject(*_: object) -> None:
    raise PermissionError(1, 'Operation not permitted')


def test_a_thread_stays_on_its_cores_and_others_do_not() -> None:
    core = max(os.sched_getaffinity(0))
    everywhere = os.sched_getaffinity(0)

    def enter() -> Any:
        return enter_realtime(RealtimeSettings(cpu_affinity=(core,))), os.sched_getaffinity(0)

    assert in_thread(enter) == ([], {core})
    assert os.sched_getaffinity(0) == everywhere


def test_a_missing_core_is_reported_with_the_existing_ones() -> None:
    (complaint,) = in_thread(lambda: enter_realtime(RealtimeSettings(cpu_affinity=(1023,))))
    assert complaint.startswith('realtime.cpu_affinity [1023] is not in force')
    assert str(sorted(os.sched_getaffinity(0))) in complaint


@needs_proc
def test_a_priority_is_in_force_or_reported_as_rejected() -> None:
    def enter() -> Any:
        complaints = enter_realtime(RealtimeSettings(priority=10))
        return complaints, os.sched_getscheduler(0), os.sched_getparam(0).sched_priority

    complaints, scheduler, priority = in_thread(enter)
    if complaints:
        assert 'rtprio' in complaints[0]
        assert scheduler == os.SCHED_OTHER
    else:
        assert (scheduler, priority) == (os.SCHED_FIFO, 10)
        assert os.sched_getscheduler(0) == os.SCHED_FIFO
        assert os.sched_getparam(0).sched_priority == 9
    leave_realtime(RealtimeSettings(priority=10))
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


def test_a_rejected_priority_is_logged_once_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, 'sched_setscheduler', reject)
    core = max(os.sched_getaffinity(0))

    def enter() -> Any:
        complaints = enter_realtime(RealtimeSettings(priority=42, cpu_affinity=(core,)))
        return complaints, os.sched_getaffinity(0)

    (complaint,), cores = in_thread(enter)
    assert complaint.startswith('realtime.priority 42 is not in force (Operation not permitted)')
    assert '/etc/security/limits.conf' in complaint
    assert cores == {core}, 'what is granted is in force all the same'


@pytest.mark.parametrize('capabilities', [0, 0x3FFF])
def test_memory_is_not_locked_within_a_limit(
    monkeypatch: pytest.MonkeyPatch, capabilities: int
) -> None:
    monkeypatch.setattr(resource, 'getrlimit', lambda _: (8 << 20, 8 << 20))
    monkeypatch.setattr(realtime, '_capabilities', lambda: capabilities)
    (complaint,) = in_thread(lambda: enter_realtime(RealtimeSettings(lock_memory=True)))
    assert complaint.startswith('realtime.lock_memory is not in force')
    assert 'memlock unlimited' in complaint


@pytest.mark.parametrize(('settings', 'parameter'), [
    (RealtimeSettings(priority=-1), 'realtime.priority'),
    (RealtimeSettings(priority=1), 'realtime.priority'),
    (RealtimeSettings(priority=99), 'realtime.priority'),
    (RealtimeSettings(cpu_affinity=(0, -1)), 'realtime.cpu_affinity'),
    (RealtimeSettings(cpu_affinity=(1, 1)), 'realtime.cpu_affinity'),
])
def test_what_no_system_can_grant_is_rejected(settings: RealtimeSettings, parameter: str) -> None:
    with pytest.raises(InputError, match=parameter):
        check_realtime(settings)


LOCK = """
import re, pathlib
from rnea_ros.node.timing import RealtimeSettings, enter_realtime
complaints = enter_realtime(RealtimeSettings(lock_memory=True))
status = pathlib.Path('/proc/self/status').read_text()
print(len(complaints), int(re.search(r'VmLck:\\s*(\\d+)', status)[1]) > 1000)
"""


@needs_proc
def test_memory_is_locked_or_its_failure_is_logged() -> None:
    assert run(LOCK).split() in (['0', 'True'], ['1', 'False'])


def test_without_linux_its_options_are_reported_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, 'platform', 'darwin')
    asked = RealtimeSettings(priority=42, lock_memory=True)
    assert enter_realtime(asked) == ['realtime.* is not in force: darwin is not Linux']
    assert enter_realtime(RealtimeSettings()) == []
    leave_realtime(asked)


FAULTS = """
import resource
from rnea_ros.node.timing.realtime import RESERVE, reserve_memory

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

{reserve}
for share in (2, 4, 2):
    before = faults()
    block = bytearray(b'1') * (RESERVE // share)
    del block
    print(faults() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != 'glibc', reason='only glibc keeps memory on request')
def test_reserved_memory_stays_available_when_it_is_freed() -> None:
    for reserve, least, most in (('', 1000, 1 << 30), ('assert reserve_memory()', 0, 100)):
        faults = [int(word) for word in run(FAULTS.format(reserve=reserve)).split()]
        assert least <= min(faults) <= max(faults) < most, reserve
