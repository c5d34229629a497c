# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Linkages: published and worked by hand, cut at any joint, as mimic joints; their errors."""

from collections.abc import Sequence
import math
from typing import Any, TypeAlias

import numpy as np
import pytest

from rnea_ros import (
    InputError,
    LoopClosureError,
    RneaError,
    RobotModel,
    SingularityError,
    UnknownNameError,
    Wrench,
)
from rnea_ros.closed_loops import ClosedLoopModel, LoopJoint
from support.cases import each
from support.models import linkages
from support.models.joint_trees import GRAVITY, model_of
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
from support.models.oracle_pairs import rate
from support.models.oracles import Array


def angles(theta_2: float, mode: float) -> tuple[float, float]:
    """
    Return the angles of coupler and rocker by Freudenstein's equation.

    Vectors from crank pivot: a e^(i t2) + b e^(i t3) = d + c e^(i t4). Without t3:
    K1 cos t4 - K2 cos t2 + K3 = cos(t2 - t4), with K1 = d/a, K2 = d/c,
    K3 = (a^2 - b^2 + c^2 + d^2) / (2 a c). With tan(t4/2) it is a quadratic equation, whose roots
    are the open (mode -1) and the crossed (mode 1) assembly.
    """
    a, b, c, d = LENGTHS
    K1, K2, K3 = d / a, d / c, (a**2 - b**2 + c**2 + d**2) / (2.0 * a * c)
    A = math.cos(theta_2) - K1 - K2 * math.cos(theta_2) + K3
    B, C = -2.0 * math.sin(theta_2), K1 - (K2 + 1.0) * math.cos(theta_2) + K3
    theta_4 = 2.0 * math.atan2(-B + mode * math.sqrt(B * B - 4.0 * A * C), 2.0 * A)
    x = d + c * math.cos(theta_4) - a * math.cos(theta_2)
    y = c * math.sin(theta_4) - a * math.sin(theta_2)
    return math.atan2(y, x), theta_4


def turned_to(angle: float) -> float:
    """Return an angle between -pi and pi."""
    return math.remainder(angle, math.tau)


def test_a_published_four_bar_has_its_published_angles() -> None:
    """R. L. Norton, Design of Machinery: d = 100, a = 40, b = 120, c = 80 mm, theta_2 = 40 deg."""
    for guess, published in ((OPEN, (20.30, 57.33)), (CROSSED, (-60.98, -98.01))):
        model = four_bar(LENGTHS, (1.0, 1.0, 1.0), guess)
        q = model.positions([math.radians(40.0)])
        found = [math.degrees(turned_to(angle)) for angle in (q[0] + q[1], q[2])]
        np.testing.assert_allclose(found, published, atol=0.01)


@each('guess, mode', [(OPEN, -1.0), (CROSSED, 1.0)])
def test_a_whole_turn_stays_in_its_assembly_mode(guess: tuple[float, ...], mode: float) -> None:
    model = four_bar(LENGTHS, (1.0, 1.0, 1.0), guess)
    for theta_2 in np.linspace(-math.pi, math.pi, 15):
        q = model.positions([theta_2])
        expected = angles(theta_2, mode)
        for found, by_hand in zip((q[0] + q[1], q[2]), expected, strict=True):
            assert abs(turned_to(found - by_hand)) < 1e-9


def test_loops_and_mimic_joints_of_a_palletiser_are_the_same_robot() -> None:
    mimic = RobotModel.from_urdf(palletiser(loops=False))
    assert set(mimic.joint_names) == set(MOTORS)
    tree = RobotModel.from_urdf(palletiser(loops=True))
    loops = ClosedLoopModel(tree, PALLETISER_LOOPS, mimic.joint_names)
    push = {'tool': Wrench((30.0, -20.0, 50.0), (4.0, 5.0, 6.0))}
    # Within half a quarter turn, where no parallelogram is flat
    states = np.random.default_rng(8).uniform(-1.0, 1.0, (4, 3, 4)) * [[0.6], [2.0], [5.0]]
    for y, yd, ydd in states:
        q = loops.positions(y)
        qd, qdd = loops.velocities(q, yd), loops.accelerations(q, yd, ydd)
        tau = mimic.inverse_dynamics(y, yd, ydd, push)
        compared = [
            (loops.inverse_dynamics(q, yd, ydd, push), tau),
            (loops.forward_dynamics(q, yd, tau, push), ydd),
            (loops.gravity_torques(q), mimic.gravity_torques(y)),
            (loops.mass_matrix(q), mimic.mass_matrix(y)),
        ]
        # The pin is fixed to the crank in the one, level in the other.
        for name in set(mimic.link_names) - {'pin'}:
            compared += [
                (tree.forward_kinematics(q, name), mimic.forward_kinematics(y, name)),
                (tree.link_velocity(q, qd, name), mimic.link_velocity(y, yd, name)),
                (
                    tree.link_acceleration(q, qd, qdd, name),
                    mimic.link_acceleration(y, yd, ydd, name),
                ),
            ]
        for found, expected in compared:
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-8)


Pairs: TypeAlias = Sequence[linkages.Pair]

LINKAGES: list[tuple[Pairs, tuple[str, ...]]] = [
    (linkages.ROCKER, ('seam', 'ball', 'hinge')), (linkages.SLIDER, ('seam', 'ball', 'rail')),
    (linkages.TURNING_CYLINDER, ('seam', 'pin_1', 'bore')),
]
"""Linkages and the joints to cut, fixed, revolute, spherical, prismatic and cylindrical ones."""

STATES = np.random.default_rng(5).uniform(-1.0, 1.0, (2, 3, 1)) * [[0.5], [3.0], [5.0]]
"""Position, velocity and acceleration of the crank: rad, rad/s, rad/s^2."""

PUSH = {'half': Wrench((3.0, -2.0, 1.0), (0.1, 0.3, -0.2), frame='base', point=(0.3, 0, 0))}


def model_cut(pairs: Pairs, name: str) -> ClosedLoopModel:
    parts, loop = linkages.cut(pairs, name)
    return ClosedLoopModel(model_of(parts, GRAVITY), [loop], ['crank'])


@each('pairs, cuts', LINKAGES)
def test_results_do_not_depend_on_a_loops_cut(pairs: Pairs, cuts: Sequence[str]) -> None:
    models = [model_cut(pairs, name) for name in cuts]

    def results(model: ClosedLoopModel, y: Array, yd: Array, ydd: Array) -> list[Array]:
        q = model.positions(y)
        return [
            model.inverse_dynamics(q, yd, ydd), model.inverse_dynamics(q, yd, ydd, PUSH),
            model.forward_dynamics(q, yd, [2.0]), model.forward_dynamics(q, yd, [2.0], PUSH),
            model.gravity_torques(q), model.mass_matrix(q)[0],
        ]

    for state in STATES:
        first, *others = (results(model, *state) for model in models)
        for other in others:
            np.testing.assert_allclose(other, first, rtol=1e-9, atol=1e-9)


@each('pairs, cuts', LINKAGES)
def test_power_and_rates_are_those_of_the_motion(pairs: Pairs, cuts: Sequence[str]) -> None:
    for name in cuts:
        model = model_cut(pairs, name)
        assert_loop_is_closed(model, *STATES[0], slides=name in ('rail', 'bore'))
        assert_rates_fit(model, *STATES[0])


def assert_loop_is_closed(
    model: ClosedLoopModel, y: Array, yd: Array, ydd: Array, *, slides: bool
) -> None:
    q, (loop,) = model.positions(y), model.loop_joints
    ends = [
        model.model.forward_kinematics(q, link) @ np.append(place.translation, 1.0)
        for link, place in ((loop.link_1, loop.placement_1), (loop.link_2, loop.placement_2))
    ]
    assert slides or np.abs(ends[0] - ends[1]).max() < 1e-9
    tau = model.inverse_dynamics(q, yd, ydd)
    np.testing.assert_allclose(model.forward_dynamics(q, yd, tau), ydd, rtol=1e-9, atol=1e-9)


def assert_rates_fit(model: ClosedLoopModel, y: Array, yd: Array, ydd: Array) -> None:
    """Compare with differences; one motor makes all power: its effort follows from the energy."""
    tree, q = model.model, model.positions(y)

    def moved(t: float) -> tuple[Array, Array]:
        there = model.positions(y + t * yd + 0.5 * t * t * ydd)
        return there, model.velocities(there, yd + t * ydd)

    def energy(t: float) -> float:
        there, qd = moved(t)
        return tree.kinetic_energy(there, qd) + tree.potential_energy(there)

    for found, expected in (
        (model.velocities(q, yd), rate(lambda t: tree.difference(q, moved(t)[0]))),
        (model.accelerations(q, yd, ydd), rate(lambda t: moved(t)[1])),
        (yd @ model.inverse_dynamics(q, yd, ydd), rate(energy)),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-5)


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
