# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The interpreter beside a loop: threads give way, garbage is collected on request only."""

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


def test_threads_give_way_and_garbage_waits_until_the_end() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    try:
        for _ in range(3):
            there = [[number] for number in range(1000)]
            garbage = ManualGarbageCollection()
            garbage.begin()
            try:
                assert sys.getswitchinterval() == pytest.approx(SWITCH_INTERVAL)
                assert not gc.isenabled()
                assert gc.get_freeze_count() > len(there), 'is not looked at again'
                gone = weakref.ref(Cycle())
                kept = [[number] for number in range(100_000)]
                assert gone() is not None
                gc.collect()
                assert gone() is None
                assert len(kept) == 100_000
            finally:
                garbage.end()
            assert sys.getswitchinterval() == pytest.approx(1e-4, rel=1e-9)
            assert gc.isenabled()
            assert gc.get_freeze_count() == 0
    finally:
        sys.setswitchinterval(before)
