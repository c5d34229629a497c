# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The interpreter beside a loop: threads give way, garbage is collected on request only."""

from collections.abc import Iterator
import gc
import sys
import weakref

import pytest

from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rnea_ros.ros import ManualGarbageCollection
from rnea_ros.ros.interpreter import SWITCH_INTERVAL


class Cycle:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def garbage() -> Iterator[ManualGarbageCollection]:
    garbage = ManualGarbageCollection()
    garbage.begin()
    yield garbage
    garbage.end()


def test_threads_give_way_soon_and_as_before_afterwards() -> None:
    before = sys.getswitchinterval()
    garbage = ManualGarbageCollection()
    garbage.begin()
    assert sys.getswitchinterval() == pytest.approx(SWITCH_INTERVAL)
    assert not gc.isenabled()
    garbage.end()
    assert sys.getswitchinterval() == pytest.approx(before, rel=1e-9)
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_many_loops_leave_the_switch_interval_as_it_was() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    try:
        for _ in range(3):
            garbage = ManualGarbageCollection()
            garbage.begin()
            garbage.end()
        assert sys.getswitchinterval() == pytest.approx(1e-4, rel=1e-9)
    finally:
        sys.setswitchinterval(before)


def test_garbage_is_collected_on_request_and_not_before(garbage: ManualGarbageCollection) -> None:
    gone = weakref.ref(Cycle())
    kept = [[number] for number in range(100_000)]
    assert gone() is not None
    gc.collect()
    assert gone() is None
    assert len(kept) == 100_000


def test_what_was_there_at_the_beginning_is_not_looked_at_again() -> None:
    there = [[number] for number in range(1000)]
    garbage = ManualGarbageCollection()
    garbage.begin()
    try:
        assert gc.get_freeze_count() > len(there)
    finally:
        garbage.end()
