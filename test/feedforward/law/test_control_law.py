# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Each control law is its formula, its parts their sum; one class is a whole law, on its page."""

from collections.abc import Iterator
from itertools import product
import math
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.errors import InputError
from rnea_ros.feedforward import check_efforts, laws
from rnea_ros.feedforward.laws import (
    LAWS,
    ControlLaw,
    Feedback,
    JointFriction,
    ReferenceMotion,
    Terms,
    VelocitySource,
)
from rnea_ros.feedforward.loaded_model import HardwareCompensation, LoadedModel
from rnea_ros.feedforward.motion import Setpoint
from rnea_ros.feedforward.settings import PARAMETERS, complete_values, resolve, settings_from
from rnea_ros.launch_arguments import MODES
from rnea_ros.robot import BaseMotion, Payload
from support.cases import each
from support.control.control_rig import (
    PANDA_POSE,
    Array,
    Rig,
    law_effort,
    mixed_arm,
    panda_arm,
    two_joint_arm,
)
from support.models.oracles import Pinocchio
from support.models.robots import SHIPPED, description, load
from support.python_process import run


def assert_close(actual: Array, expected: Array, name: str = '') -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9, err_msg=name)


class Case:
    """A robot with a payload, factors, gains, a measured state and a desired motion, at random."""

    def __init__(self, model: RobotModel) -> None:
        rng = np.random.default_rng(0)
        self.model, n = model, model.nv
        self.q, self.qd = rng.normal(size=(2, n))
        # Within half a turn, so that the way round is the same for every kind of joint.
        e = rng.uniform(-1.0, 1.0, n)
        self.desired: ReferenceMotion = (self.q + e, *rng.normal(size=(2, n)))
        self.kp, self.kd = rng.uniform(1.0, 100.0, size=(2, n))
        self.feedback = self.kp * e + self.kd * (self.desired[1] - self.qd)
        payload = model.link_names[-1], 2.0, (0.1, 0.2, 0.3)
        self.loaded = model.with_payload(*payload)
        self.robot = LoadedModel(model, [HardwareCompensation.GRAVITY])
        self.robot.set_payloads([Payload(*payload)])
        self.robot.set_base(model.gravity, *model.base_motion.spatial())  # as an IMU does
        self.factor = np.random.default_rng(1).uniform(0.5, 1.5, n)
        self.robot.set_gravity_factor(self.factor)
        self.friction = JointFriction(
            rng.uniform(size=(2, n)), rng.uniform(size=(2, n)), 0.1 * rng.uniform(size=n),
            np.full(n, 0.1), rng.uniform(size=n),
        )
        self.armature, self.external = rng.uniform(size=(2, n))

    def terms_of(
        self, mode: type[ControlLaw], reference: ReferenceMotion | None, **options: Any
    ) -> Terms:
        """Return the terms of an effort of which they are the sum."""
        options |= {'friction': self.friction, 'armature': self.armature}
        law = mode(self.robot, self.kp, self.kd, **options)
        effort = law.effort(self.q, self.qd, reference, self.external).copy()
        assert_close(law.terms().total(), effort)
        return law.terms()

    def assert_terms(
        self, terms: Terms, motion: tuple[Array, ...], acceleration: Array, effort: Array,
        friction_velocity: Array,
    ) -> None:
        """
        Assert that they are those of ID(q, qd, qdd + acceleration) + effort.

        :param motion: positions, velocities for Coriolis efforts, accelerations
        """
        model, (q, qd, qdd) = self.loaded, motion
        rest = np.zeros(model.nv)
        gravity, unloaded = (each.bias_torques(q, rest) for each in (model, self.model))
        added = (self.factor - 1.0) * unloaded

        def inertia(acceleration: Array) -> Array:
            rigid = model.inverse_dynamics(q, rest, acceleration) - gravity
            return np.asarray(rigid + self.armature * acceleration)

        rigid = model.inverse_dynamics(q, qd, qdd + acceleration) + added
        expected = {
            'gravity': gravity + added - self.factor * self.model.bias_torques(self.q, rest),
            'coriolis': model.bias_torques(q, qd) - gravity, 'inertia': inertia(qdd),
            'friction': self.friction.friction(friction_velocity, rigid),
            'external': self.external, 'feedback': inertia(acceleration) + effort,
        }
        for name, values in expected.items():
            assert_close(getattr(terms, name), values, name)


MOVING = BaseMotion((0.1, 0.2, 0.3), (0.4, -0.5, 0.6), (0.7, 0.8, -0.9), (-1.0, 1.1, 1.2))
ARMS = [panda_arm(), two_joint_arm(), mixed_arm(), two_joint_arm().with_base_motion(MOVING)]


@each('model', ARMS)
def test_each_term_of_a_law_is_what_its_name_says(model: RobotModel) -> None:
    case, zero = Case(model), np.zeros(model.nv)
    q, qd, desired, feedback = case.q, case.qd, case.desired, case.feedback
    still, at_rest = (q, zero, zero), (zero, zero)
    stated: dict[str, tuple[tuple[Array, ...], Array, Array]] = {
        'gravity': (still, *at_rest), 'feedforward': (desired, zero, feedback),
        'computed_torque': ((q, qd, desired[2]), feedback, zero),
        'gravity_feedback': (still, zero, feedback),
    }
    for name, parts in stated.items():
        law, options = LAWS[name], {'friction_velocity': VelocitySource.DESIRED}
        case.assert_terms(case.terms_of(law, desired), *parts, qd)
        # Without a motion the desired velocity is zero.
        velocity = desired[1] if law.follows_motions else zero
        case.assert_terms(case.terms_of(law, desired, **options), *parts, velocity)
        case.assert_terms(case.terms_of(law, None, **options), still, *at_rest, zero)
    terms = case.terms_of(Feedback, desired)
    assert_close(terms.total(), feedback)
    assert_close(terms.feedback, feedback)


@each('law', LAWS.values())
@each('model', ARMS)
def test_coriolis_efforts_are_included_without_a_motion_if_asked(
    model: RobotModel, law: type[ControlLaw]
) -> None:
    case = Case(model)
    coriolis = case.loaded.bias_torques(case.q, case.qd)
    coriolis -= case.loaded.bias_torques(case.q, 0.0 * case.q)
    assert np.abs(coriolis).max() > 1e-3
    assert_close(case.terms_of(law, None, compensate_coriolis=True).coriolis, coriolis)
    plain = case.terms_of(law, case.desired)
    asked = case.terms_of(law, case.desired, compensate_coriolis=True)
    changed = 0.0 * coriolis if law.follows_motions else coriolis
    assert_close(asked.coriolis - plain.coriolis, changed)


@pytest.mark.oracle
@each('path', SHIPPED)
def test_each_mode_is_its_formula_with_pinocchio_s_dynamics(path: Any) -> None:
    model = load(path)
    case = Case(model)
    oracle = Pinocchio(description(model).text, model.joint_names)
    gains, robot = (case.kp, case.kd), LoadedModel(model)

    class Factored:
        @staticmethod
        def inverse_dynamics(q: Array, qd: Array, qdd: Array) -> Array:
            gravity = oracle.inverse_dynamics(q, zero, zero)
            return np.asarray(oracle.inverse_dynamics(q, qd, qdd) + (case.factor - 1.0) * gravity)

    zero = np.zeros(model.nv)
    for mode, (factor, dynamics) in product(
        LAWS.values(), ((zero + 1.0, oracle), (case.factor, Factored))
    ):
        if mode.takes_poses:
            continue  # its formula: test_cartesian_impedance.py
        robot.set_gravity_factor(factor)
        effort = mode(robot, *gains).effort(case.q, case.qd, case.desired)
        assert_close(effort, law_effort(mode, dynamics, (case.q, case.qd), case.desired, gains))


@each('q', [-3.0, 2.0])
@each('e', [-3.1, 0.0, 0.5, 3.1])
@each('turns', [-1000, -1, 0, 1, 1000])
def test_only_a_continuous_joint_is_pulled_the_shortest_way_round(
    turns: int, e: float, q: float
) -> None:
    model = mixed_arm()  # lift, turn (continuous), bend and gripper
    zero, way = np.zeros(4), e + turns * math.tau
    law = Feedback(LoadedModel(model), np.ones(4), zero)
    effort = law.effort(np.full(4, q), zero, (np.full(4, q + way), zero, zero), zero)
    np.testing.assert_allclose(effort, [way, e, way, way], atol=1e-9)


NAME = 'desired_velocity'


@pytest.fixture
def law() -> Iterator[type[ControlLaw]]:

    class DesiredVelocity(ControlLaw):
        """ID(q, qd_d, qdd_d + Kp e + Kd e') + Kp e + Kd e'."""

        name = NAME
        needs_gains = True

        def follow(self, q: Array, qd: Array, q_d: Array, qd_d: Array, qdd_d: Array) -> Array:
            feedback = self.feedback(q, qd, q_d, qd_d)
            return self.inverse_dynamics(q, qd_d, qdd_d + feedback) + feedback

    yield DesiredVelocity
    del laws._LAWS[NAME]


def test_a_new_law_is_a_value_of_the_parameter_and_its_equation(law: type[ControlLaw]) -> None:
    names, case = panda_arm().joint_names, Case(panda_arm())
    values = complete_values({'mode': NAME, 'joints': [*names], 'gains.kp': [5.0]})
    assert settings_from(values, names).mode is law
    assert PARAMETERS['mode'].description.endswith(f' | {NAME}')
    with pytest.raises(TypeError, match=f'there is a control law {NAME} already'):
        type('Another', (ControlLaw,), {'name': NAME})
    motion, terms = (case.q, *case.desired[1:]), case.terms_of(law, case.desired)
    case.assert_terms(terms, motion, case.feedback, case.feedback, case.qd)


def test_efforts_of_a_new_law_are_checked_before_settings_take_effect(
    law: type[ControlLaw], monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(panda_arm())
    check_efforts(rig.model, rig.resolved)
    monkeypatch.setattr(law, 'follow', lambda *_: np.full(7, np.inf))
    with pytest.raises(InputError, match=f'in mode {NAME} are not finite'):
        check_efforts(rig.model, resolve(rig.settings, rig.model))


def test_laws_state_whether_they_follow_need_gains_and_carry_gravity() -> None:
    zero, stated = np.zeros(2), {}
    for name, law in LAWS.items():
        stated[name] = (law.follows_motions, law.needs_gains, law.carries_gravity)
        assert not law(LoadedModel(two_joint_arm()), zero, zero).terms().total().any()
    assert stated == {
        'gravity': (False, False, True), 'feedforward': (True, False, True),
        'computed_torque': (True, True, True), 'feedback': (True, True, False),
        'gravity_feedback': (True, True, True), 'cartesian_impedance': (False, False, True),
    }


def test_launch_files_offer_every_control_law_and_load_no_compiler() -> None:
    assert (*LAWS,) == MODES
    code = 'import sys, rnea_ros.launch_arguments; print("numba" in sys.modules)'
    assert run(code) == 'False\n'


@pytest.fixture
def cartesian() -> Iterator[Any]:

    class Cartesian(ControlLaw):
        """bias(q, qd) + J^T (K (x_d - x) + integral) for the tip, with x_d = x(q_d)."""

        name = 'cartesian'
        stiffness = 200.0

        def reset(self) -> None:
            self.integral = np.zeros(3)

        def follow(self, q: Array, qd: Array, q_d: Array, qd_d: Array, qdd_d: Array) -> Array:
            model = self.robot.model
            tip = model.link_names[-1]
            x, x_d = (model.forward_kinematics(angles, tip)[:3, 3] for angles in (q, q_d))
            self.integral = self.integral + self.dt * (x_d - x)
            force = self.stiffness * (x_d - x) + self.integral
            push: Array = model.jacobian(q, tip)[3:].T @ force
            return self.bias(q, qd) + push

    yield Cartesian
    del laws._LAWS[Cartesian.name]


def test_a_cartesian_law_pulls_its_tip_starts_anew_and_names_its_terms(
    cartesian: Any,
) -> None:
    rig = Rig(panda_arm(), q=PANDA_POSE, mode=cartesian, rate=1000.0)
    rig.activate()
    q_d = rig.q + 0.01
    rig.controller.follow(Setpoint(None, rig.model.joint_names, q_d, 0.0 * q_d, 0.0 * q_d), None)
    rig.run(0.1)
    law: Any = rig.controller.law
    assert isinstance(law, cartesian)
    assert np.abs(law.integral).max() > 0.0
    tip = rig.model.link_names[-1]
    poses = [rig.model.forward_kinematics(q, tip)[:3, 3] for q in (rig.q, q_d)]
    force = law.stiffness * (poses[1] - poses[0]) + law.integral
    terms = rig.controller.terms()
    np.testing.assert_allclose(
        terms.feedback, rig.model.jacobian(rig.q, tip)[3:].T @ force, rtol=1e-9, atol=1e-10
    )
    np.testing.assert_allclose(terms.gravity, rig.gravity, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(terms.total(), rig.commands[-1], rtol=1e-9, atol=1e-10)
    rig.controller.permitted = False
    rig.tick()
    rig.controller.permitted = True
    rig.tick()
    assert not law.integral.any()


def test_a_law_may_change_what_the_model_returned(law: type[ControlLaw]) -> None:
    for name in ('gravity', 'bias', 'inverse_dynamics'):
        case = Case(panda_arm())
        made = law(case.robot, case.kp, case.kd)
        state = (case.q, case.q, case.q)[:{'gravity': 1, 'bias': 2}.get(name, 3)]
        made.holding_effort(case.q)
        before = made.holding.copy()
        getattr(made, name)(*state)[:] += 5.0
        np.testing.assert_array_equal(made.holding, before)
