# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The observer finds what the environment adds to the motors' efforts, and nothing else."""

from typing import Any

import numpy as np

from rnea_ros import BaseMotion, RobotModel, Wrench
from rnea_ros.feedforward.contact import ExternalWrench
from rnea_ros.feedforward.laws import FrictionModel
from rnea_ros.feedforward.loaded_model import HardwareCompensation, LoadedModel
from rnea_ros.feedforward.momentum_observer import MomentumObserver
from rnea_ros.feedforward.settings import (
    EffortSource,
    ExternalEffortSettings,
    FrictionSettings,
    Settings,
    resolve,
)
from rnea_ros.robot import Payload
from support.cases import each
from support.control.control_rig import PANDA_POSE, Array, mixed_arm, panda_arm, two_joint_arm
from support.models.oracle_pairs import random_pair
from support.models.robots import SHIPPED, load

GAIN = 50.0
MEASURED = ExternalEffortSettings(gain=(GAIN,))
COMMANDED = ExternalEffortSettings(gain=(GAIN,), source=EffortSource.COMMANDED)
FRICTION = FrictionSettings(
    FrictionModel.PARAMETERS, viscous=(1.5,), coulomb=(2.0,), viscous_negative=(1.0,),
    coulomb_negative=(3.0,), load=(0.1,), smoothing_velocity=(0.1,), offset=(0.7,),
    shared_joints=('fer_joint6', 'fer_joint5'), shared_ratio=-0.7, shared_viscous=0.5,
    shared_coulomb=1.0,
)


class Swing:
    """A motion of all joints, each a sine."""

    def __init__(self, model: RobotModel, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self._w, self._phase = rng.uniform(1.0, 4.0, model.nv), rng.uniform(0.0, 6.0, model.nv)
        self._size = rng.uniform(0.1, 0.5, model.nv)

    def at(self, t: float) -> tuple[Array, Array, Array]:
        """Return q, qd and qdd."""
        w, phase = self._w, self._w * t + self._phase
        q, qd = self._size * np.sin(phase), self._size * w * np.cos(phase)
        return q, qd, -w * w * q


def run(
    model: RobotModel, settings: Settings, efforts: Any, *, seed: int = 0, dt: float = 2e-4,
    seconds: float = 0.1, robot: LoadedModel | None = None, compensated: Any = lambda q: None,
    shares: bool = False,
) -> Array:
    """
    Return the external efforts at each sample of a motion, by motor efforts(q, qd, qdd, t).

    :param compensated: what the robot adds to a command at q
    :param shares: return them as shares of what counts as contact
    """
    resolved = resolve(settings, model)
    robot = robot or LoadedModel(model)
    robot.set_payloads(settings.payloads)
    observer, swing = MomentumObserver(robot.bodies, resolved), Swing(model, seed)
    none, found = np.full(model.nv, np.nan), []
    measured = settings.external_effort.source is EffortSource.MEASURED
    for k in range(round(seconds / dt)):
        q, qd, qdd = swing.at(k * dt)
        effort = np.asarray(efforts(q, qd, qdd, k * dt))
        command, motor = effort[resolved.joint_indices], effort if measured else none
        observer.observe(q, qd, motor, command, compensated(q), None, dt if k else -1.0)
        found.append(observer.effort / observer.threshold if shares else observer.effort.copy())
    return np.array(found)


def settings_of(model: RobotModel, **more: Any) -> Settings:
    limits = {} if np.isfinite(model.effort_limits).all() else {'effort_limits': (100.0,)}
    return Settings(**{'joints': model.joint_names, 'external_effort': MEASURED, **limits, **more})


@each('seed', [0, 2, 5, 8])
def test_it_is_the_external_effort_through_a_filter_on_random_trees(seed: int) -> None:
    model = random_pair(seed).model
    armature = np.random.default_rng(seed).uniform(0.0, 0.5, model.nv)
    pushed, dt = np.random.default_rng(seed).normal(scale=5.0, size=model.nv), 1e-4

    def efforts(q: Array, qd: Array, qdd: Array, t: float) -> Array:
        needed: Array = model.inverse_dynamics(q, qd, qdd) + armature * qdd
        return needed - (pushed if t >= 0.05 else 0.0)

    settings = settings_of(model, armature=tuple(armature.tolist()), effort_limits=(100.0,))
    found = run(model, settings, efforts, seed=seed, dt=dt)
    # A step through a low-pass filter of first order, from the mean of two measured efforts on.
    left = np.exp(-GAIN * dt) ** np.arange(501)
    shares = np.concatenate([np.zeros(500), 1.0 - 0.5 * (left[:-1] + left[1:])])
    # What remains is the error of means over an interval.
    sizes = 1.0 + np.abs(
        [model.inverse_dynamics(*Swing(model, seed).at(t)) for t in (0.0, 0.05, 0.1)]
    ).max()
    np.testing.assert_allclose(found, np.outer(shares, pushed), atol=1e-3 * sizes)


@each('parts', [(), ('gravity',), ('payload',), ('gravity', 'payload', 'friction')])
@each('source', [MEASURED, COMMANDED])
def test_friction_rotors_payloads_and_what_the_hardware_adds_are_counted(
    parts: tuple[str, ...], source: ExternalEffortSettings
) -> None:
    model = panda_arm()
    tool = Payload('fer_link8', 2.0, (0.0, 0.05, 0.1), (0.01, 0.0, 0.0, 0.02, 0.0, 0.01))
    hardware = tuple(HardwareCompensation(part) for part in parts)
    settings = settings_of(model, friction=FRICTION, armature=(0.3,), payloads=(tool,),
                           hardware_compensates=hardware, external_effort=source)
    loaded = model.with_payload(tool.link, tool.mass, tool.com, tool.inertia)
    friction = resolve(settings_of(model, friction=FRICTION), model).joint_friction
    robot = LoadedModel(model, hardware)

    def added(q: Array) -> Array:
        arm, both = model.gravity_torques(q), loaded.gravity_torques(q)
        return np.asarray(('gravity' in parts) * arm + ('payload' in parts) * (both - arm))

    def efforts(q: Array, qd: Array, qdd: Array, t: float) -> Array:
        load = loaded.inverse_dynamics(q, qd, qdd) + 0.3 * qdd
        lost = friction.friction(qd, load)
        if source is MEASURED:
            return np.asarray(load + lost)
        return np.asarray(load + (0.0 if 'friction' in parts else lost) - added(q))

    found = run(model, settings, efforts, robot=robot,
                compensated=lambda q: robot.compensated(q, robot.gravity(q)))
    assert np.abs(found).max() < 0.05


@each('model', [panda_arm(), load(SHIPPED[2])])
def test_a_model_error_of_5_percent_is_not_a_contact_in_fast_motion(model: RobotModel) -> None:
    rng = np.random.default_rng(0)
    bodies = model.inertial_parameters.reshape(-1, 10).copy()
    for body in bodies:  # mass, its first moments, its second moments
        mass, length = 1.0 + 0.05 * rng.choice([-1.0, 1.0], size=2)
        body *= mass * np.array([1.0] + 3 * [length] + 6 * [length**2])
    wrong = model.with_inertial_parameters(bodies.ravel())

    found = run(
        model, Settings(joints=model.joint_names), lambda *at: wrong.inverse_dynamics(*at[:3]),
        dt=0.002, seconds=10.0, shares=True,
    )
    assert 0.2 < np.abs(found).max() < 1.0


def test_a_moving_base_does_not_appear_as_external_effort() -> None:
    base = BaseMotion((0.5, 0.0, 1.0), (0.4, -0.3, 0.2), (1.0, -2.0, 0.5), (0.0, 0.0, 0.0))
    model = mixed_arm()
    moving = model.with_base_motion(base)
    robot = LoadedModel(model)
    robot.set_base(model.gravity, *base.spatial())
    found = run(
        model, settings_of(model), lambda *state: moving.inverse_dynamics(*state[:3]), robot=robot
    )
    assert np.abs(found).max() < 0.01


class Still:
    """An arm that stands still, watched; commands come ``ticks`` to a joint state."""

    def __init__(self, model: RobotModel, q: Array) -> None:
        self.observer = MomentumObserver(
            LoadedModel(model).bodies, resolve(settings_of(model), model)
        )
        self.q, self.zero = q, np.zeros(model.nv)
        self.gravity = model.gravity_torques(q)

    def watch(self, measured: Array, *commands: Array, external: Array | None = None) -> Array:
        """Return the external efforts after half a second of the same samples."""
        for k in range(500):
            for number, command in enumerate(commands):
                last = number == len(commands) - 1
                dt = 0.0 if not last else 0.002 if k else -1.0
                self.observer.observe(self.q, self.zero, measured, command, None, external, dt)
        return self.observer.effort


TWO_JOINTS_AT = np.array([0.3, -0.5])


@each('reported', [np.nan, 0.0, np.inf])
def test_the_command_counts_if_joint_states_have_no_efforts(reported: float) -> None:
    arm = Still(two_joint_arm(), TWO_JOINTS_AT)
    pushed = arm.gravity - [3.0, -1.0]
    # The mean of the commands between two joint states counts.
    found = arm.watch(np.full(2, reported), pushed + 4.0, pushed - 1.0, pushed - 3.0)
    np.testing.assert_allclose(found, [3.0, -1.0], atol=1e-6)


def test_measured_external_wrenches_are_taken_off() -> None:
    model, q = panda_arm(), np.array(PANDA_POSE)
    arm = Still(model, q)
    pushed = {'fer_link8': Wrench((5.0, -3.0, 8.0))}
    known = model.inverse_dynamics(q, arm.zero, arm.zero, pushed)
    found = arm.watch(known - 2.0, arm.zero, external=known - arm.gravity)
    np.testing.assert_allclose(found, 2.0, atol=1e-6)


def test_numbers_that_overflow_start_it_again() -> None:
    arm = Still(two_joint_arm(), TWO_JOINTS_AT)
    observer, huge, zero = arm.observer, np.full(2, 1e308), arm.zero
    observer.observe(arm.q, zero, -huge, zero, None, None, -1.0)
    with np.errstate(over='ignore'):
        for _ in range(3):
            assert observer.observe(arm.q, zero, -huge, zero, huge, -huge, 1e-3) == 0.0
    assert (observer.effort == 0.0).all()
    np.testing.assert_allclose(arm.watch(arm.gravity, zero), 0.0, atol=1e-9)


def estimate_at(model: RobotModel, link: str) -> ExternalWrench:
    link_settings = ExternalEffortSettings(link=link)
    return ExternalWrench(model, resolve(settings_of(model, external_effort=link_settings), model))


def test_the_wrench_at_a_link_is_the_one_that_causes_the_efforts() -> None:
    model = panda_arm()
    estimate = estimate_at(model, 'fer_link8')
    rng = np.random.default_rng(0)
    for _ in range(20):
        q = np.array(PANDA_POSE) + rng.uniform(-0.3, 0.3, 7)
        f = rng.normal(scale=10.0, size=6)
        found = estimate.estimate(q, model.jacobian(q, 'fer_link8').T @ f)
        assert estimate.determined == 6
        np.testing.assert_allclose(found, f, rtol=1e-6, atol=1e-6)


def test_near_a_singularity_the_wrench_stays_small_and_says_so() -> None:
    estimate = estimate_at(panda_arm(), 'fer_link8')
    noise = np.random.default_rng(1).normal(scale=0.1, size=7)
    stretched = np.array([0.0, 0.0, 0.0, -0.07, 0.0, 0.0, 0.0])
    way = np.linspace(PANDA_POSE, stretched, 400)
    found = np.array([estimate.estimate(q, noise).copy() for q in way])
    assert estimate.determined < 6
    assert np.abs(found).max() < 30.0
    # It does not step where damping begins.
    assert np.abs(np.diff(found, axis=0)).max() < 2.0


def test_an_arm_with_two_joints_shows_a_push_along_their_directions() -> None:
    model, q = two_joint_arm(), np.array([0.3, 0.9])
    estimate = estimate_at(model, 'lower')
    J = model.jacobian(q, 'lower')
    f = np.array([0.0, 1.0, 0.0, 4.0, 0.0, -3.0])
    found = estimate.estimate(q, J.T @ f)
    assert estimate.determined == 2
    np.testing.assert_allclose(J.T @ found, J.T @ f, rtol=1e-9)
