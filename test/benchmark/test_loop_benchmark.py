# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The benchmark of the control loop: what it counts, what it matches, and when it fails."""

from __future__ import annotations

from dataclasses import replace
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest

from support.models.robots import ROOT
from support.ros.ros_process import NO_ROS, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)

from benchmark import page
from benchmark.loop import __main__ as command
from benchmark.loop import child as children
from benchmark.loop import soak
from benchmark.loop.arms import Arms
from benchmark.loop.child import Child, ChildError
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
from benchmark.loop.cyclictest import cyclictest, installed, parse_histogram
from benchmark.loop.domain import own_domain
from benchmark.loop.effort import Part
from benchmark.loop.endurance import endurance
from benchmark.loop.figures import figures
from benchmark.loop.lateness import Lateness, around_events, latencies, of_grid, pooled
from benchmark.loop.motion import MOVING_JOINT, motion
from benchmark.loop.report import LoopRun, report
from benchmark.loop.rounds import results_of, turns_of
from benchmark.loop.ticks import TickLog, read_ticks
from benchmark.loop.turn import Turn, take_turn

Array = np.ndarray[Any, np.dtype[np.float64]]

# How late ticks are


def test_ticks_over_half_a_period_late_and_missing_ticks_count_as_late() -> None:
    lateness = Lateness(1e-3, np.array([0.0, 4e-4, 6e-4, 3.2e-3]))
    assert lateness.skipped == 3
    assert lateness.ticks == 7
    assert lateness.late == 5


def test_percentiles_are_of_all_turns_together() -> None:
    both = pooled([Lateness(1e-3, np.full(99, 1e-6)), Lateness(1e-3, np.full(1, 1.0))])
    p50, p99, p999 = both.percentiles
    assert p50 == 1e-6
    assert 0.005 < p99 < 0.02
    assert p999 > 0.8
    assert both.greatest == 1.0


def test_a_grid_is_found_for_ticks_of_any_lateness() -> None:
    rng = np.random.default_rng(0)
    late = rng.exponential(2e-5, 2000)
    late[100] = 7e-4
    late[200:1900:17] += 3e-4
    times = 12.3456789 + np.linspace(0.0, 1.999, 2000) + late
    np.testing.assert_allclose(of_grid(times, 1e-3), late[1:], atol=2e-6)


def test_a_grid_counts_what_a_timer_skipped() -> None:
    times = np.delete(np.linspace(5.0, 5.999, 1000), [501, 502])
    times[500] += 2.3e-3
    errors = of_grid(times, 1e-3)
    assert errors[499] == pytest.approx(2.3e-3)
    assert np.abs(np.delete(errors, 499)).max() < 1e-9
    assert Lateness(1e-3, errors).skipped == 2


def test_errors_around_an_event_are_separated() -> None:
    began = np.arange(0.0, 10.0, 0.01)
    errors = np.where((began >= 5.0) & (began < 5.1), 2.0, 1.0)
    errors[(began < 3.9) | (began > 6.1)] = 9.0
    before, after = around_events(began, errors, [5.0, 20.0], 1.0)
    assert before.tolist() == [1.0]
    assert after.tolist() == [2.0]


def test_a_log_keeps_the_newest_ticks_in_order(tmp_path: Path) -> None:
    log = TickLog(tmp_path / 'ticks', 3)
    for number in range(5):
        log.record(float(number), 0.1 * number, 0.0)
    assert read_ticks(tmp_path / 'ticks')[:, 0].tolist() == [2.0, 3.0, 4.0]
    assert read_ticks(tmp_path / 'ticks', 3.0, 4.0)[:, 1].tolist() == pytest.approx([0.3])


# From which state a command is


def test_every_state_of_the_motion_commands_something_else() -> None:
    states = motion()
    for numbers in (states.positions, states.efforts):
        values = np.sort(numbers[:, MOVING_JOINT])
        assert np.diff(values).min() > 1e-4
    # Neighbours in time are neighbours in space, the last and the first too.
    steps = np.abs(np.diff(states.positions, axis=0, append=states.positions[:1]))
    assert steps.max() < 1e-3


def test_latency_is_from_the_newest_state_that_a_command_can_be_from() -> None:
    expected = np.array([3.0, 1.0, 2.0])
    sent = np.arange(9.0)
    received = np.array([4.5, 7.25, 8.5])
    commanded = np.array([1.0, 1.0, 3.0])
    found = latencies(sent, received, commanded, expected)
    assert sorted(found.tolist()) == [0.25, 0.5, 2.5]


def test_only_the_first_command_made_from_a_state_has_a_latency() -> None:
    expected = np.array([3.0, 1.0, 2.0])
    received, commanded = np.array([1.25, 1.5, 1.75]), np.array([1.0, 1.0, 1.0])
    assert latencies(np.arange(9.0), received, commanded, expected).tolist() == [0.25]


@pytest.mark.parametrize('value', [0.5, 1.5, 9.0, -7.0])
def test_a_command_that_no_state_explains_has_no_latency(value: float) -> None:
    expected = np.array([3.0, 1.0, 2.0])
    assert not latencies(np.arange(9.0), np.array([4.5]), np.array([value]), expected).size


def test_a_command_is_of_no_state_that_was_not_sent_yet() -> None:
    expected = np.array([3.0, 1.0, 2.0])
    assert not latencies(np.array([0.0]), np.array([0.5]), np.array([2.0]), expected).size


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


def test_an_invalid_histogram_is_reported() -> None:
    with pytest.raises(ValueError, match="no histogram of cyclictest: 'unable"):
        parse_histogram('unable to set scheduler\n')


@pytest.mark.skipif(not installed(), reason='cyclictest (rt-tests) is not installed')
def test_cyclictest_runs_as_long_as_asked_for() -> None:
    lateness = cyclictest(500.0, 0.4)
    assert 195 <= lateness.errors.size <= 205
    assert (lateness.errors >= 0.0).all()


# Turns


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


def test_a_turn_that_failed_is_taken_once_more_and_no_more() -> None:
    fails = [True, False, True, True]

    def take(*given: Any) -> Turn:
        if fails.pop(0):
            raise ChildError('it ended')
        return turn(*given)

    part = Part(Condition.IDLE, 100.0, (OURS,), 1, 1.0)
    assert len(turns_of([part], take)) == 1
    with pytest.raises(ChildError):
        turns_of([part], take)


# Figures


def result(contender: LoopContender, condition: Condition = Condition.IDLE, **more: Any) -> Turn:
    values: dict[str, Any] = {
        'lateness': Lateness(1e-3, np.full(30_000, 1e-4)),
        'latency': np.full(100, 1e-3),
        'compute': np.full(100, 1e-4),
        'cpu': 0.1,
        'memory': 100.0,
        'before': np.empty(0),
        'after': np.empty(0),
    }
    return Turn(contender, 1000.0, condition, **(values | more))


def reached(*results: Turn, starts: tuple[float, ...] = ()) -> dict[str, bool]:
    found = figures(results, {OURS: starts, ECHO: starts[:1]})
    return {figure.what: figure.reached for figure in found}


def test_figures_that_were_not_measured_are_left_out() -> None:
    assert not reached()
    alone = reached(result(OURS))
    assert set(alone) == {'CPU share at 1 kHz', 'this node, idle: late ticks'}
    assert not reached(replace(result(OURS), rate=500.0))


@pytest.mark.parametrize(
    ('ours', 'bare', 'plain', 'wanted'),
    [
        (0.10, 0.05, 0.40, [True, True, True]),
        (0.16, 0.10, 0.60, [False, True, True]),
        (0.14, 0.03, 0.60, [True, False, True]),
        (0.14, 0.10, 0.40, [True, True, False]),
    ],
)
def test_shares_of_a_core_are_held_to_their_bounds(
    ours: float, bare: float, plain: float, wanted: list[bool]
) -> None:
    found = reached(result(OURS, cpu=ours), result(BARE, cpu=bare), result(PLAIN, cpu=plain))
    assert [value for what, value in found.items() if what.startswith('CPU share')] == wanted


@pytest.mark.parametrize(('late', 'idle', 'stress'), [(3, True, True), (4, False, True),
                                                      (31, False, False)])
def test_late_ticks_are_held_to_their_share(late: int, idle: bool, stress: bool) -> None:
    errors = np.full(30_000, 1e-4)
    errors[:late] = 9e-4
    lateness = Lateness(1e-3, errors)
    found = reached(*(result(OURS, condition, lateness=lateness) for condition in
                      (Condition.IDLE, Condition.STRESS)))
    assert found['this node, idle: late ticks'] is idle
    assert found['this node, under stress: late ticks'] is stress


@pytest.mark.parametrize(('p99', 'wanted'), [(2.4e-4, True), (2.6e-4, False)])
def test_period_errors_are_held_to_those_of_cyclictest(p99: float, wanted: bool) -> None:
    ours = result(OURS, lateness=Lateness(1e-3, np.full(1000, p99)))
    floor = result(CYCLICTEST, lateness=Lateness(1e-3, np.full(1000, 1e-4)))
    assert reached(ours, floor)['this node, idle: period error, p99'] is wanted


@pytest.mark.parametrize(('after', 'wanted'), [(2.9e-3, True), (3.1e-3, False)])
def test_trajectories_are_held_to_what_was_before_them(after: float, wanted: bool) -> None:
    ours = result(
        OURS, Condition.TRAJECTORIES, before=np.array([1e-3, 2e-3]), after=np.array([after, 0.0])
    )
    (found,) = (value for what, value in reached(ours).items() if 'trajectories' in what)
    assert found is wanted


@pytest.mark.parametrize(('median', 'wanted'), [(1.4e-3, True), (1.6e-3, False)])
def test_latency_is_held_to_that_of_an_echo(median: float, wanted: bool) -> None:
    found = reached(result(TRIGGERED, latency=np.full(10, median)), result(ECHO))
    assert found['triggered: from state to command, p50'] is wanted


@pytest.mark.parametrize(('starts', 'wanted'), [((2.0, 2.9, 9.0), True), ((3.1,), False)])
def test_the_start_is_held_to_its_bound(starts: tuple[float, ...], wanted: bool) -> None:
    assert list(reached(starts=starts).values()) == [wanted]


def test_a_report_has_every_contender_and_a_blank_where_there_is_nothing() -> None:
    arms = Arms(500.0, [0.1, 0.2], 300.0, Lateness(2e-3, np.full(100, 1e-4)))
    results = [
        result(OURS),
        result(ECHO, lateness=None),
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


# Soaks

TIMES: Array = np.linspace(0.0, 1790.0, 180)


def noise(seed: int, spread: float) -> Array:
    return np.random.default_rng(seed).lognormal(0.0, spread, TIMES.size)


def verdict(memory: Array | None = None, p99: Array | None = None, sleeper: Array | None = None,
            ) -> tuple[bool, bool]:
    flat = np.ones(TIMES.size)
    found = endurance(
        TIMES,
        200.0 * flat if memory is None else memory,
        1e-4 * flat if p99 is None else p99,
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


def test_memory_may_rise_a_little_or_once_or_at_the_beginning() -> None:
    share = TIMES / TIMES[-1]
    assert verdict(200.0 + 2.3 * share) == (False, False)  # 1.84 MB after the warm-up
    assert verdict(np.where(share < 0.6, 200.0, 230.0)) == (False, False)
    assert verdict(200.0 + 50.0 * np.minimum(share, 0.15)) == (False, False)


def test_jitter_that_comes_and_goes_does_not_grow() -> None:
    calm, rough = [1e-4, 1e-4, 1e-4, 4e-4, 4e-4], [1e-4, 1e-4, 4e-4, 4e-4, 4e-4]
    third = TIMES.size // 3 // 5
    assert verdict(p99=np.array(2 * third * calm + third * rough)) == (False, False)


@pytest.mark.parametrize('seed', range(5))
def test_growing_jitter_is_reported_unless_the_machine_explains_it(seed: int) -> None:
    growing = 1e-4 * (1.0 + 2.0 * TIMES / TIMES[-1])
    assert verdict(p99=growing * noise(seed, 0.2)) == (False, True)
    assert verdict(
        p99=growing * noise(seed, 0.2), sleeper=growing * noise(seed + 5, 0.2)
    ) == (False, False)


def test_a_soak_that_grows_is_the_exit_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    errors = np.full((TIMES.size, 4), 1e-4)
    lasting = soak.Soak(
        1000.0, TIMES, np.full(TIMES.size, 200.0), np.ones(TIMES.size), errors, errors, 1, 1000
    )
    growing = replace(lasting, memory=200.0 + 0.1 * TIMES)
    for run, status, words in ((lasting, 0, 'Memory does not grow'), (growing, 1, '**grows**')):
        monkeypatch.setattr(soak, 'soak', lambda minutes, rate, run=run: run)
        assert soak.main([]) == status
        assert words in capsys.readouterr().out


# The page


@pytest.mark.parametrize(
    ('name', 'parts'),
    [(page.USERS, ('measured', 'loop')), (page.DEVELOPERS, ('measured', 'loop', 'soak'))],
)
def test_a_page_has_one_place_for_each_part_and_keeps_the_rest(
    name: str, parts: tuple[str, ...], tmp_path: Path
) -> None:
    copy = tmp_path / name
    copy.parent.mkdir(exist_ok=True)
    before = (page.DOCS / name).read_text(encoding='utf-8')
    copy.write_text(before, encoding='utf-8')
    for part in parts:
        page.rewrite(part, f'new {part}', name, tmp_path)
        page.rewrite(part, f'newer {part}', name, tmp_path)
    after = copy.read_text(encoding='utf-8')
    for part in parts:
        assert page.part_of(copy, part).strip() == f'newer {part}'
    headings = [line for line in before.splitlines() if line.startswith('#')]
    assert headings == [line for line in after.splitlines() if line.startswith('#')]
    with pytest.raises(ValueError, match="0 parts called 'other'"):
        page.rewrite('other', '', name, tmp_path)


def test_a_quick_run_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, 'measure', lambda effort: effort)
    monkeypatch.setattr(command, 'report', lambda run: '')
    written: list[object] = []
    monkeypatch.setattr(command, 'write', written.append)
    assert command.main(['--quick', '--write']) == 0
    assert not written
    assert command.main(['--write']) == 0
    assert written


# Processes


def test_a_process_that_does_not_listen_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, 'POLITENESS', 0.2)
    with Child('benchmark.loop.busy', domain=1) as child:
        child.wait_for('ready')
        os.kill(child.pid, signal.SIGSTOP)
    assert not Path(f'/proc/{child.pid}').exists()


def test_a_process_that_ends_too_early_is_reported_with_its_output() -> None:
    with Child('benchmark.loop.sleeper', domain=1) as child:
        with pytest.raises(ChildError, match='the following arguments are required'):
            child.wait_for('ready')
        with pytest.raises(ChildError, match='ended too early'):
            child.check()


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
        measured = take_turn(contender, 250.0, Condition.IDLE, 1.0, motion(), domain)
    assert measured.cpu is not None
    assert 0.0 < measured.cpu < 2.0
    assert measured.memory is not None
    assert measured.memory > 20.0
    assert measured.compute.size > 50
    assert measured.latency.size > 50
    assert 0.0 < np.median(measured.latency) < 0.1
    assert (measured.lateness is not None) == contender.timed
