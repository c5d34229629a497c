# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The benchmark of the control loop: lateness, latency, and a real process."""

import numpy as np
import pytest

from rnea_ros.shared_memory import on_loopback
from support.ros.ros_process import NO_ROS, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)

from benchmark.loop.arm import latencies
from benchmark.loop.processes import own_domain
from benchmark.loop.ticks import Lateness
from benchmark.loop.turn import OURS, take_turn


def test_ticks_over_half_a_period_late_and_missing_ticks_count_as_late() -> None:
    lateness = Lateness(1e-3, np.array([0.0, 4e-4, 6e-4, 3.2e-3]))
    assert (lateness.skipped, lateness.ticks, lateness.late) == (3, 7, 5)


def test_latency_is_from_the_newest_state_that_a_command_can_be_from() -> None:
    expected, sent = np.array([3.0, 1.0, 2.0]), np.arange(9.0)
    received, commanded = np.array([4.5, 7.25, 8.5]), np.array([1.0, 1.0, 3.0])
    assert sorted(latencies(sent, received, commanded, expected)) == [0.25, 0.5, 2.5]
    for unexplained in (0.5, 1.5, 9.0, -7.0):
        assert not latencies(sent, np.array([4.5]), np.array([unexplained]), expected).size


@pytest.mark.ros
def test_a_turn_measures_a_real_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('benchmark.loop.turn.SETTLING', 0.1)
    for name in ('ROS_DOMAIN_ID', *on_loopback({})):
        monkeypatch.setenv(name, '0')  # restored after the test

    def measured() -> bool:
        with own_domain():
            turn = take_turn(OURS, 250.0, False, 0.5)
        assert turn.memory > 20.0
        return turn.latency.size > 0 and turn.compute.size > 0 and turn.cpu > 0.0

    assert wait_until(measured)  # a process that stalls for a whole turn has no ticks
