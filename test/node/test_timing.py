# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The loop's thread: what the system grants or rejects, memory, garbage; statistics of ticks."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
import gc
import os
import platform
import resource
import sys
from types import SimpleNamespace
from typing import Any
import weakref

import numpy as np
import pytest

from rnea_ros.errors import InputError
from rnea_ros.feedforward.settings import RealtimeSettings
from rnea_ros.node import timing
from rnea_ros.node.timing import LoopStatistics, enter_realtime, leave_realtime
from support.python_process import needs_proc, run
from support.ros.ros_process import NO_ROS

CORE = max(os.sched_getaffinity(0))


def in_thread(look: Callable[[], Any] = list, **settings: Any) -> tuple[Sequence[str], Any]:
    """Return complaints about settings of a thread of their own, and what that thread then is."""
    with ThreadPoolExecutor(1) as pool:
        enter = pool.submit(lambda: (enter_realtime(RealtimeSettings(**settings)), look()))
        return enter.result()


def cores() -> set[int]:
    return os.sched_getaffinity(0)


def test_a_thread_stays_on_its_cores_and_others_do_not() -> None:
    everywhere = cores()
    assert in_thread(cores, cpu_affinity=(CORE,)) == ([], {CORE})
    assert cores() == everywhere
    (complaint,), _ = in_thread(cpu_affinity=(1023,))
    assert complaint.startswith('realtime.cpu_affinity [1023] is not in force')
    assert str(sorted(everywhere)) in complaint


@needs_proc
def test_a_priority_is_in_force_or_reported_as_rejected() -> None:
    complaints, found = in_thread(
        lambda: (os.sched_getscheduler(0), os.sched_getparam(0).sched_priority), priority=10
    )
    if complaints:
        assert 'rtprio' in complaints[0]
        assert found == (os.SCHED_OTHER, 0)
    else:
        assert found == (os.SCHED_FIFO, 10)
        assert os.sched_getscheduler(0) == os.SCHED_FIFO
        assert os.sched_getparam(0).sched_priority == 9
    leave_realtime(RealtimeSettings(priority=10))
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


def test_of_what_is_rejected_a_remedy_is_named_and_the_rest_is_in_force(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    def reject(*_: object) -> None:
        raise PermissionError(1, 'Operation not permitted')

    monkeypatch.setattr(os, 'sched_setscheduler', reject)
    (complaint,), granted = in_thread(cores, priority=42, cpu_affinity=(CORE,))
    assert complaint.startswith('realtime.priority 42 is not in force (Operation not permitted)')
    assert '/etc/security/limits.conf' in complaint
    assert granted == {CORE}
    monkeypatch.setattr(resource, 'getrlimit', lambda _: (8 << 20, 8 << 20))
    for capabilities in (0, 0x3FFF):
        monkeypatch.setattr(timing, '_capabilities', lambda found=capabilities: found)
        (complaint,), _ = in_thread(lock_memory=True)
        assert complaint.startswith('realtime.lock_memory is not in force')
        assert 'memlock unlimited' in complaint
    monkeypatch.setattr(sys, 'platform', 'darwin')
    assert in_thread(lock_memory=True)[0] == ['realtime.* is not in force: darwin is not Linux']
    assert in_thread()[0] == []


@pytest.mark.parametrize(('settings', 'parameter'), [
    ({'priority': -1}, 'realtime.priority'), ({'priority': 1}, 'realtime.priority'),
    ({'priority': 99}, 'realtime.priority'), ({'cpu_affinity': (0, -1)}, 'realtime.cpu_affinity'),
    ({'cpu_affinity': (1, 1)}, 'realtime.cpu_affinity'),
])
def test_what_no_system_can_grant_is_rejected(settings: Any, parameter: str) -> None:
    with pytest.raises(InputError, match=parameter):
        RealtimeSettings(**settings)


FAULTS = """
import resource
from rnea_ros.node.timing import RESERVE, reserve_memory

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


class Cycle:
    def __init__(self) -> None:
        self.itself = self


def test_threads_give_way_and_garbage_waits_for_a_request_until_the_end() -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    from rnea_ros.ros import ManualGarbageCollection
    from rnea_ros.ros.loop_thread import SWITCH_INTERVAL

    before, garbage = sys.getswitchinterval(), ManualGarbageCollection()
    garbage.begin()
    try:
        assert sys.getswitchinterval() == pytest.approx(SWITCH_INTERVAL)
        assert not gc.isenabled()
        assert gc.get_freeze_count() > 1000, 'is not looked at again'
        gone = weakref.ref(Cycle())
        kept = [[number] for number in range(100_000)]
        assert gone() is not None
        gc.collect()
        assert gone() is None
        assert len(kept) == 100_000
    finally:
        garbage.end()
    assert sys.getswitchinterval() == pytest.approx(before, rel=1e-9)
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


PERIOD, BEGIN = 0.002, 50.0


def test_rate_and_share_of_a_core_are_those_since_the_last_report(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    machine, cpu_time, now = BEGIN, 3.0, 7.0
    monkeypatch.setattr(timing, 'time', SimpleNamespace(
        monotonic=lambda: machine, process_time=lambda: cpu_time
    ))
    loop = LoopStatistics(PERIOD, now)
    # The rate counts the loop's time, here at half the machine's speed, the share the machine's.
    for ticks, cpu, seconds in ((500, 0.1, 1.0), (100, 0.5, 0.5), (0, 0.0, 2.0), (1000, 3.0, 1.0)):
        for _ in range(ticks):
            loop.record(0.0, 0.0)
        machine, cpu_time, now = machine + seconds, cpu_time + cpu, now + 0.5 * seconds
        report = loop.report(now)
        assert report.rate == pytest.approx(ticks / (0.5 * seconds))
        assert report.cpu == pytest.approx(cpu / seconds)
    loop.record(0.0, 0.0)
    assert loop.report(now).rate == 0.0, 'two reports at the same time'
    assert loop.report(now - 1.0).rate == 0.0, 'simulated time was set back'


def test_ticks_over_half_a_period_late_are_counted_from_the_start() -> None:
    loop = LoopStatistics(PERIOD, BEGIN)
    for lateness, late in ((0.0005, 0), (0.001, 0), (0.0011, 1), (0.002, 2), (1.0, 3)):
        loop.record(lateness, 0.0)
        assert loop.report(BEGIN).late == late


def test_a_report_looks_back_at_the_new_ticks_that_the_ring_holds() -> None:
    loop = LoopStatistics(PERIOD, BEGIN, capacity=10)
    rng = np.random.default_rng(3)
    for ticks in (0, 7, 6, 1, 0, 9, 17, 5, 10, 11, 1000):
        values = rng.uniform(size=(ticks, 2))
        for lateness, compute in values:
            loop.record(lateness, compute)
        report, newest = loop.report(BEGIN), values[-10:]
        for column, reported in enumerate((report.lateness, report.compute)):
            expected = (0.0, 0.0)
            if ticks:
                expected = (np.percentile(newest[:, column], 99.0), newest[:, column].max())
            assert reported == pytest.approx(expected)
