# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

from collections.abc import Sequence
import math

import numpy as np
import pytest

from rnea_ros.sim.effort_controller import EffortController
from rnea_ros.urdf import JointLimits
from support.cases import each

LIMITS = (
    JointLimits(lower=-1.0, upper=1.0, velocity=2.0, effort=10.0),
    JointLimits(lower=-1.0, upper=1.0, velocity=2.0, effort=20.0),
)


class Rig:
    """A controller of two joints that stand still in the middle of their range."""

    def __init__(self, limits: Sequence[JointLimits] = LIMITS) -> None:
        self.warnings: list[str] = []
        self.failures: list[str] = []
        self.controller = EffortController(limits, self.warnings.append, self.failures.append)

    def cycle(
        self, positions: Sequence[float] = (0.0, 0.0), velocities: Sequence[float] = (0.0, 0.0)
    ) -> list[float] | None:
        efforts = self.controller.update(np.array(positions), np.array(velocities))
        return None if efforts is None else efforts.tolist()


def test_nothing_is_commanded_before_the_first_message() -> None:
    assert Rig().cycle() is None


def test_the_last_command_is_kept_for_ever() -> None:
    rig = Rig()
    rig.controller.receive([1.0, -2.0])
    assert all(rig.cycle() == [1.0, -2.0] for _ in range(1000))


def test_a_changed_message_does_not_change_what_was_received() -> None:
    rig, data = Rig(), np.array([1.0, -2.0])
    rig.controller.receive(data)
    data[:] = 5.0
    assert rig.cycle() == [1.0, -2.0]


@pytest.mark.parametrize(('before', 'within_the_cycle', 'after'), [
    *(([1.0, -2.0], [[bad, 3.0]], [1.0, -2.0]) for bad in (math.nan, math.inf, -math.inf)),
    ([1.0, -2.0], [[math.nan]], [1.0, -2.0]), ([1.0, -2.0], [[]], [1.0, -2.0]),
    ([1.0, -2.0], [[1.0], [3.0, 4.0]], [3.0, 4.0]),
])
def test_a_command_that_is_dropped_or_replaced_within_a_cycle_does_no_harm(
    before: list[float], within_the_cycle: list[list[float]], after: list[float]
) -> None:
    rig = Rig()
    rig.controller.receive(before)
    assert rig.cycle() == before
    for command in within_the_cycle:
        rig.controller.receive(command)
    assert rig.cycle() == after
    assert rig.controller.active
    not_finite = not np.isfinite(np.concatenate(within_the_cycle)).all()
    assert any('non-finite' in warning for warning in rig.warnings) is not_finite


@pytest.mark.parametrize('wrong', [[1.0], [1.0, 2.0, 3.0]])
def test_a_wrong_length_ends_the_control_and_the_last_efforts_stay(wrong: list[float]) -> None:
    rig = Rig()
    rig.controller.receive([1.0, -2.0])
    rig.cycle()
    rig.controller.receive(wrong)
    assert rig.cycle() == [1.0, -2.0]
    assert not rig.controller.active
    assert f'{len(wrong)} efforts, not 2' in rig.failures[0]


def test_commands_to_an_inactive_controller_are_ignored_silently() -> None:
    rig = Rig()
    rig.controller.receive([1.0])
    rig.cycle()
    rig.controller.receive([1.0, -2.0])
    assert rig.cycle() is None
    assert len(rig.failures) == 1
    assert not rig.warnings


def test_efforts_are_cut_to_the_effort_limits() -> None:
    rig = Rig()
    rig.controller.receive([-11.0, 21.0])
    assert rig.cycle() == [-10.0, 20.0]


@each(('q', 'qd', 'commanded', 'effort'), [
    (1.0, 0.0, 5.0, 0.0), (1.1, 0.1, 5.0, 0.0), (1.1, 0.1, -5.0, -5.0), (1.1, -0.1, 5.0, 5.0),
    (-1.0, 0.0, -5.0, 0.0), (-1.1, -0.1, 5.0, 5.0), (-1.1, 0.1, -5.0, -5.0),
    (0.0, 2.1, 5.0, 0.0), (0.0, 2.1, -5.0, -5.0), (0.0, -2.1, -5.0, 0.0), (0.0, -2.1, 5.0, 5.0),
    (0.0, 2.0, 5.0, 5.0),
])
def test_efforts_lead_beyond_no_limit(
    q: float, qd: float, commanded: float, effort: float
) -> None:
    rig = Rig()
    rig.controller.receive([commanded, commanded])
    assert rig.cycle((q, 0.0), (qd, 0.0)) == [effort, commanded]


def test_an_effort_that_was_cut_at_a_limit_comes_back_inside_it() -> None:
    rig = Rig()
    rig.controller.receive([5.0, 0.0])
    assert rig.cycle((1.0, 0.0)) == [0.0, 0.0]
    assert rig.cycle((0.9, 0.0)) == [5.0, 0.0]


def test_an_effort_that_was_cut_stays_cut_once_the_controller_is_inactive() -> None:
    rig = Rig()
    rig.controller.receive([5.0, 5.0])
    rig.cycle()
    rig.controller.receive([5.0])
    assert rig.cycle((1.0, 0.0)) == [0.0, 5.0]
    assert rig.cycle((0.9, 0.0)) == [0.0, 5.0]


def test_an_unlimited_effort_passes_beyond_a_position_limit_too() -> None:
    rig = Rig((JointLimits(lower=-1.0, upper=1.0), JointLimits()))
    rig.controller.receive([1e6, -1e6])
    assert rig.cycle((2.0, 0.0)) == [1e6, -1e6]
