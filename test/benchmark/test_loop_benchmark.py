# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The benchmark of the control loop: what it counts, what it matches, and when it fails."""

import numpy as np
from numpy.typing import NDArray
import pytest

from support.ros.ros_process import NO_ROS, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)

from benchmark.loop.contenders import BARE, ECHO, OURS, PLAIN, Condition
from benchmark.loop.domain import own_domain
from benchmark.loop.endurance import endurance
from benchmark.loop.figures import figures
from benchmark.loop.lateness import Lateness, latencies, of_grid
from benchmark.loop.motion import motion
from benchmark.loop.turn import Turn, take_turn

Array = NDArray[np.float64]


def test_ticks_over_half_a_period_late_and_missing_ticks_count_as_late() -> None:
    lateness = Lateness(1e-3, np.array([0.0, 4e-4, 6e-4, 3.2e-3]))
    assert (lateness.skipped, lateness.ticks, lateness.late) == (3, 7, 5)


def test_a_grid_is_found_for_ticks_of_any_lateness() -> None:
    rng = np.random.default_rng(0)
    late = rng.exponential(2e-5, 2000)
    late[100] = 7e-4
    late[200:1900:17] += 3e-4
    times = 12.3456789 + np.linspace(0.0, 1.999, 2000) + late
    np.testing.assert_allclose(of_grid(times, 1e-3), late[1:], atol=2e-6)


def test_latency_is_from_the_newest_state_that_a_command_can_be_from() -> None:
    expected, sent = np.array([3.0, 1.0, 2.0]), np.arange(9.0)
    received, commanded = np.array([4.5, 7.25, 8.5]), np.array([1.0, 1.0, 3.0])
    assert sorted(latencies(sent, received, commanded, expected)) == [0.25, 0.5, 2.5]
    for unexplained in (0.5, 1.5, 9.0, -7.0):
        assert not latencies(sent, np.array([4.5]), np.array([unexplained]), expected).size


@pytest.mark.parametrize(('ours', 'bare', 'plain', 'expected'), [
    (0.10, 0.05, 0.40, [True, True, True]), (0.16, 0.10, 0.60, [False, True, True]),
    (0.14, 0.03, 0.60, [True, False, True]), (0.14, 0.10, 0.40, [True, True, False]),
])
def test_shares_of_a_core_are_held_to_their_bounds(
    ours: float, bare: float, plain: float, expected: list[bool]
) -> None:
    lateness = Lateness(1e-3, np.full(1000, 1e-4))
    results = [
        Turn(contender, 1000.0, Condition.IDLE, lateness, cpu=cpu)
        for contender, cpu in ((OURS, ours), (BARE, bare), (PLAIN, plain))
    ]
    found = [each for each in figures(results, {OURS: (), ECHO: ()}) if 'CPU share' in each.what]
    assert [figure.reached for figure in found] == expected


TIMES: Array = np.linspace(0.0, 1790.0, 180)


@pytest.mark.parametrize('seed', range(3))
def test_leaks_and_jitter_that_grow_are_reported(seed: int) -> None:
    rng = np.random.default_rng(seed)
    memory = 200.0 + rng.normal(0.0, 1.0, TIMES.size)
    jitter, beside = 1e-4 * rng.lognormal(0.0, 0.2, (2, TIMES.size))
    growth = 1.0 + 2.0 * TIMES / TIMES[-1]

    def verdict(*series: Array) -> tuple[bool, bool]:
        found = endurance(TIMES, *series)
        assert found.lasts == (not (found.memory_grows or found.jitter_grows))
        return found.memory_grows, found.jitter_grows

    assert verdict(memory, jitter, beside) == (False, False)
    assert verdict(memory + 8.0 * TIMES / TIMES[-1], jitter, beside) == (True, False)
    assert verdict(memory, growth * jitter, beside) == (False, True)
    # The machine explains it: a thread that only sleeps has it, too.
    assert verdict(memory, growth * jitter, growth * beside) == (False, False)


@pytest.mark.ros
def test_a_turn_measures_a_real_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('benchmark.loop.turn.SETTLING', 0.1)

    def measured() -> bool:
        with own_domain() as domain:
            turn = take_turn(OURS, 250.0, Condition.IDLE, 0.5, motion(), domain)
        assert turn.memory is not None
        assert turn.memory > 20.0
        return turn.latency.size > 0 and turn.compute.size > 0 and bool(turn.cpu)

    assert wait_until(measured)  # a process that stalls for a whole turn has no ticks
