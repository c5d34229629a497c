# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Forces on links and through joints; wrenches (tau = ID - J^T f); a payload counts as a link."""

from functools import partial
import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros import InputError, ReferenceFrame, RobotModel, Wrench
from rnea_ros.robot import Payload
from rnea_ros.textbook import newton_euler
from rnea_ros.textbook.textbook_tree import bodies_of
from support.cases import each
from support.models.comparison import assert_equal
from support.models.oracle_pairs import Pair, moments_of
from support.models.oracles import Array, random_state, random_tree
from support.models.robots import SHIPPED, description, joint, link, load, robot

pytest_plugins = ('support.models.model_fixtures',)

assert_close = partial(assert_equal, atol=1e-9)


def vectors(wrench: Wrench) -> tuple[Array, Array]:
    return np.asarray(wrench.force), np.asarray(wrench.torque)


@pytest.mark.oracle
def test_link_forces_are_newtons_and_eulers_of_pinocchios_motion(pair: Pair) -> None:
    model, motion = pair.model, pair.motion(0)
    for name, read in description(model).links.items():
        v, a = pair.pinocchio.link_motion(*motion, name)
        (w, u), (alpha, a_O) = (v[:3], v[3:]), (a[:3], a[3:])
        c, mass, J = np.zeros(3), 0.0, np.zeros((3, 3))
        if read.inertial is not None:
            c, mass = np.array(read.inertial.origin.xyz), read.inertial.mass
            J = moments_of(read.inertial)
        a_C = a_O + np.cross(w, u) + np.cross(alpha, c) + np.cross(w, np.cross(w, c))
        found = model.link_dynamics(*motion, name)
        if mass > 0.0:
            assert_close(found.com_acceleration, a_C, name)
        assert_close(found.force, mass * a_C, name)
        assert_close(found.moment, J @ alpha + np.cross(w, J @ w), name)


def test_a_frame_turns_the_axes_and_nothing_else(pair: Pair) -> None:
    model, motion = pair.model, pair.motion(0)
    name, other = model.link_names[-1], model.link_names[len(model.link_names) // 2]
    R_link, R_other, R_root = (
        model.forward_kinematics(motion[0], one)[:3, :3]
        for one in (name, other, model.link_names[0])
    )
    frames: dict[str | ReferenceFrame, Array] = {
        other: R_other, name: R_link, ReferenceFrame.WORLD: np.eye(3),
        ReferenceFrame.ROOT_LINK: R_root,
    }
    own = model.link_dynamics(*motion, name)
    wrench = model.internal_wrench(*motion, name)
    assert wrench.frame == name
    for frame, R_frame in frames.items():
        R = R_frame.T @ R_link
        found = model.link_dynamics(*motion, name, frame=frame)
        for part in ('com_acceleration', 'force', 'moment'):
            assert_close(getattr(found, part), R @ getattr(own, part))
        turned = model.internal_wrench(*motion, name, frame=frame)
        assert turned.frame == frame
        for one, expected in zip(vectors(turned), vectors(wrench), strict=True):
            assert_close(one, R @ expected)
        # Put on the link as an external wrench, either takes the load off the joint.
        assert_close(
            model.inverse_dynamics(*motion, {name: turned}),
            model.inverse_dynamics(*motion, {name: wrench}),
        )


@each('seed', range(8))
def test_the_classical_recursion_gives_the_models_forces_on_every_link(seed: int) -> None:
    # One body for each link: no fixed joints. Gravity is in the book's F, and not in the model's.
    urdf = re.sub(r'<mimic [^>]*/>', '', random_tree(seed)).replace('"fixed"', '"continuous"')
    model = load(urdf, np.random.default_rng(seed).normal(scale=10.0, size=3))
    motion = random_state(seed, model.nv)
    found = newton_euler.link_forces(bodies_of(model.tree), *motion, model.gravity)
    scale = max(1.0, float(np.abs(found.F).max()), float(np.abs(found.N).max()))
    close = partial(np.testing.assert_allclose, rtol=1e-10, atol=1e-11 * scale)
    for name, frame in model.tree.frames.items():
        i = frame.body
        if i == 0:
            continue
        R, mass = frame.placement.rotation.T, float(model.tree.bodies[i]['mass'])
        g = model.forward_kinematics(motion[0], name)[:3, :3].T @ model.gravity
        expected = model.link_dynamics(*motion, name)
        if mass:
            close(R @ found.v_dot_com[i], expected.com_acceleration - g)
        close(R @ found.F[i], expected.force - mass * g)
        close(R @ found.N[i], expected.moment)
        # n is about the body frame's origin, which is the link's: no link is fixed to another.
        force, torque = vectors(model.internal_wrench(*motion, name))
        close(R @ found.f[i], force)
        close(R @ found.n[i], torque)


FORCE = (1.0, -2.0, 3.0)


def test_a_wrench_takes_its_share_off_the_efforts(pair: Pair) -> None:
    model, (q, qd, qdd) = pair.model, pair.motion(0)
    name, point, torque = model.link_names[-1], (0.1, 0.2, -0.3), (0.3, 0.2, 0.1)
    share = model.jacobian(q, name, point).T @ np.array([*torque, *FORCE])
    pushed = model.inverse_dynamics(q, qd, qdd, {name: Wrench(FORCE, torque, point=point)})
    assert_equal(pushed, model.inverse_dynamics(q, qd, qdd) - share)


def test_a_link_named_base_is_not_mistaken_for_the_root_link() -> None:
    # A UR's link 'base' is turned by half a turn about z from its root link, 'base_link'.
    arm = load(SHIPPED[2])
    q, rest = np.array([0.3, -1.2, 1.5, -0.8, 1.1, 0.4]), np.zeros(6)

    def efforts(frame: str | ReferenceFrame, force: tuple[float, ...]) -> Array:
        return arm.inverse_dynamics(q, rest, rest, {'tool0': Wrench(force, frame=frame)})

    assert 'base' in arm.link_names[1:]
    assert_equal(efforts('base', (1, 2, 3)), efforts(ReferenceFrame.ROOT_LINK, (-1, -2, 3)))
    assert_equal(efforts('base_link', (1, 2, 3)), efforts(ReferenceFrame.ROOT_LINK, (1, 2, 3)))
    assert not any('base' in f'{frame.name} {frame.value}'.lower() for frame in ReferenceFrame)


@each('nothing', [None, {}, {'fer_hand': []}, {'fer_hand': ()}])
def test_a_wrench_acts_on_one_call_alone(panda: RobotModel, nothing: Any) -> None:
    state = random_state(0, panda.nv)
    free = panda.inverse_dynamics(*state)
    assert (panda.inverse_dynamics(*state, {'fer_hand': Wrench(force=FORCE)}) != free).any()
    np.testing.assert_array_equal(panda.inverse_dynamics(*state, nothing), free)
    np.testing.assert_array_equal(panda.bias_torques(*state[:2]), panda.inverse_dynamics(
        *state[:2], np.zeros(panda.nv)
    ))


MASS, COM = 2.0, (0.1, -0.05, 0.2)
MOMENTS = (0.02, 0.003, -0.001, 0.03, 0.002, 0.04)


def arm(*more: str) -> RobotModel:
    return load(robot(
        link('base', 1.0), link('upper', 3.0, (0.2, 0.0, 0.0)),
        link('lower', 2.0, (0.1, 0.0, 0.0)), link('flange'),
        joint('shoulder', 'revolute', 'base', 'upper', axis=(0.0, 1.0, 0.0)),
        joint('elbow', 'revolute', 'upper', 'lower', xyz=(0.4, 0.0, 0.1), axis=(1.0, 0.0, 0.0)),
        joint('mount', 'fixed', 'lower', 'flange', xyz=(0.3, 0.0, 0.0), rpy=(0.3, 0.4, 0.5)),
        *more,
    ))


@each('carrier', ['base', 'upper', 'lower', 'flange'])
def test_a_payload_counts_as_a_link_that_is_fixed_there(carrier: str) -> None:
    loaded = arm().with_payload(carrier, MASS, COM, MOMENTS)
    expected = arm(link('load', MASS, COM, MOMENTS), joint('grasp', 'fixed', carrier, 'load'))
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 2))

    def results(model: RobotModel) -> list[Any]:
        wrench = model.internal_wrench(q, qd, qdd, 'flange')
        return [
            model.inverse_dynamics(q, qd, qdd), model.mass_matrix(q), model.centre_of_mass(q),
            np.asarray(wrench.force), np.asarray(wrench.torque),
        ]

    for ours, theirs in zip(results(loaded), results(expected), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_payloads_add_up_and_keep_gravity_and_limits() -> None:
    tilted = load(SHIPPED[1]).with_gravity((1.0, 2.0, -9.0))
    before = tilted.gravity_torques(np.full(7, 0.3))
    twice = tilted.with_payload('fer_link7', 1.0, COM).with_payload('fer_link8', 2.0)
    once = tilted.with_payload('fer_link8', 2.0).with_payload('fer_link7', 1.0, COM)
    q = np.full(7, 0.3)
    np.testing.assert_array_equal(tilted.gravity_torques(q), before)
    np.testing.assert_allclose(twice.gravity_torques(q), once.gravity_torques(q), atol=1e-12)
    np.testing.assert_array_equal(twice.gravity, tilted.gravity)
    np.testing.assert_array_equal(twice.effort_limits, tilted.effort_limits)
    assert twice.tree.bodies['mass'].sum() == pytest.approx(tilted.tree.bodies['mass'].sum() + 3.0)


@each(('mass', 'com', 'inertia', 'said'), [
    (-1.0, (0, 0, 0), (0,) * 6, '^payload mass: -1.0 is negative'),
    (1.0, (0, 0, 0), (-1, 0, 0, 1, 0, 1), 'payload inertia: has a negative principal moment'),
    (1.0, (0, 0, 0), (1, 0, 0, 1, 0, 2.1), 'payload inertia: breaks the triangle inequality'),
    (1.0, (0, 0, 0), (0, 0, 0, 0, 0, 1), 'payload inertia: breaks the triangle inequality'),
    (0.0, (0, 0, 0), (1, 0, 0, 1, 0, 1), 'payload inertia: is not zero, but the mass is zero'),
    (1.0, (0, 0, 0), (1e308,) * 6, 'payload inertia: is too large'),
    (1.0, (1e308, 0, 0), (0,) * 6, 'payload com: .* too far away'),
])
def test_bad_payload_is_rejected(mass: Any, com: ArrayLike, inertia: ArrayLike, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Payload('flange', mass, com, inertia)
