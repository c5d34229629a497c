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

    def law(self, mode: type[ControlLaw], *, desired: bool) -> tuple[ControlLaw, Array]:
        """Return the law after its effort, and a copy of that."""
        law, motion = mode(self.robot, self.kp, self.kd, **self.options), self.desired
        effort = law.effort(self.q, self.qd, motion if desired else None, self.external)
        return law, effort.copy()


def assert_close(actual: Array, expected: Array) -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.oracle
@each('path', SHIPPED)
def test_each_mode_is_its_formula_with_pinocchio_s_dynamics(path: Path) -> None:
    model = load(path)
    case = Case(model, 0)
    oracle = Pinocchio(path.read_text(encoding='utf-8'), model.joint_names)
    gains = (case.kp, case.kd)
    for mode in LAWS.values():
        expected = law_effort(mode, oracle, (case.q, case.qd), case.desired, gains)
        assert_close(case.effort(mode), expected)


@each('mode', LAWS.values())
@each('arm', ARMS)
def test_without_a_reference_every_mode_is_gravity_and_coriolis_if_asked(
    mode: type[ControlLaw], arm: Arm
) -> None:
    model = arm()
    case, plain = Case(model, 0, compensate_coriolis=True), Case(model, 0)
    gravity, coriolis = model.gravity_torques(case.q), model.coriolis_torques(case.q, case.qd)
    assert np.abs(coriolis).max() > 1e-3
    assert_close(plain.effort(mode, desired=False), gravity)
    assert_close(case.effort(mode, desired=False), gravity + coriolis)
    followed = plain.effort(mode)
    assert_close(case.effort(mode), followed + coriolis if mode is Gravity else followed)


@each('desired', [True, False])
@each('coriolis', [True, False])
@each('mode', LAWS.values())
@each('arm', ARMS)
def test_the_parts_add_up_to_the_effort(
    mode: type[ControlLaw], arm: Arm, coriolis: bool, desired: bool
) -> None:
    case = Case(arm(), 1, compensate_coriolis=coriolis)
    total = case.terms(mode, desired=desired).total()
    assert_close(total, case.effort(mode, desired=desired))


def load_on(model: RobotModel) -> Payload:
    return Payload(model.link_names[-1], 2.0, (0.1, 0.2, 0.3))


def burdened(
    model: RobotModel, rng: np.random.Generator
) -> tuple[LoadedModel, JointFriction, Array]:
    """Return a robot with payload and hardware compensation, its friction and armature."""
    robot = LoadedModel(model, [HardwareCompensation.GRAVITY])
    robot.set_payloads([load_on(model)])
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
    plain.robot.set_payloads([load_on(model)])
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
    assert_close(case.effort(mode), expected)
    assert_close(case.terms(mode).total(), expected)


@each('arm', ARMS)
def test_feedback_alone_is_feedback_alone(arm: Arm) -> None:
    model = arm()
    robot, friction, armature = burdened(model, np.random.default_rng(0))
    case = Case(model, 0)
    case.robot, case.options = robot, {'friction': friction, 'armature': armature}
    case.external = np.ones(model.nv)
    assert_close(case.effort(Feedback), case.kp * case.e + case.kd * case.e_rate)


@each('arm', ARMS)
def test_friction_of_the_desired_velocity_is_its_offset_without_motion(arm: Arm) -> None:
    model = arm()
    robot, friction, _ = burdened(model, np.random.default_rng(0))
    case = Case(model, 0)
    case.robot = robot
    case.options = {'friction': friction, 'friction_velocity': VelocitySource.DESIRED}
    np.testing.assert_array_equal(case.terms(Gravity).friction, friction.offset)
    carried = load_on(model)
    loaded = model.with_payload(carried.link, carried.mass, carried.com)
    expected = friction.friction(case.desired[1], loaded.inverse_dynamics(*case.desired))
    assert_close(case.terms(Feedforward).friction, expected)


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


@each('turns', [-1000, -1, 0, 1, 1000])
@each('e', [-3.1, 0.0, 0.5, 3.1])
@each('q', [-3.0, 2.0])
def test_a_continuous_joint_is_pulled_the_shortest_way_round(
    turns: int, e: float, q: float
) -> None:
    assert turn_feedback(q, q + e + turns * math.tau, 'turn') == pytest.approx(e, abs=1e-9)


@each('joint', ['lift', 'bend'])
@each('e', [-math.tau, 5.0])
def test_a_joint_that_is_not_continuous_is_pulled_the_whole_way(joint: str, e: float) -> None:
    assert turn_feedback(0.25, 0.25 + e, joint) == pytest.approx(e)


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


def test_a_new_law_is_a_value_of_the_parameter(law: type[ControlLaw]) -> None:
    names = panda_arm().joint_names
    values = complete_values({'mode': NAME, 'joints': [*names], 'gains.kp': [5.0]})
    assert settings_from(values, names).mode is law
    assert PARAMETERS['mode'].description.endswith(f' | {NAME}')
    with pytest.raises(TypeError, match=f'there is a control law {NAME} already'):
        type('Another', (ControlLaw,), {'name': NAME})
    assert LAWS[NAME] is law


def test_a_new_law_follows_a_motion_by_its_equation(law: type[ControlLaw]) -> None:
    rig = Rig(
        panda_arm(), q=PANDA_POSE, mode=law, kp=(5.0,), kd=(1.0,), armature=(0.1,),
        ramp_duration=0.01, effort_rate_limit=(1e9,),
    )
    rig.activate()
    rig.controller.follow(swing(rig.model.joint_names, rig.q, rig.q + 0.05, 0.1), rig.now)
    for _ in range(50):
        command = rig.tick()
        desired = rig.controller.reference_at(rig.now)
        assert command is not None
        assert desired is not None
        feedback = 5.0 * (desired.position - rig.q) + (desired.velocity - rig.qd)
        acceleration = desired.acceleration + feedback
        expected = rig.model.inverse_dynamics(rig.q, desired.velocity, acceleration)
        assert_close(command, expected + 0.1 * acceleration + feedback)
        terms = rig.controller.terms()
        assert_close(terms.total(), command)
        rest = np.zeros_like(rig.q)
        through_mass = rig.model.inverse_dynamics(rig.q, rest, feedback) - rig.gravity
        assert_close(terms.feedback, feedback + 0.1 * feedback + through_mass)


def test_efforts_of_a_new_law_are_checked_before_settings_take_effect(
    law: type[ControlLaw], monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(panda_arm())
    check_efforts(rig.model, rig.resolved)
    endless = np.full(rig.model.nv, np.inf)
    monkeypatch.setattr(law, '_follow', lambda *_: Parts(effort=endless))
    with pytest.raises(InputError, match=f'in mode {NAME} are not finite'):
        check_efforts(rig.model, resolve(rig.settings, rig.model))


def test_laws_state_whether_they_follow_need_gains_and_carry_gravity() -> None:
    stated = {
        name: (law.follows_motions, law.needs_gains, law.carries_gravity)
        for name, law in LAWS.items()
    }
    assert stated == {
        'gravity': (False, False, True), 'feedforward': (True, False, True),
        'computed_torque': (True, True, True), 'feedback': (True, True, False),
        'gravity_feedback': (True, True, True),
    }


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
