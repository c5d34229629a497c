# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The benchmark compares like with like."""

import numpy as np
import pinocchio as pin
import pytest

from benchmark import BenchmarkError
from benchmark.contenders import INVERSE_DYNAMICS, Pinocchio, mujoco_call, our_batches, our_calls
from benchmark.robots import robots_to_compare
from benchmark.timing import Contender, check_agreement


def contender(result: float) -> Contender:
    return Contender(f'result {result}', lambda *state: np.array([result]), tuple)


@pytest.mark.oracle
def test_all_libraries_compute_the_same_results() -> None:
    robot = robots_to_compare()[0]
    pinocchio = Pinocchio(robot)
    calls = pinocchio.calls()
    calls[INVERSE_DYNAMICS].append(mujoco_call(robot))
    for quantity, ours in our_calls(robot).items():
        check_agreement([*ours, *calls[quantity]], robot.states())
    if not hasattr(pin, 'ModelPool'):
        pytest.skip('this Pinocchio has no batch')
    check_agreement([*our_batches(robot, 9), pinocchio.batch(9)], [robot.samples(9)])


def test_a_different_result_ends_the_comparison() -> None:
    states = [(np.ones(1), np.ones(1), np.ones(1))]
    check_agreement([contender(1.0), contender(1.0)], states)
    for other in (1.0 + 1e-6, np.nan):
        with pytest.raises(BenchmarkError, match=r'result .* differs from result 1\.0'):
            check_agreement([contender(1.0), contender(other)], states)
