# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The benchmark: it compares like with like, and says when a figure is not reached."""

import sys
import time

import numpy as np
import pytest

from benchmark import __main__ as command
from benchmark.compare import Memory, Result, memory_of_calls
from benchmark.contenders import (
    BATCH,
    CHECKED,
    SPECIALISED,
    SPECIALISED_BATCH,
    WORKSPACE,
    Computation,
    Pinocchio,
    our_batch,
    our_calls,
)
from benchmark.effort import Effort
from benchmark.figures import figures
from benchmark.growth import Growth
from benchmark.others import others
from benchmark.processes import StartUp, first_calls
from benchmark.robots import Robot, State, robots_to_compare
from benchmark.timing import Contender, DisagreementError, check_agreement, race
from support.python_process import needs_proc


def states() -> list[State]:
    return [(np.ones(1), np.ones(1), np.ones(1))]


def sleeper(name: str, seconds: float, result: float = 1.0) -> Contender:
    def call(*state: object) -> np.ndarray:
        time.sleep(seconds)
        return np.array([result])

    return Contender(name, call, tuple)


@pytest.mark.oracle
@pytest.mark.parametrize('robot', robots_to_compare()[:2], ids=lambda robot: robot.name)
def test_all_libraries_compute_the_same_results(robot: Robot) -> None:
    pinocchio = Pinocchio(robot).calls()
    for quantity, ours in our_calls(robot).items():
        check_agreement([*ours, *pinocchio[quantity]], robot.states())
    ours = our_calls(robot)[Computation.INVERSE_DYNAMICS]
    check_agreement([*ours, *others(robot)], robot.states())
    if not hasattr(sys.modules['pinocchio'], 'ModelPool'):
        pytest.skip('this Pinocchio has no batch')
    batches = [our_batch(robot, 9), our_batch(robot, 9, specialised=True)]
    check_agreement([*batches, Pinocchio(robot).batch(9)], [robot.samples(9)])


def test_a_different_result_ends_the_comparison() -> None:
    contenders = [sleeper('one', 0.0), sleeper('other', 0.0, 1.0 + 1e-6)]
    with pytest.raises(DisagreementError, match='other differs from one by 1e-06, of 1'):
        race(contenders, states(), 1)


def test_nan_does_not_count_as_agreement() -> None:
    with pytest.raises(DisagreementError):
        race([sleeper('one', 0.0), sleeper('other', 0.0, np.nan)], states(), 1)


def test_times_are_of_one_result_and_ratios_say_how_many_times_faster() -> None:
    slow = sleeper('slow', 0.02)
    many = Contender('many', sleeper('', 0.02).call, tuple, samples=10)
    times = race([slow, many], states(), 3)
    assert 0.02 <= times.best('slow') < 0.1
    assert 0.002 <= times.best('many') < 0.01
    assert 5.0 < times.ratio('many', 'slow') < 20.0


@needs_proc
def test_first_calls_use_every_kernel() -> None:
    seconds, _ = first_calls(None)
    assert 'inverse_dynamics' in seconds


def test_a_workspace_takes_no_memory_for_its_results() -> None:
    # Python's own tuples of arguments are there for a moment: only a large robot shows more.
    memory = memory_of_calls(robots_to_compare()[-1])
    assert memory.held < memory.array


def results_with(ratio: float) -> list[Result]:
    return [
        Result(quantity, contender, joints, 1e-6, ratio)
        for quantity in Computation
        for contender in (CHECKED, WORKSPACE, SPECIALISED, BATCH, SPECIALISED_BATCH)
        for joints in (6, 7, 32, 120)
    ]


@pytest.mark.parametrize(('ratio', 'reached'), [(0.9, False), (100.0, True)])
def test_a_figure_says_whether_it_was_reached(ratio: float, reached: bool) -> None:
    found = figures(results_with(ratio), Memory(0, 100), None)
    assert {figure.reached for figure in found if figure.joints} == {reached}


@pytest.mark.parametrize(('cold', 'warm', 'megabytes'), [
    (4.9, 0.3, 119.0), (19.0, 0.3, 119.0), (21.0, 0.3, 119.0),
    (4.9, 0.5, 119.0), (4.9, 0.3, 121.0),
])
def test_starts_are_figures_too(cold: float, warm: float, megabytes: float) -> None:
    steps = {'import': 0.0, 'model': 0.0, 'inverse_dynamics': 0.0}
    start = StartUp({**steps, 'import': cold}, {**steps, 'import': warm}, megabytes)
    _, *start_figures = figures([], Memory(0, 100), start)
    assert [figure.reached for figure in start_figures] == [
        cold < 20.0, cold < 5.0, warm < 0.4, megabytes < 120.0
    ]


def test_growth_separates_the_cost_of_a_call_from_that_of_its_bodies() -> None:
    bodies = np.array([1.0, 10.0, 100.0, 1000.0])
    call, body = Growth(bodies, 3e-7 + 5e-8 * bodies).call_and_body
    np.testing.assert_allclose([call, body], [3e-7, 5e-8])


def test_a_disagreement_is_the_exit_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measure(effort: Effort) -> None:
        raise DisagreementError('one differs from other')

    monkeypatch.setattr(command, 'measure', measure)
    assert command.main([]) == 1
    assert 'one differs from other' in capsys.readouterr().err
