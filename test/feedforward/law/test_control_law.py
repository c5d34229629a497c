# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Each control law is its formula, its parts their sum; one class is a whole law, on its page."""

from collections.abc import Callable, Iterator
import math
from pathlib import Path
import re
import runpy
import sys
from typing import Any
from unittest.mock import MagicMock, patch

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.errors import InputError
from rnea_ros.feedforward import check_efforts
from rnea_ros.feedforward.law import (
    LAWS,
    ComputedTorque,
    ControlLaw,
    Feedback,
    Feedforward,
    Gravity,
    GravityFeedback,
    HardwareCompensation,
    JointFriction,
    LoadedModel,
    Parts,
    ReferenceMotion,
    Terms,
    VelocitySource,
    control_law,
)
from rnea_ros.feedforward.settings import resolve
from rnea_ros.node.parameters import PARAMETERS, complete_values, settings_from
from rnea_ros.robot import Payload
from support.cases import each
from support.control.control_rig import (
    PANDA_POSE,
    Array,
    Rig,
    law_effort,
    mixed_arm,
    panda_arm,
    swing,
    two_joint_arm,
)
from support.models.oracles import Pinocchio
from support.models.robots import ROOT, SHIPPED, load

ARMS = [panda_arm, two_joint_arm, mixed_arm]
SEEDS = range(3)

Arm = Callable[[], RobotModel]
Desired = tuple[Array, Array, Array]


class Case:
    """A robot, gains, a measured state and a desired motion, drawn at random."""

    def __init__(self, model: RobotModel, seed: int, *, compensate_coriolis: bool = False) -> None:
        rng = np.random.default_rng(seed)
        self.q, self.qd = rng.normal(size=(2, model.nv))
        # Within half a turn, so that the way round is the same for every kind of joint.
        self.e = rng.uniform(-1.0, 1.0, model.nv)
        self.desired: Desired = (
            self.q + self.e, rng.normal(size=model.nv), rng.normal(size=model.nv)
        )
        self.e_rate = self.desired[1] - self.qd
        self.kp, self.kd = rng.uniform(1.0, 100.0, size=(2, model.nv))
        self.external: Array | None = None
        self.robot = LoadedModel(model)
        self.options: dict[str, Any] = {'compensate_coriolis': compensate_coriolis}

    def effort(self, mode: type[ControlLaw], *, desired: bool = True) -> Array:
        return self.law(mode, desired=desired)[1]

    def terms(self, mode: type[ControlLaw], *, desired: bool = True) -> Terms:
        return self.law(mode, desired=desired)[0].terms()

    def formula(self, mode: type[ControlLaw], dynamics: RobotModel | Pinocchio) -> Array:
        return law_effort(mode, dynamics, (self.q, self.qd), self.desired, (self.kp, self.kd))

    def law(self, mode: type[ControlLaw], *, desired: bool) -> tuple[ControlLaw, Array]:
        """Return the law after its effort, and a copy of that."""
        law, motion = mode(self.robot, self.kp, self.kd, **self.options), self.desired
        effort = law.effort(self.q, self.qd, motion if desired else None, self.external)
        return law, effort.copy()


@pytest.mark.oracle
@pytest.mark.parametrize('mode', LAWS.values())
@pytest.mark.parametrize('path', SHIPPED, ids=lambda path: path.stem)
@each('seed', SEEDS)
def test_each_mode_is_its_formula_with_pinocchio_s_dynamics(
    mode: type[ControlLaw], path: Path, seed: int
) -> None:
    model = load(path)
    case = Case(model, seed)
    oracle = Pinocchio(path.read_text(encoding='utf-8'), model.joint_names)
    expected = case.formula(mode, oracle)
    np.testing.assert_allclose(case.effort(mode), expected, rtol=1e-9, atol=1e-10)


@each('mode', LAWS.values())
@each('arm', ARMS)
def test_each_mode_is_its_formula(mode: type[ControlLaw], arm: Arm) -> None:
    model = arm()
    for seed in SEEDS:
        case = Case(model, seed)
        expected = case.formula(mode, model)
        np.testing.assert_allclose(case.effort(mode), expected, rtol=1e-9, atol=1e-10)


@each('mode', LAWS.values())
@each('arm', ARMS)
def test_without_a_reference_every_mode_is_gravity(mode: type[ControlLaw], arm: Arm) -> None:
    model = arm()
    case = Case(model, 0)
    expected = model.gravity_torques(case.q)
    effort = case.effort(mode, desired=False)
    np.testing.assert_allclose(effort, expected, rtol=1e-9, atol=1e-10)


@each('mode', LAWS.values())
@each('arm', ARMS)
def test_coriolis_efforts_are_added_to_gravity_if_asked(mode: type[ControlLaw], arm: Arm) -> None:
    model = arm()
    case, plain = Case(model, 0, compensate_coriolis=True), Case(model, 0)
    coriolis = model.coriolis_torques(case.q, case.qd)
    assert np.abs(coriolis).max() > 1e-3
    expected = plain.effort(mode)
    if mode is Gravity:
        expected = expected + coriolis
    np.testing.assert_allclose(case.effort(mode), expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(
        case.effort(mode, desired=False), plain.effort(mode, desired=False) + coriolis, rtol=1e-9,
        atol=1e-10,
    )


@each('desired', [True, False])
@each('coriolis', [True, False])
@each('mode', LAWS.values())
@each('arm', ARMS)
def test_the_parts_add_up_to_the_effort(
    mode: type[ControlLaw], arm: Arm, coriolis: bool, desired: bool
) -> None:
    for seed in SEEDS:
        case = Case(arm(), seed, compensate_coriolis=coriolis)
        terms = case.terms(mode, desired=desired)
        total = terms.total()
        np.testing.assert_allclose(total, case.effort(mode, desired=desired), rtol=1e-9, atol=1e-9)


def load_of(model: RobotModel) -> Payload:
    return Payload(model.link_names[-1], 2.0, (0.1, 0.2, 0.3))


def burdened(
    model: RobotModel, rng: np.random.Generator
) -> tuple[LoadedModel, JointFriction, Array]:
    """Return a robot with payload and hardware compensation, its friction and armature."""
    robot = LoadedModel(model, [HardwareCompensation.GRAVITY])
    robot.set_payloads([load_of(model)])
    n = model.nv
    friction = JointFriction(
        rng.uniform(size=(2, n)), rng.uniform(size=(2, n)), 0.1 * rng.uniform(size=n),
        np.full(n, 0.1), rng.uniform(size=n),
    )
    return robot, friction, rng.uniform(size=n)


@each('arm', ARMS)
@each('mode', [mode for mode in LAWS.values() if mode is not Feedback])
def test_friction_rotors_and_pushes_less_hardware_add_up(mode: type[ControlLaw], arm: Arm) -> None:
    model = arm()
    rng = np.random.default_rng(0)
    robot, friction, armature = burdened(model, rng)
    case, plain = Case(model, 0), Case(model, 0)
    case.robot, case.options = robot, {'friction': friction, 'armature': armature}
    case.external = rng.normal(size=model.nv)
    plain.robot.set_payloads([load_of(model)])
    _, _, qdd_d = case.desired
    feedback = case.kp * case.e + case.kd * case.e_rate
    acceleration = {ComputedTorque: qdd_d + feedback, Feedforward: qdd_d}
    rigid = plain.effort(mode)
    if mode in (Feedforward, GravityFeedback):
        rigid = rigid - feedback  # what the joints carry is the robot's
    expected = (
        plain.effort(mode)
        + friction.friction(case.qd, rigid)
        + armature * acceleration.get(mode, np.zeros(model.nv))
        + case.external
        - model.gravity_torques(case.q)
    )
    np.testing.assert_allclose(case.effort(mode), expected, rtol=1e-9, atol=1e-9)


@each('arm', ARMS)
def test_feedback_alone_is_feedback_alone(arm: Arm) -> None:
    model = arm()
    robot, friction, armature = burdened(model, np.random.default_rng(0))
    case, plain = Case(model, 0), Case(model, 0)
    case.robot, case.options = robot, {'friction': friction, 'armature': armature}
    case.external = np.ones(model.nv)
    np.testing.assert_array_equal(case.effort(Feedback), plain.effort(Feedback))


@each('arm', ARMS)
def test_friction_of_the_desired_velocity_is_its_offset_without_motion(arm: Arm) -> None:
    model = arm()
    robot, friction, _ = burdened(model, np.random.default_rng(0))
    case = Case(model, 0)
    case.robot = robot
    case.options = {'friction': friction, 'friction_velocity': VelocitySource.DESIRED}
    np.testing.assert_array_equal(case.terms(Gravity).friction, friction.offset)
    assert (case.terms(Feedforward).friction != friction.offset).all()


@each('arm', ARMS)
def test_each_part_is_what_its_name_says(arm: Arm) -> None:
    model = arm()
    case = Case(model, 0)
    q_d, qd_d, qdd_d = case.desired
    zero = np.zeros(model.nv)
    feedback = case.kp * case.e + case.kd * case.e_rate

    def inertial(q: Array, qdd: Array) -> Array:
        return model.inverse_dynamics(q, zero, qdd) - model.gravity_torques(q)

    expected = {
        Gravity: (model.gravity_torques(case.q), zero, zero, zero),
        Feedforward: (
            model.gravity_torques(q_d), model.coriolis_torques(q_d, qd_d), inertial(q_d, qdd_d),
            feedback,
        ),
        ComputedTorque: (
            model.gravity_torques(case.q), model.coriolis_torques(case.q, case.qd),
            inertial(case.q, qdd_d), inertial(case.q, feedback),
        ),
        Feedback: (zero, zero, zero, feedback),
        GravityFeedback: (model.gravity_torques(case.q), zero, zero, feedback),
    }
    for mode, parts in expected.items():
        terms = case.terms(mode)
        got = (terms.gravity, terms.coriolis, terms.inertia, terms.feedback)
        np.testing.assert_allclose(got, parts, rtol=1e-9, atol=1e-9, err_msg=mode.name)


def turn_feedback(q: float, q_d: float, joint: str) -> float:
    """Return what a proportional gain of 1 does on one joint of the mixed arm."""
    model = mixed_arm()
    number, zero = model.joint_names.index(joint), np.zeros(model.nv)
    law = Feedback(LoadedModel(model), np.ones(model.nv), zero)
    measured, desired = zero.copy(), zero.copy()
    measured[number], desired[number] = q, q_d
    return float(law.effort(measured, zero, (desired, zero, zero))[number])


@each('turns', [-1000, -2, -1, 0, 1, 2, 1000])
@each('e', [-3.1, -1.0, 0.0, 0.5, 3.1])
def test_a_continuous_joint_is_pulled_the_shortest_way_round(turns: int, e: float) -> None:
    for q in (-3.0, 0.0, 2.0):
        feedback = turn_feedback(q, q + e + turns * math.tau, 'turn')
        assert feedback == pytest.approx(e, abs=1e-9)


@each('joint', ['lift', 'bend'])
@each('e', [-7.0, -math.tau, math.tau, 5.0])
def test_a_joint_that_is_not_continuous_is_pulled_the_whole_way(joint: str, e: float) -> None:
    assert turn_feedback(0.25, 0.25 + e, joint) == pytest.approx(e)


def test_the_dynamics_of_a_continuous_joint_do_not_change_with_whole_turns() -> None:
    case = Case(mixed_arm(), 0)
    turn = mixed_arm().joint_names.index('turn')
    before = {mode: case.effort(mode) for mode in LAWS.values()}
    case.desired[0][turn] += 3 * math.tau
    for mode, effort in before.items():
        np.testing.assert_allclose(case.effort(mode), effort, rtol=1e-9, atol=1e-9)


NAME = 'desired_velocity'


@pytest.fixture
def law() -> Iterator[type[ControlLaw]]:
    """Register a law for one test."""

    class DesiredVelocity(ControlLaw):
        """ID(q, qd_d, qdd_d + Kp e + Kd e') + Kp e + Kd e'."""

        name = NAME
        needs_gains = True

        def _follow(
            self, q: Array, qd: Array, reference: ReferenceMotion, feedback: Array
        ) -> Parts:
            _, qd_d, qdd_d = reference
            return Parts(q, qd_d, qdd_d, acceleration=feedback, effort=feedback)

    yield DesiredVelocity
    del control_law._LAWS[NAME]


def rig_of(law: type[ControlLaw]) -> Rig:
    """Return a rig with the law, by the value of the parameter."""
    names = panda_arm().joint_names
    values = complete_values({'mode': law.name, 'joints': [*names], 'gains.kp': [5.0]})
    mode = settings_from(values, names).mode
    assert mode is law
    rig = Rig(
        panda_arm(), q=PANDA_POSE, mode=mode, kp=(5.0,), kd=(1.0,), armature=(0.1,),
        ramp_duration=0.01, effort_rate_limit=(1e9,),
    )
    rig.activate()
    rig.controller.follow(swing(names, rig.q, rig.q + 0.05, 0.2), rig.now)
    return rig


def test_a_new_law_is_a_value_of_the_parameter_until_it_is_gone(law: type[ControlLaw]) -> None:
    assert PARAMETERS['mode'].description.endswith(f' | {NAME}')
    PARAMETERS['mode'].check('mode', NAME)
    del control_law._LAWS[NAME]
    with pytest.raises(InputError, match=f'{NAME}. is none of gravity'):
        PARAMETERS['mode'].check('mode', NAME)
    control_law._LAWS[NAME] = law


def test_a_new_law_follows_a_motion_by_its_equation(law: type[ControlLaw]) -> None:
    rig = rig_of(law)
    assert rig.controller.law.name == NAME
    assert rig.controller.following
    for _ in range(100):
        command = rig.tick()
        desired = rig.controller.reference_at(rig.now)
        assert command is not None
        assert desired is not None
        feedback = 5.0 * (desired.position - rig.q) + (desired.velocity - rig.qd)
        acceleration = desired.acceleration + feedback
        expected = rig.model.inverse_dynamics(rig.q, desired.velocity, acceleration)
        expected += 0.1 * acceleration + feedback
        np.testing.assert_allclose(command, expected, rtol=1e-9, atol=1e-9)
        terms = rig.controller.terms()
        np.testing.assert_allclose(terms.total(), command, rtol=1e-9, atol=1e-10)
        rest = np.zeros_like(rig.q)
        through_mass = rig.model.inverse_dynamics(rig.q, rest, feedback) - rig.gravity
        np.testing.assert_allclose(
            terms.feedback, feedback + 0.1 * feedback + through_mass, rtol=1e-9, atol=1e-9
        )


def test_efforts_of_a_new_law_are_checked_before_settings_take_effect(
    law: type[ControlLaw], monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(panda_arm())
    check_efforts(rig.model, rig.resolved)
    endless = np.full(rig.model.nv, np.inf)
    monkeypatch.setattr(law, '_follow', lambda *_: Parts(effort=endless))
    with pytest.raises(InputError, match=f'in mode {NAME} are not finite'):
        check_efforts(rig.model, resolve(rig.settings, rig.model))


def test_a_name_is_that_of_one_law(law: type[ControlLaw]) -> None:
    with pytest.raises(TypeError, match=f'there is a control law {NAME} already'):
        type('Another', (ControlLaw,), {'name': law.name})
    assert LAWS[NAME] is law


@each('law', LAWS.values())
def test_a_law_is_what_it_says_of_itself(law: type[ControlLaw]) -> None:
    model = mixed_arm()
    rng = np.random.default_rng(0)
    q, qd, q_d, qd_d, qdd_d = rng.normal(size=(5, model.nv))
    still = np.zeros(model.nv)

    def effort(gain: float, *reference: Array) -> Array:
        gains = np.full(model.nv, gain)
        motion = (reference[0], reference[1], reference[2])
        return law(LoadedModel(model), gains, gains).effort(q, qd, motion).copy()

    gravity = model.gravity_torques(q)
    follows = not np.allclose(effort(1.0, q_d, qd_d, qdd_d), effort(1.0, q, qd, still))
    assert law.follows_motions is follows
    assert law.carries_gravity is bool(effort(0.0, q, still, still).any())
    if not law.needs_gains:
        assert law.carries_gravity
    if not law.follows_motions:
        np.testing.assert_allclose(effort(1.0, q_d, qd_d, qdd_d), gravity)


def test_terms_before_the_first_effort_are_zero() -> None:
    zero = np.zeros(panda_arm().nv)
    for law in LAWS.values():
        assert not law(LoadedModel(panda_arm()), zero, zero).terms().total().any()


def test_the_page_has_every_law_and_the_units_of_its_gains() -> None:
    page = (ROOT / 'docs/control.md').read_text(encoding='utf-8')
    table = page[page.index('| `mode` |') : page.index('Units of `gains')]
    assert re.findall(r'^\| `(\w+)` \|', table, re.MULTILINE)[1:] == [*LAWS]
    units = dict(re.findall(r'^- `?(all other modes|\w+)`?: (.+? for `kd`)', page, re.MULTILINE))
    assert units.keys() <= {'all other modes', *LAWS}
    for name, law in LAWS.items():
        kp, kd = law.gain_units
        stated = units.get(name, units['all other modes'])
        assert stated == f'{kp} for `kp`, {kd} for `kd`', name


def test_launch_files_offer_every_control_law() -> None:
    modules = ('launch', 'launch.actions', 'launch.logging', 'launch.substitutions')
    with patch.dict(sys.modules, {name: MagicMock() for name in modules}):
        offered = runpy.run_module('rnea_ros.launch_arguments')['MODES']
    assert offered == (*LAWS,)
