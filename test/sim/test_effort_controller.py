# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The simulated effort controller has the rules of ros2_control, unwelcome ones included."""

import math
from typing import Any

import numpy as np

from rnea_ros.sim.effort_controller import EffortController
from rnea_ros.urdf import JointLimits
from support.cases import each

LIMITS = (
    JointLimits(lower=-1.0, upper=1.0, velocity=2.0, effort=10.0),
    JointLimits(lower=-1.0, upper=1.0, velocity=2.0, effort=20.0),
)


class Rig:
    """A controller of two joints that stand still in the middle of their range."""

    def __init__(self, *received: list[float]) -> None:
        self.warnings: list[str] = []
        self.failures: list[str] = []
        self.controller = EffortController(LIMITS, self.warnings.append, self.failures.append)
        for efforts in received:
            self.controller.receive(efforts)

    def cycle(self, q: float = 0.0, qd: float = 0.0) -> list[float] | None:
        efforts = self.controller.update(np.array([q, 0.0]), np.array([qd, 0.0]))
        return None if efforts is None else efforts.tolist()


def test_the_last_command_is_kept_for_ever() -> None:
    assert Rig().cycle() is None
    rig, data = Rig(), np.array([1.0, -2.0])
    rig.controller.receive(data)
    data[:] = 5.0
    assert all(rig.cycle() == [1.0, -2.0] for _ in range(1000))


@each(('within_the_cycle', 'after'), [
    ([[math.nan, 3.0]], [1.0, -2.0]), ([[3.0, -math.inf]], [1.0, -2.0]),
    ([[math.nan]], [1.0, -2.0]), ([[]], [1.0, -2.0]), ([[1.0], [3.0, 4.0]], [3.0, 4.0]),
])
def test_a_command_that_is_dropped_or_replaced_within_a_cycle_does_no_harm(
    within_the_cycle: list[list[float]], after: list[float]
) -> None:
    rig = Rig([1.0, -2.0])
    assert rig.cycle() == [1.0, -2.0]
    for command in within_the_cycle:
        rig.controller.receive(command)
    assert rig.cycle() == after
    assert rig.controller.active
    not_finite = not np.isfinite(np.concatenate(within_the_cycle)).all()
    assert any('non-finite' in warning for warning in rig.warnings) is not_finite


@each('wrong', [[1.0], [1.0, 2.0, 3.0]])
def test_a_wrong_length_ends_the_control_and_the_last_efforts_stay(wrong: list[float]) -> None:
    rig = Rig([1.0, -2.0])
    rig.cycle()
    for later in (wrong, [5.0, 5.0]):  # once inactive, it ignores commands silently
        rig.controller.receive(later)
        assert rig.cycle() == [1.0, -2.0]
        assert not rig.controller.active
    (failure,) = rig.failures
    assert f'{len(wrong)} efforts, not 2' in failure
    assert not rig.warnings


@each(('q', 'qd', 'commanded', 'effort'), [
    (0.0, 0.0, -11.0, -10.0), (0.0, 0.0, 11.0, 10.0), (1.0, 0.0, 5.0, 0.0), (1.1, 0.1, 5.0, 0.0),
    (1.1, 0.1, -5.0, -5.0), (1.1, -0.1, 5.0, 5.0), (-1.0, 0.0, -5.0, 0.0), (-1.1, -0.1, 5.0, 5.0),
    (-1.1, 0.1, -5.0, -5.0), (0.0, 2.1, 5.0, 0.0), (0.0, 2.1, -5.0, -5.0), (0.0, -2.1, -5.0, 0.0),
    (0.0, -2.1, 5.0, 5.0), (0.0, 2.0, 5.0, 5.0), (0.0, -2.0, -5.0, -5.0),
])
def test_efforts_lead_beyond_no_limit(q: Any, qd: Any, commanded: float, effort: float) -> None:
    second = math.copysign(min(20.0, abs(2.0 * commanded)), commanded)
    assert Rig([commanded, 2.0 * commanded]).cycle(q, qd) == [effort, second]


def test_an_effort_that_was_cut_comes_back_only_while_the_controller_is_active() -> None:
    rig = Rig([5.0, 5.0])
    assert (rig.cycle(1.0), rig.cycle(0.9)) == ([0.0, 5.0], [5.0, 5.0])
    rig.controller.receive([5.0])
    assert (rig.cycle(1.0), rig.cycle(0.9)) == ([0.0, 5.0], [0.0, 5.0])
