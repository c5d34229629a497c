# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The benchmark compares like with like, and says when a figure is not reached."""

import sys

import numpy as np
import pytest

from benchmark import __main__ as command
from benchmark.compare import Memory, Result
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
from benchmark.robots import robots_to_compare
from benchmark.timing import Contender, DisagreementError, check_agreement
from support.python_process import needs_proc


def contender(result: float) -> Contender:
    return Contender(f'result {result}', lambda *state: np.array([result]), tuple)


@pytest.mark.oracle
def test_all_libraries_compute_the_same_results() -> None:
    robot = robots_to_compare()[0]
    pinocchio = Pinocchio(robot).calls()
    for quantity, ours in our_calls(robot).items():
        more = others(robot) if quantity is Computation.INVERSE_DYNAMICS else []
        check_agreement([*ours, *pinocchio[quantity], *more], robot.states())
    if not hasattr(sys.modules['pinocchio'], 'ModelPool'):
        pytest.skip('this Pinocchio has no batch')
    batches = [our_batch(robot, 9), our_batch(robot, 9, specialised=True)]
    check_agreement([*batches, Pinocchio(robot).batch(9)], [robot.samples(9)])


@pytest.mark.parametrize('other', [1.0 + 1e-6, np.nan])
def test_a_different_result_ends_the_comparison(other: float) -> None:
    states = [(np.ones(1), np.ones(1), np.ones(1))]
    check_agreement([contender(1.0), contender(1.0)], states)
    with pytest.raises(DisagreementError, match=r'result .* differs from result 1\.0'):
        check_agreement([contender(1.0), contender(other)], states)


@needs_proc
def test_first_calls_use_every_kernel() -> None:
    seconds, _ = first_calls(None)
    assert 'inverse_dynamics' in seconds


@pytest.mark.parametrize(('ratio', 'reached'), [(0.9, False), (100.0, True)])
def test_a_figure_says_whether_it_was_reached(ratio: float, reached: bool) -> None:
    results = [
        Result(quantity, name, joints, 1e-6, ratio)
        for quantity in Computation
        for name in (CHECKED, WORKSPACE, SPECIALISED, BATCH, SPECIALISED_BATCH)
        for joints in (6, 7, 32, 120)
    ]
    found = figures(results, Memory(0, 100), None)
    assert {figure.reached for figure in found if figure.joints} == {reached}


@pytest.mark.parametrize(('cold', 'warm', 'megabytes'), [
    (4.9, 0.3, 119.0), (21.0, 0.3, 119.0), (4.9, 0.5, 119.0), (4.9, 0.3, 121.0),
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
