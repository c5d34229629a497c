# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Errors of linkages name what is wrong, and configurations that have no answer."""

from collections.abc import Callable
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
from rnea_ros.dynamics.tree import Placement
from support.cases import each
from support.models.linkages import (
    CROSSED,
    LENGTHS,
    MOTORS,
    OPEN,
    PALLETISER_LOOPS,
    at,
    bar,
    four_bar,
    palletiser,
    palletiser_with_loops,
)
from support.models.robots import joint, link, robot

MASSES = (1.0, 1.0, 1.0)


def arm() -> RobotModel:
    return RobotModel.from_urdf(palletiser(loops=True))


@each('motors, joints', [(MOTORS[:3], 3), ((*MOTORS, 'elbow'), 5), ((), 0)])
def test_motors_are_counted_against_the_freedom(motors: tuple[str, ...], joints: int) -> None:
    with pytest.raises(InputError, match=rf'are {joints}, but the linkage has 4 degrees of freed'):
        ClosedLoopModel(arm(), PALLETISER_LOOPS, motors)


def test_motors_that_do_not_determine_the_motion_are_rejected_by_name() -> None:
    # Axis 2 and the rod beside the lower arm turn together, axis 3 is left without a motor.
    with pytest.raises(InputError, match=r'a wrong choice.*can move while the actuated joints'):
        ClosedLoopModel(arm(), PALLETISER_LOOPS, ('axis_1', 'axis_2', 'plate_rod', 'axis_4'))


def test_a_base_that_floats_has_six_degrees_of_freedom_too_many() -> None:
    model = RobotModel.from_urdf(palletiser(loops=True), floating_base=True)
    with pytest.raises(InputError, match='has 10 degrees of freedom'):
        ClosedLoopModel(model, PALLETISER_LOOPS, MOTORS)
    with pytest.raises(InputError, match="'floating_base' has more than one axis"):
        ClosedLoopModel(model, PALLETISER_LOOPS, ('floating_base', *MOTORS))


def test_a_linkage_without_freedom_has_none_to_choose() -> None:
    ground = LoopJoint('weld', 'fixed', 'carousel', 'lower_arm', at(0.2, 0, 0.3))
    with pytest.raises(InputError, match='the linkage has 3 degrees'):
        ClosedLoopModel(arm(), (*PALLETISER_LOOPS, ground), MOTORS)


@each('scale', [1e-4, 1.0, 1e3])
def test_bars_that_are_too_short_cannot_be_closed_at_any_size(scale: float) -> None:
    with pytest.raises(LoopClosureError, match=r"'pin' is open by .* m and 0 rad: found no"):
        four_bar(tuple(scale * x for x in (0.04, 0.03, 0.02, 0.1)), MASSES, OPEN)


def test_a_motor_that_leaves_its_range_is_stopped_at_its_end() -> None:
    """The rocker turns back where crank and coupler lie in one line (law of cosines)."""
    a, b, c, d = LENGTHS
    model = four_bar(LENGTHS, MASSES, OPEN, motor='rocker')
    end = math.pi - math.acos((c * c + d * d - (a + b) ** 2) / (2.0 * c * d))
    inside = model.positions([end + 1e-3])
    with pytest.raises(LoopClosureError) as caught:
        model.positions([end - 1e-3], guess=inside)
    assert 'at the end of its reach or singular near' in str(caught.value)
    with pytest.raises(LoopClosureError, match='the end of its reach'):
        model.positions([end - 0.5])


def test_the_end_of_a_motors_range_is_a_singular_configuration() -> None:
    a, b, c, d = LENGTHS
    model = four_bar(LENGTHS, MASSES, OPEN)
    crank = math.acos(((a + b) ** 2 + d * d - c * c) / (2.0 * (a + b) * d))
    q = model.positions([crank])  # crank and coupler in one line
    by_rocker = four_bar(LENGTHS, MASSES, OPEN, motor='rocker')
    with pytest.raises(SingularityError, match='can move while the actuated joints rocker stand'):
        by_rocker.gravity_torques(q)
    with pytest.raises(SingularityError, match='singular configuration'):
        four_bar(LENGTHS, MASSES, tuple(q), motor='rocker')


def test_a_parallelogram_passes_its_flat_position_in_its_own_branch() -> None:
    model = four_bar((0.3, 0.5, 0.3, 0.5), MASSES, (1.0, -1.0, 1.0))
    with pytest.raises(SingularityError):
        model.positions([0.0])
    with pytest.raises(LoopClosureError, match='singular near'):
        model.positions([-0.5])
    with pytest.raises(SingularityError):
        four_bar((0.3, 0.5, 0.3, 0.5), MASSES, (0.0, 0.0, 0.0))
    for y in (0.01, math.pi - 0.01):
        np.testing.assert_allclose(model.positions([y]), [y, -y, y], atol=1e-8)


def test_two_parallelograms_in_flat_positions_at_once_are_rejected() -> None:
    names = [f'{part}_{side}' for side in ('left', 'right') for part in ('crank', 'rod', 'rocker')]
    parts, joints, pins = [link('ground')], [], []
    for side, y in (('left', 0.1), ('right', -0.1)):
        crank, rod, rocker = (f'{part}_{side}' for part in ('crank', 'rod', 'rocker'))
        parts += [bar(crank, 0.3, 1.0), bar(rod, 0.5, 1.0), bar(rocker, 0.3, 1.0)]
        up = (0.0, -1.0, 0.0)
        joints += [
            joint(crank, 'continuous', 'ground', crank, axis=up, xyz=(0, y, 0)),
            joint(rod, 'continuous', crank, rod, axis=up, xyz=(0.3, 0, 0)),
            joint(rocker, 'continuous', 'ground', rocker, axis=up, xyz=(0.5, y, 0)),
        ]
        pins.append(
            LoopJoint(f'pin_{side}', 'revolute', rod, rocker, at(0.5, 0, 0), at(0.3, 0, 0), up)
        )
    tree = RobotModel.from_urdf(robot(*parts, *joints))
    guess = [1.0 if 'rod' not in name else -1.0 for name in names]
    assert list(tree.joint_names) == names
    model = ClosedLoopModel(tree, pins, ['crank_left', 'crank_right'], guess)
    np.testing.assert_allclose(model.positions([0.5, 0.01])[[0, 3]], [0.5, 0.01], atol=1e-8)
    with pytest.raises(LoopClosureError, match='singular near'):
        model.positions([-0.5, -0.5])


def test_the_guess_selects_the_assembly_mode() -> None:
    model = four_bar(LENGTHS, MASSES, OPEN)
    crossed = four_bar(LENGTHS, MASSES, CROSSED)
    q = crossed.positions([2.0])
    np.testing.assert_allclose(model.positions([2.0], guess=q + 0.05), q, atol=1e-9)
    assert np.abs(model.positions([2.0]) - q).max() > 0.5


def test_an_open_loop_is_not_accepted_as_an_argument() -> None:
    model = four_bar(LENGTHS, MASSES, OPEN)
    q = model.reference + np.array([0.0, 0.01, 0.0])
    calls: list[Any] = [
        model.gravity_torques, model.mass_matrix, model.motion_matrix,
        lambda q: model.velocities(q, [1.0]), lambda q: model.accelerations(q, [1.0], [1.0]),
        lambda q: model.inverse_dynamics(q, [1.0], [1.0]),
        lambda q: model.forward_dynamics(q, [1.0], [1.0]),
    ]
    for call in calls:
        with pytest.raises(LoopClosureError, match=r"'pin' is open by 0\.0012 m .*positions\(\)"):
            call(q)


@each('bad', [None, 'one', [1.0, 2.0], [np.nan], [[1.0]], [10**400]])
def test_bad_vectors_are_named(bad: Any) -> None:
    model = four_bar(LENGTHS, MASSES, OPEN)
    q = model.reference
    calls: dict[str, Callable[[], Any]] = {
        'y': lambda: model.positions(bad),
        'guess': lambda: model.positions([0.5], bad if bad is not None else 'none'),
        'q': lambda: model.gravity_torques(bad), 'yd': lambda: model.velocities(q, bad),
        'ydd': lambda: model.inverse_dynamics(q, [1.0], bad),
        'tau': lambda: model.forward_dynamics(q, [1.0], bad),
    }
    for name, call in calls.items():
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.argument == name


def test_motion_too_large_for_floating_point_is_an_error() -> None:
    model = four_bar(LENGTHS, MASSES, OPEN)
    q = model.reference
    calls: list[Callable[[], Any]] = [
        lambda: model.velocities(q, [1.7e308]), lambda: model.accelerations(q, [1e200], [0.0]),
        lambda: model.inverse_dynamics(q, [1e200], [0.0]),
        lambda: model.inverse_dynamics(q, [0.0], [1.7e308]),
        lambda: model.forward_dynamics(q, [0.0], [1.7e308]),
    ]
    for call in calls:
        with pytest.raises(InputError):
            call()
    for far in (1e5, 1e308):
        with pytest.raises(RneaError):
            model.positions([far])


@each('arguments, error', [
    (('pin', 'ball', 'plate', 'flange'), 'type.*known are revolute'),
    (('pin', None, 'plate', 'flange'), 'type'), ((None, 'fixed', 'plate', 'flange'), 'name'),
    (('pin', 'fixed', 'plate', 'flange', (0.0, 0.0, 0.0)), 'placement_1'),
    (('pin', 'fixed', 'plate', 'flange', at(0, 0, 0), at(0, 0, 0), (0, 0, 0)), 'axis'),
    (('pin', 'fixed', 'plate', 'flange', at(0, 0, 0), at(0, 0, 0), 'x'), 'axis'),
])
def test_bad_loop_joints_are_named(arguments: Any, error: str) -> None:
    with pytest.raises(InputError, match=error):
        LoopJoint(*arguments)


def test_bad_arguments_of_the_model_are_named() -> None:
    pin = LoopJoint('pin', 'fixed', 'plate', 'nowhere')
    bad: list[tuple[Any, type[RneaError], str]] = [
        (('robot', PALLETISER_LOOPS, MOTORS), InputError, 'model'),
        ((arm(), (), MOTORS), InputError, 'loop_joints'),
        ((arm(), None, MOTORS), InputError, 'loop_joints'),
        ((arm(), PALLETISER_LOOPS[0], MOTORS), InputError, 'loop_joints'),
        ((arm(), [PALLETISER_LOOPS[0]] * 2, MOTORS), InputError, 'same name'),
        ((arm(), [pin], MOTORS), UnknownNameError, 'nowhere'),
        ((arm(), PALLETISER_LOOPS, 'axis_1'), InputError, 'actuated_joints'),
        ((arm(), PALLETISER_LOOPS, None), InputError, 'actuated_joints'),
        ((arm(), PALLETISER_LOOPS, [*MOTORS[:3], 'axis_5']), UnknownNameError, 'axis_5'),
        ((arm(), PALLETISER_LOOPS, [*MOTORS[:3], 3]), UnknownNameError, '3'),
        ((arm(), PALLETISER_LOOPS, ['axis_1'] * 4), InputError, 'twice'),
        ((arm(), PALLETISER_LOOPS, MOTORS, [0.0]), InputError, 'guess'),
    ]
    for arguments, error, text in bad:
        with pytest.raises(error, match=text):
            ClosedLoopModel(*arguments)


def test_a_motion_without_inertia_has_no_acceleration() -> None:
    massless = robot(
        link('ground'), link('crank'), link('coupler'), link('rocker'),
        joint('crank', 'continuous', 'ground', 'crank', axis=(0, -1, 0)),
        joint('coupler', 'continuous', 'crank', 'coupler', axis=(0, -1, 0), xyz=(0.04, 0, 0)),
        joint('rocker', 'continuous', 'ground', 'rocker', axis=(0, -1, 0), xyz=(0.1, 0, 0)),
    )
    pin = LoopJoint(
        'pin', 'revolute', 'coupler', 'rocker', at(0.12, 0, 0), at(0.08, 0, 0), (0, 1, 0)
    )
    model = ClosedLoopModel(RobotModel.from_urdf(massless), [pin], ['crank'], OPEN)
    with pytest.raises(SingularityError, match='without inertia'):
        model.forward_dynamics(model.reference, [0.0], [1.0])


def test_angles_with_four_decimals_close_and_are_as_good() -> None:
    """With 1.5708 for pi / 2 the axes of a planar linkage are 4e-6 rad from parallel."""

    def linkage(quarter: float) -> ClosedLoopModel:
        tree = robot(
            link('ground'),
            *(link(name, 1.0, (0.05, 0.02, 0.0)) for name in ('crank', 'coupler', 'rocker')),
            joint('crank', 'continuous', 'ground', 'crank', rpy=(quarter, 0, 0)),
            joint('coupler', 'continuous', 'crank', 'coupler', xyz=(0.04, 0, 0)),
            joint(
                'rocker', 'continuous', 'ground', 'rocker', xyz=(0.1, 0, 0),
                rpy=(math.pi / 2, 0, 0),
            ),
        )
        pin = LoopJoint('pin', 'revolute', 'coupler', 'rocker', at(0.12, 0, 0), at(0.08, 0, 0))
        return ClosedLoopModel(RobotModel.from_urdf(tree), [pin], ['crank'], OPEN)

    exact, rounded = linkage(math.pi / 2), linkage(1.5708)
    for y in np.linspace(0.0, 6.0, 7):
        q, q_rounded = exact.positions([y]), rounded.positions([y])
        np.testing.assert_allclose(q_rounded, q, atol=1e-4)
        np.testing.assert_allclose(
            rounded.inverse_dynamics(q_rounded, [3.0], [4.0]),
            exact.inverse_dynamics(q, [3.0], [4.0]), rtol=1e-3,
        )


@each('scale', [1e-3, 1.0, 1e3])
def test_the_size_of_a_linkage_does_not_matter(scale: float) -> None:
    a, b, c, d = (scale * length for length in LENGTHS)
    for y in np.linspace(-3.0, 3.0, 5):
        q = four_bar((a, b, c, d), MASSES, OPEN).positions([y])
        np.testing.assert_allclose(q, four_bar(LENGTHS, MASSES, OPEN).positions([y]), atol=1e-9)


def test_opposite_axes_do_not_close_a_joint() -> None:
    tree = four_bar(LENGTHS, MASSES, OPEN).model
    half_turn = Placement.from_xyz_rpy((0.08, 0.0, 0.0), (math.pi, 0.0, 0.0))
    pin = LoopJoint('pin', 'revolute', 'coupler', 'rocker', at(0.12, 0, 0), half_turn, (0, -1, 0))
    with pytest.raises(LoopClosureError, match=r'and 3\.14 rad'):
        ClosedLoopModel(tree, [pin], ['crank'], OPEN)


def test_the_reference_cannot_be_changed() -> None:
    model = palletiser_with_loops()
    with pytest.raises(ValueError, match='read-only'):
        model.reference[0] = 1.0
    assert model.actuated_joints == MOTORS
    assert model.loop_joints == PALLETISER_LOOPS
    assert model.model.joint_names[0] == 'axis_1'
