# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The benchmark of the control loop: lateness, latency, and a real process."""

import numpy as np
import pytest

from support.ros.ros_process import NO_ROS, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)

from benchmark.loop.contenders import OURS, Condition
from benchmark.loop.domain import own_domain
from benchmark.loop.lateness import Lateness, latencies, of_grid
from benchmark.loop.motion import motion
from benchmark.loop.turn import take_turn


def test_ticks_over_half_a_period_late_and_missing_ticks_count_as_late() -> None:
    lateness = Lateness(1e-3, np.array([0.0, 4e-4, 6e-4, 3.2e-3]))
    assert (lateness.skipped, lateness.ticks, lateness.late) == (3, 7, 5)


def test_a_grid_is_found_for_ticks_of_any_lateness() -> None:
    rng = np.random.default_rng(0)
    late = rng.exponential(2e-5, 2000)
    late[100], late[200:1900:17] = 7e-4, 3e-4
    times = 12.3456789 + np.linspace(0.0, 1.999, 2000) + late
    np.testing.assert_allclose(of_grid(times, 1e-3), late[1:], atol=2e-6)


def test_latency_is_from_the_newest_state_that_a_command_can_be_from() -> None:
    expected, sent = np.array([3.0, 1.0, 2.0]), np.arange(9.0)
    received, commanded = np.array([4.5, 7.25, 8.5]), np.array([1.0, 1.0, 3.0])
    assert sorted(latencies(sent, received, commanded, expected)) == [0.25, 0.5, 2.5]
    for unexplained in (0.5, 1.5, 9.0, -7.0):
        assert not latencies(sent, np.array([4.5]), np.array([unexplained]), expected).size


@pytest.mark.ros
def test_a_turn_measures_a_real_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('benchmark.loop.turn.SETTLING', 0.1)

    def measured() -> bool:
        with own_domain() as domain:
            turn = take_turn(OURS, 250.0, Condition.IDLE, 0.5, motion(), domain)
        assert (turn.memory or 0.0) > 20.0
        return turn.latency.size > 0 and turn.compute.size > 0 and bool(turn.cpu)

    assert wait_until(measured)  # a process that stalls for a whole turn has no ticks
