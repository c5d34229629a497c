# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Errors of linkages name what is wrong, and configurations that have no answer."""

import math
from typing import Any

import numpy as np
import pytest

from rnea_ros import (
    InputError,
    LoopClosureError,
    RneaError,
    RobotModel,
    SingularityError,
    UnknownNameError,
)
from rnea_ros.closed_loops import ClosedLoopModel, LoopJoint
from support.cases import each
from support.models.linkages import (
    CROSSED,
    LENGTHS,
    MOTORS,
    OPEN,
    PALLETISER_LOOPS,
    at,
    four_bar,
    palletiser,
)

MASSES = (1.0, 1.0, 1.0)
FOUR_BAR = four_bar(LENGTHS, MASSES, OPEN)


def arm() -> RobotModel:
    return RobotModel.from_urdf(palletiser(loops=True))


WELD = LoopJoint('weld', 'fixed', 'carousel', 'lower_arm', at(0.2, 0, 0.3))


@each('loops, motors, error', [
    (PALLETISER_LOOPS, MOTORS[:3], 'are 3, but the linkage has 4 degrees of freed'),
    (PALLETISER_LOOPS, (*MOTORS, 'elbow'), 'are 5, but the linkage has 4 degrees of freed'),
    ((*PALLETISER_LOOPS, WELD), MOTORS, 'the linkage has 3 degrees'),
    # Axis 2 and the rod beside the lower arm turn together, axis 3 is left without a motor.
    (PALLETISER_LOOPS, ('axis_1', 'axis_2', 'plate_rod', 'axis_4'),
     'a wrong choice.*can move while the actuated joints'),
])
def test_motors_determine_the_motion(loops: Any, motors: tuple[str, ...], error: str) -> None:
    with pytest.raises(InputError, match=error):
        ClosedLoopModel(arm(), loops, motors)
    floating = RobotModel.from_urdf(palletiser(loops=True), floating_base=True)
    with pytest.raises(InputError, match="'floating_base' has more than one axis"):
        ClosedLoopModel(floating, PALLETISER_LOOPS, ('floating_base', *MOTORS))


@each('scale', [1e-4, 1.0, 1e3])
def test_the_size_of_a_linkage_does_not_matter(scale: float) -> None:
    with pytest.raises(LoopClosureError, match=r"'pin' is open by .* m and 0 rad: found no"):
        four_bar(tuple(scale * x for x in (0.04, 0.03, 0.02, 0.1)), MASSES, OPEN)
    scaled = four_bar(tuple(scale * length for length in LENGTHS), MASSES, OPEN)
    for y in np.linspace(-3.0, 3.0, 5):
        np.testing.assert_allclose(scaled.positions([y]), FOUR_BAR.positions([y]), atol=1e-9)


def test_the_end_of_a_motors_range_is_a_singular_configuration() -> None:
    """The rocker turns back where crank and coupler lie in one line (law of cosines)."""
    a, b, c, d = LENGTHS
    by_rocker = four_bar(LENGTHS, MASSES, OPEN, motor='rocker')
    end = math.pi - math.acos((c * c + d * d - (a + b) ** 2) / (2.0 * c * d))
    inside = by_rocker.positions([end + 1e-3])
    for beyond, guess in ((1e-3, inside), (0.5, None)):
        with pytest.raises(LoopClosureError, match='at the end of its reach or singular near'):
            by_rocker.positions([end - beyond], guess=guess)
    crank = math.acos(((a + b) ** 2 + d * d - c * c) / (2.0 * (a + b) * d))
    q = four_bar(LENGTHS, MASSES, OPEN).positions([crank])
    with pytest.raises(SingularityError, match='can move while the actuated joints rocker stand'):
        by_rocker.gravity_torques(q)
    with pytest.raises(SingularityError, match='can move while the actuated joints rocker stand'):
        by_rocker.positions([end + 0.1], guess=q)
    with pytest.raises(SingularityError, match='singular configuration'):
        four_bar(LENGTHS, MASSES, tuple(q), motor='rocker')


def test_the_guess_selects_the_assembly_mode() -> None:
    q = four_bar(LENGTHS, MASSES, CROSSED).positions([2.0])
    np.testing.assert_allclose(FOUR_BAR.positions([2.0], guess=q + 0.05), q, atol=1e-9)
    assert np.abs(FOUR_BAR.positions([2.0]) - q).max() > 0.5


@each('method, rates', [
    ('gravity_torques', ()), ('velocities', ([1.0],)), ('forward_dynamics', ([1.0], [1.0])),
])
def test_an_open_loop_is_not_accepted_as_an_argument(method: str, rates: Any) -> None:
    q = FOUR_BAR.reference + np.array([0.0, 0.01, 0.0])
    with pytest.raises(LoopClosureError, match=r"'pin' is open by 0\.0012 m .*positions\(\)"):
        getattr(FOUR_BAR, method)(q, *rates)


@each('bad', [[1.0, 2.0], [np.nan]])
@each('argument, call', [
    ('y', lambda model, bad: model.positions(bad)),
    ('guess', lambda model, bad: model.positions([0.5], bad)),
    ('q', lambda model, bad: model.gravity_torques(bad)),
    ('yd', lambda model, bad: model.velocities(model.reference, bad)),
    ('ydd', lambda model, bad: model.inverse_dynamics(model.reference, [1.0], bad)),
    ('tau', lambda model, bad: model.forward_dynamics(model.reference, [1.0], bad)),
])
def test_bad_vectors_are_named(argument: str, call: Any, bad: Any) -> None:
    with pytest.raises(InputError) as caught:
        call(FOUR_BAR, bad)
    assert caught.value.argument == argument


NOWHERE = LoopJoint('pin', 'fixed', 'plate', 'nowhere')
make_joint: Any = LoopJoint
make_model: Any = ClosedLoopModel


@each('make, error, text', [
    (lambda: make_joint('pin', 'ball', 'plate', 'flange'), InputError, 'type.*known are revolute'),
    (lambda: make_joint('pin', 'fixed', 'a', 'b', (0.0, 0.0, 0.0)), InputError, 'placement_1'),
    (lambda: make_joint('pin', 'fixed', 'a', 'b', axis=(0, 0, 0)), InputError, 'axis'),
    (lambda: make_model('robot', PALLETISER_LOOPS, MOTORS), InputError, 'model'),
    (lambda: make_model(arm(), (), MOTORS), InputError, 'loop_joints'),
    (lambda: make_model(arm(), [PALLETISER_LOOPS[0]] * 2, MOTORS), InputError, 'same name'),
    (lambda: make_model(arm(), [NOWHERE], MOTORS), UnknownNameError, 'nowhere'),
    (lambda: make_model(arm(), PALLETISER_LOOPS, [*MOTORS[:3], 'axis_5']), UnknownNameError,
     'axis_5'),
    (lambda: make_model(arm(), PALLETISER_LOOPS, ['axis_1'] * 4), InputError, 'twice'),
    (lambda: make_model(arm(), PALLETISER_LOOPS, MOTORS, [0.0]), InputError, 'guess'),
])
def test_bad_arguments_are_named(make: Any, error: type[RneaError], text: str) -> None:
    with pytest.raises(error, match=text):
        make()
