# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The benchmark of the control loop: what it counts, what it matches, and when it fails."""

import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest

from support.models.robots import ROOT
from support.ros.ros_process import NO_ROS, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)

from benchmark.loop import __main__ as command
from benchmark.loop import child as children
from benchmark.loop.arms import Arms
from benchmark.loop.child import Child
from benchmark.loop.contenders import (
    BARE,
    CYCLICTEST,
    ECHO,
    OURS,
    PLAIN,
    TRIGGERED,
    Condition,
    LoopContender,
)
from benchmark.loop.cyclictest import parse_histogram
from benchmark.loop.domain import own_domain
from benchmark.loop.effort import Part
from benchmark.loop.endurance import endurance
from benchmark.loop.figures import figures
from benchmark.loop.lateness import Lateness, latencies, of_grid
from benchmark.loop.motion import motion
from benchmark.loop.report import LoopRun, report
from benchmark.loop.rounds import results_of, turns_of
from benchmark.loop.turn import Turn, take_turn

Array = NDArray[np.float64]


def test_ticks_over_half_a_period_late_and_missing_ticks_count_as_late() -> None:
    lateness = Lateness(1e-3, np.array([0.0, 4e-4, 6e-4, 3.2e-3]))
    assert lateness.skipped == 3
    assert lateness.ticks == 7
    assert lateness.late == 5


def test_a_grid_is_found_for_ticks_of_any_lateness() -> None:
    rng = np.random.default_rng(0)
    late = rng.exponential(2e-5, 2000)
    late[100] = 7e-4
    late[200:1900:17] += 3e-4
    times = 12.3456789 + np.linspace(0.0, 1.999, 2000) + late
    np.testing.assert_allclose(of_grid(times, 1e-3), late[1:], atol=2e-6)


def test_latency_is_from_the_newest_state_that_a_command_can_be_from() -> None:
    expected = np.array([3.0, 1.0, 2.0])
    sent = np.arange(9.0)
    received = np.array([4.5, 7.25, 8.5])
    commanded = np.array([1.0, 1.0, 3.0])
    found = latencies(sent, received, commanded, expected)
    assert sorted(found.tolist()) == [0.25, 0.5, 2.5]


@pytest.mark.parametrize('value', [0.5, 1.5, 9.0, -7.0])
def test_a_command_that_no_state_explains_has_no_latency(value: float) -> None:
    expected = np.array([3.0, 1.0, 2.0])
    assert not latencies(np.arange(9.0), np.array([4.5]), np.array([value]), expected).size


# cyclictest

HISTOGRAM = """\
# /dev/cpu_dma_latency set to 0us
# Histogram
000000 000000
000001 000002
000002 000001

# Min Latencies: 00001
# Avg Latencies: 00002
# Max Latencies: 00057
# Histogram Overflows: 00002
# Histogram Overflow at cycle number:
# Thread 0: 00002 00003
"""


def test_a_histogram_is_read_to_its_greatest() -> None:
    np.testing.assert_allclose(parse_histogram(HISTOGRAM), [1e-6, 1e-6, 2e-6, 2e-6, 57e-6])


def turn(contender: LoopContender, rate: float, condition: Condition, seconds: float) -> Turn:
    lateness = Lateness(1.0 / rate, np.full(int(rate * seconds), 1e-5))
    return Turn(contender, rate, condition, lateness, np.ones(3), np.ones(3), 0.2, 100.0)


def test_contenders_take_turns_and_each_begins_a_round() -> None:
    order = []

    def take(contender: LoopContender, *others: Any) -> Turn:
        order.append(contender)
        return turn(contender, *others)

    turns = turns_of([Part(Condition.IDLE, 100.0, (OURS, PLAIN, BARE), 3, 1.0)], take)
    assert order == [OURS, PLAIN, BARE, PLAIN, BARE, OURS, BARE, OURS, PLAIN]
    assert [result.contender for result in results_of(turns)] == [OURS, PLAIN, BARE]
    assert all(result.lateness and result.lateness.ticks == 300 for result in results_of(turns))


def result(contender: LoopContender, condition: Condition = Condition.IDLE, **more: Any) -> Turn:
    values: dict[str, Any] = {
        'lateness': Lateness(1e-3, np.full(30_000, 1e-4)), 'latency': np.full(100, 1e-3),
        'compute': np.full(100, 1e-4), 'cpu': 0.1, 'memory': 100.0, 'before': np.empty(0),
        'after': np.empty(0),
    }
    return Turn(contender, 1000.0, condition, **(values | more))


def reached(*results: Turn, starts: tuple[float, ...] = ()) -> dict[str, bool]:
    found = figures(results, {OURS: starts, ECHO: starts[:1]})
    return {figure.what: figure.reached for figure in found}


@pytest.mark.parametrize(('ours', 'bare', 'plain', 'expected'), [
    (0.10, 0.05, 0.40, [True, True, True]), (0.16, 0.10, 0.60, [False, True, True]),
    (0.14, 0.03, 0.60, [True, False, True]), (0.14, 0.10, 0.40, [True, True, False]),
])
def test_shares_of_a_core_are_held_to_their_bounds(
    ours: float, bare: float, plain: float, expected: list[bool]
) -> None:
    found = reached(result(OURS, cpu=ours), result(BARE, cpu=bare), result(PLAIN, cpu=plain))
    assert [value for what, value in found.items() if what.startswith('CPU share')] == expected


@pytest.mark.parametrize(('median', 'expected'), [(1.4e-3, True), (1.6e-3, False)])
def test_latency_is_held_to_that_of_an_echo(median: float, expected: bool) -> None:
    found = reached(result(TRIGGERED, latency=np.full(10, median)), result(ECHO))
    assert found['triggered: from state to command, p50'] is expected


def test_a_report_has_every_contender_and_a_blank_where_there_is_nothing() -> None:
    arms = Arms(500.0, [0.1, 0.2], 300.0, Lateness(2e-3, np.full(100, 1e-4)))
    results = [
        result(OURS), result(ECHO, lateness=None),
        result(CYCLICTEST, cpu=None, memory=None, latency=np.empty(0), compute=np.empty(0)),
        result(OURS, Condition.STRESS),
    ]
    text = report(LoopRun('a machine', results, [arms], {OURS: [2.0], ECHO: [1.5]}))
    assert 'Measured on: a machine.' in text
    assert re.search(r'\| this node +(\| +100 ){4}\| +0 of 30000 \| +1000 ', text)
    assert re.search(r'\| rclpy echo, triggered +\| +\| +\| +\| +\| +\| +1000 ', text)
    assert re.search(r'\| cyclictest +\| +100 .*\| +\| +\|$', text, re.MULTILINE)
    assert re.search(r'\| 2 at 500 Hz \| +15.0% \| +30.0% ', text)
    assert '2.00 s (rclpy echo 1.50 s) reached' in text
    assert 'idle:' in text
    assert 'under stress:' in text
    for block in text.split('\n\n'):
        if block.startswith('|'):
            assert len({line.count('|') for line in block.splitlines()}) == 1


TIMES: Array = np.linspace(0.0, 1790.0, 180)


def noise(seed: int, spread: float) -> Array:
    return np.random.default_rng(seed).lognormal(0.0, spread, TIMES.size)


def verdict(memory: Array | None = None, p99: Array | None = None, sleeper: Array | None = None,
            ) -> tuple[bool, bool]:
    flat = np.ones(TIMES.size)
    found = endurance(
        TIMES, 200.0 * flat if memory is None else memory, 1e-4 * flat if p99 is None else p99,
        1e-4 * flat if sleeper is None else sleeper,
    )
    assert found.lasts == (not (found.memory_grows or found.jitter_grows))
    return found.memory_grows, found.jitter_grows


@pytest.mark.parametrize('seed', range(5))
def test_a_flat_noisy_run_lasts(seed: int) -> None:
    memory = 200.0 + np.random.default_rng(seed).normal(0.0, 3.0, TIMES.size)
    assert verdict(memory, 1e-4 * noise(seed, 0.8), 1e-4 * noise(seed + 5, 0.8)) == (False, False)


@pytest.mark.parametrize('seed', range(5))
def test_memory_that_leaks_through_noise_grows(seed: int) -> None:
    leak = 8.0 * TIMES / TIMES[-1]
    memory = 200.0 + leak + np.random.default_rng(seed).normal(0.0, 1.0, TIMES.size)
    assert verdict(memory) == (True, False)


@pytest.mark.parametrize('seed', range(5))
def test_growing_jitter_is_reported_unless_the_machine_explains_it(seed: int) -> None:
    growing = 1e-4 * (1.0 + 2.0 * TIMES / TIMES[-1])
    assert verdict(p99=growing * noise(seed, 0.2)) == (False, True)
    assert verdict(
        p99=growing * noise(seed, 0.2), sleeper=growing * noise(seed + 5, 0.2)
    ) == (False, False)


def test_a_quick_run_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, 'measure', lambda effort: effort)
    monkeypatch.setattr(command, 'report', lambda run: '')
    written: list[object] = []
    monkeypatch.setattr(command, 'write', written.append)
    assert command.main(['--quick', '--write']) == 0
    assert not written
    assert command.main(['--write']) == 0
    assert written


def test_a_process_that_does_not_listen_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, 'POLITENESS', 0.2)
    with Child('benchmark.loop.busy', domain=1) as child:
        child.wait_for('ready')
        os.kill(child.pid, signal.SIGSTOP)
    assert not Path(f'/proc/{child.pid}').exists()


def test_a_process_does_not_outlive_a_parent_that_is_killed() -> None:
    code = """
        import os, signal
        from benchmark.loop.child import Child
        child = Child('benchmark.loop.busy', domain=1)
        child.wait_for('ready')
        print(child.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    finished = subprocess.run(
        [sys.executable, '-c', textwrap.dedent(code)],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=60.0, check=False,
    )
    assert finished.returncode == -signal.SIGKILL
    gone = Path(f'/proc/{int(finished.stdout)}/exe')
    # A process that is not collected stays as a zombie, which runs nothing.
    assert wait_until(lambda: not os.path.lexists(gone) or not gone.exists())


@pytest.mark.ros
@pytest.mark.parametrize('contender', [OURS, PLAIN, BARE, ECHO], ids=lambda one: one.name)
def test_a_turn_measures_a_real_process(
    contender: LoopContender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('benchmark.loop.turn.SETTLING', 0.5)
    with own_domain() as domain:
        measured = take_turn(contender, 250.0, Condition.IDLE, 2.0, motion(), domain)
    assert measured.cpu is not None
    assert 0.0 < measured.cpu < 2.0
    assert measured.memory is not None
    assert measured.memory > 20.0
    assert measured.compute.size > 0
    assert measured.latency.size > 0
    assert (measured.latency > 0.0).all()
    assert (measured.lateness is not None) == contender.timed
