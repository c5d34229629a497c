# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Each control law against its formula, its parts against their sum, the shortest way round."""

from __future__ import annotations

from collections.abc import Callable
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
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
    Terms,
    VelocitySource,
)
from rnea_ros.robot import Payload
from support.cases import each
from support.control.control_rig import Array, mixed_arm, panda_arm, two_joint_arm
from support.models.oracles import Pinocchio
from support.models.robots import SHIPPED, load

ARMS = [panda_arm, two_joint_arm, mixed_arm]
SEEDS = range(3)

Arm = Callable[[], RobotModel]
Wanted = tuple[Array, Array, Array]


class Case:
    """A robot, gains, a measured state and a wanted motion, drawn at random."""

    def __init__(self, model: RobotModel, seed: int, *, compensate_coriolis: bool = False) -> None:
        rng = np.random.default_rng(seed)
        self.q, self.qd = rng.normal(size=(2, model.nv))
        # Within half a turn, so that the way round is the same for every kind of joint.
        self.e = rng.uniform(-1.0, 1.0, model.nv)
        self.wanted: Wanted = (
            self.q + self.e, rng.normal(size=model.nv), rng.normal(size=model.nv)
        )
        self.e_rate = self.wanted[1] - self.qd
        self.kp, self.kd = rng.uniform(1.0, 100.0, size=(2, model.nv))
        self.external: Array | None = None
        self.robot = LoadedModel(model)
        self.options: dict[str, Any] = {'compensate_coriolis': compensate_coriolis}

    def effort(self, mode: type[ControlLaw], *, wanted: bool = True) -> Array:
        return self.law(mode, wanted=wanted)[1]

    def terms(self, mode: type[ControlLaw], *, wanted: bool = True) -> Terms:
        return self.law(mode, wanted=wanted)[0].terms()

    def law(self, mode: type[ControlLaw], *, wanted: bool) -> tuple[ControlLaw, Array]:
        """Return the law after its effort, and a copy of that."""
        law, motion = mode(self.robot, self.kp, self.kd, **self.options), self.wanted
        effort = law.effort(self.q, self.qd, motion if wanted else None, self.external)
        return law, effort.copy()


def formula(mode: type[ControlLaw], case: Case, oracle: RobotModel | Pinocchio) -> Array:
    """Return the effort by the table of docs/control.md, with the oracle's dynamics."""
    q_d, qd_d, qdd_d = case.wanted
    zero = np.zeros_like(case.q)
    feedback = np.diag(case.kp) @ case.e + np.diag(case.kd) @ case.e_rate
    gravity = oracle.inverse_dynamics(case.q, zero, zero)
    efforts: dict[type[ControlLaw], Callable[[], Array]] = {
        Gravity: lambda: gravity,
        Feedforward: lambda: oracle.inverse_dynamics(q_d, qd_d, qdd_d) + feedback,
        ComputedTorque: lambda: oracle.inverse_dynamics(case.q, case.qd, qdd_d + feedback),
        Feedback: lambda: feedback,
        GravityFeedback: lambda: gravity + feedback,
    }
    return efforts[mode]()


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
    expected = formula(mode, case, oracle)
    np.testing.assert_allclose(case.effort(mode), expected, rtol=1e-9, atol=1e-10)


@each('mode', LAWS.values())
@each('arm', ARMS)
def test_each_mode_is_its_formula(mode: type[ControlLaw], arm: Arm) -> None:
    model = arm()
    for seed in SEEDS:
        case = Case(model, seed)
        expected = formula(mode, case, model)
        np.testing.assert_allclose(case.effort(mode), expected, rtol=1e-9, atol=1e-10)


@each('mode', LAWS.values())
@each('arm', ARMS)
def test_without_a_reference_every_mode_is_gravity(mode: type[ControlLaw], arm: Arm) -> None:
    model = arm()
    case = Case(model, 0)
    expected = model.gravity_torques(case.q)
    effort = case.effort(mode, wanted=False)
    np.testing.assert_allclose(effort, expected, rtol=1e-9, atol=1e-10)


@each('mode', LAWS.values())
@each('arm', ARMS)
def test_coriolis_efforts_are_added_to_gravity_modes_on_request_only(
    mode: type[ControlLaw], arm: Arm
) -> None:
    model = arm()
    case, plain = Case(model, 0, compensate_coriolis=True), Case(model, 0)
    coriolis = model.coriolis_torques(case.q, case.qd)
    assert np.abs(coriolis).max() > 1e-3
    expected = plain.effort(mode)
    if mode is Gravity:
        expected = expected + coriolis
    np.testing.assert_allclose(case.effort(mode), expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(
        case.effort(mode, wanted=False),
        plain.effort(mode, wanted=False) + coriolis,
        rtol=1e-9,
        atol=1e-10,
    )


@each('wanted', [True, False])
@each('coriolis', [True, False])
@each('mode', LAWS.values())
@each('arm', ARMS)
def test_the_parts_add_up_to_the_effort(
    mode: type[ControlLaw], arm: Arm, coriolis: bool, wanted: bool
) -> None:
    for seed in SEEDS:
        case = Case(arm(), seed, compensate_coriolis=coriolis)
        terms = case.terms(mode, wanted=wanted)
        total = terms.total()
        np.testing.assert_allclose(total, case.effort(mode, wanted=wanted), rtol=1e-9, atol=1e-9)


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
        np.full(n, 0.1),
    )
    return robot, friction, rng.uniform(size=n)


@each('arm', ARMS)
@each('mode', [mode for mode in LAWS.values() if mode is not Feedback])
def test_friction_rotors_and_pushes_are_added_less_hardware_terms(
    mode: type[ControlLaw], arm: Arm
) -> None:
    model = arm()
    rng = np.random.default_rng(0)
    robot, friction, armature = burdened(model, rng)
    case, plain = Case(model, 0), Case(model, 0)
    case.robot, case.options = robot, {'friction': friction, 'armature': armature}
    case.external = rng.normal(size=model.nv)
    plain.robot.set_payloads([load_of(model)])
    _, _, qdd_d = case.wanted
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
def test_friction_of_the_desired_velocity_is_zero_without_a_motion(arm: Arm) -> None:
    model = arm()
    robot, friction, _ = burdened(model, np.random.default_rng(0))
    case = Case(model, 0)
    case.robot = robot
    case.options = {'friction': friction, 'friction_velocity': VelocitySource.DESIRED}
    assert not case.terms(Gravity).friction.any()
    assert case.terms(Feedforward).friction.any()


@each('arm', ARMS)
def test_each_part_is_what_its_name_says(arm: Arm) -> None:
    model = arm()
    case = Case(model, 0)
    q_d, qd_d, qdd_d = case.wanted
    zero = np.zeros(model.nv)
    feedback = case.kp * case.e + case.kd * case.e_rate

    def inertial(q: Array, qdd: Array) -> Array:
        return model.inverse_dynamics(q, zero, qdd) - model.gravity_torques(q)

    expected = {
        Gravity: (model.gravity_torques(case.q), zero, zero, zero),
        Feedforward: (
            model.gravity_torques(q_d),
            model.coriolis_torques(q_d, qd_d),
            inertial(q_d, qdd_d),
            feedback,
        ),
        ComputedTorque: (
            model.gravity_torques(case.q),
            model.coriolis_torques(case.q, case.qd),
            inertial(case.q, qdd_d),
            inertial(case.q, feedback),
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
    measured, wanted = zero.copy(), zero.copy()
    measured[number], wanted[number] = q, q_d
    return float(law.effort(measured, zero, (wanted, zero, zero))[number])


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
    case.wanted[0][turn] += 3 * math.tau
    for mode, effort in before.items():
        np.testing.assert_allclose(case.effort(mode), effort, rtol=1e-9, atol=1e-9)
