# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Newton's and Euler's equations of every link, and the forces through the joints, by hand too."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros import BaseMotion, ReferenceFrame, RobotModel, UnknownNameError
from rnea_ros.dynamics.reference import newton_euler
from rnea_ros.dynamics.reference.linkage import bodies_of
from support.cases import each
from support.models.oracle_pairs import Pair, moments_of
from support.models.oracles import Array, random_state, random_tree, random_wrenches
from support.models.robots import description, joint, link, load, robot

pytest_plugins = ('support.models.model_fixtures',)

SEEDS = range(2)
TREES = range(40)


def assert_equal(actual: ArrayLike, expected: ArrayLike, label: str = '') -> None:
    np.testing.assert_allclose(
        np.asarray(actual, dtype=np.float64), np.asarray(expected, dtype=np.float64),
        rtol=1e-9, atol=1e-9, err_msg=label,
    )


@pytest.mark.oracle
@each('seed', SEEDS)
def test_a_link_needs_what_newton_and_euler_ask_of_pinocchios_motion(
    pair: Pair, seed: int
) -> None:
    model, motion = pair.model, pair.motion(seed)
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
            assert_equal(found.com_acceleration, a_C, name)
        assert_equal(found.force, mass * a_C, name)
        assert_equal(found.moment, J @ alpha + np.cross(w, J @ w), name)


@each('seed', SEEDS)
def test_the_forces_on_a_link_add_up_to_those_that_its_motion_needs(pair: Pair, seed: int) -> None:
    # In the world's axes: F = f - sum of the children's f + weight + external forces; moments
    # about the centre of mass.
    model, motion = pair.model, pair.motion(seed)
    wrenches = random_wrenches(seed, model.link_names)
    axes = ReferenceFrame.WORLD
    poses = {name: model.forward_kinematics(motion[0], name) for name in model.link_names}
    parents = {read.child: read.parent for read in description(model).joints.values()}
    for name, read in description(model).links.items():
        if name not in parents and not pair.floating:
            continue
        pose = poses[name]
        c = np.zeros(3) if read.inertial is None else np.array(read.inertial.origin.xyz)
        mass = 0.0 if read.inertial is None else read.inertial.mass
        com = pose[:3, :3] @ c + pose[:3, 3]
        force, moment = mass * model.gravity, np.zeros(3)
        acting = [(name, model.internal_wrench(*motion, name, wrenches, frame=axes), 1.0)]
        acting += [
            (child, model.internal_wrench(*motion, child, wrenches, frame=axes), -1.0)
            for child, parent in parents.items() if parent == name
        ]
        for at, wrench, sign in acting:
            one = sign * np.asarray(wrench.force)
            force = force + one
            moment += sign * np.asarray(wrench.torque) + np.cross(poses[at][:3, 3] - com, one)
        for wrench in wrenches.get(name, ()):
            frame = np.eye(4)
            if isinstance(wrench.frame, str) or wrench.frame is None:
                frame = poses[wrench.frame or name]
            elif wrench.frame is ReferenceFrame.ROOT_LINK:
                frame = poses[model.link_names[0]]
            R, point = frame[:3, :3], pose[:3, 3]
            if wrench.point is not None:
                point = R @ np.asarray(wrench.point) + frame[:3, 3]
            one = R @ np.asarray(wrench.force)
            force = force + one
            moment += R @ np.asarray(wrench.torque) + np.cross(point - com, one)
        found = model.link_dynamics(*motion, name, frame=axes)
        np.testing.assert_allclose(found.force, force, rtol=1e-9, atol=1e-8, err_msg=name)
        np.testing.assert_allclose(found.moment, moment, rtol=1e-9, atol=1e-8, err_msg=name)


@each('seed', SEEDS)
def test_a_frame_turns_the_axes_and_nothing_else(pair: Pair, seed: int) -> None:
    model, motion = pair.model, pair.motion(seed)
    name, other = model.link_names[-1], model.link_names[len(model.link_names) // 2]
    root = model.link_names[0]
    R_link = model.forward_kinematics(motion[0], name)[:3, :3]
    frames: dict[str | ReferenceFrame, Array] = {
        other: model.forward_kinematics(motion[0], other)[:3, :3],
        name: R_link,
        ReferenceFrame.WORLD: np.eye(3),
        ReferenceFrame.ROOT_LINK: model.forward_kinematics(motion[0], root)[:3, :3],
    }
    own = model.link_dynamics(*motion, name)
    wrench = model.internal_wrench(*motion, name)
    for frame, R_frame in frames.items():
        R = R_frame.T @ R_link
        found = model.link_dynamics(*motion, name, frame=frame)
        for part in ('com_acceleration', 'force', 'moment'):
            assert_equal(getattr(found, part), R @ getattr(own, part))
        turned = model.internal_wrench(*motion, name, frame=frame)
        assert turned.frame == frame
        assert_equal(turned.force, R @ np.asarray(wrench.force))
        assert_equal(turned.torque, R @ np.asarray(wrench.torque))
        # Put on the link as an external wrench, either takes the load off the joint.
        assert_equal(
            model.inverse_dynamics(*motion, {name: turned}),
            model.inverse_dynamics(*motion, {name: wrench}),
        )


def test_an_unknown_frame_is_rejected_by_name(panda: RobotModel) -> None:
    still = np.zeros(panda.nv)
    with pytest.raises(UnknownNameError, match="unknown link 'nose'"):
        panda.link_dynamics(still, still, still, panda.link_names[1], frame='nose')


@each('seed', TREES)
def test_the_classical_recursion_gives_the_models_forces_on_every_link(seed: int) -> None:
    # One body for each link: no fixed joints. Gravity is in the book's F, and not in the model's.
    urdf = re.sub(r'<mimic [^>]*/>', '', random_tree(seed)).replace('"fixed"', '"continuous"')
    model = load(urdf, np.random.default_rng(seed).normal(scale=10.0, size=3))
    motion = random_state(seed, model.nv)
    found = newton_euler.link_forces(bodies_of(model.tree), *motion, model.gravity)
    for name, frame in model.tree.frames.items():
        i = frame.body
        if i == 0:
            continue
        R, mass = frame.placement.rotation.T, float(model.tree.bodies[i]['mass'])
        g = model.forward_kinematics(motion[0], name)[:3, :3].T @ model.gravity
        expected = model.link_dynamics(*motion, name)
        scale = max(1.0, float(np.abs(found.F).max()), float(np.abs(found.N).max()))

        def close(actual: Array, wanted: ArrayLike, scale: float = scale) -> None:
            np.testing.assert_allclose(
                actual, np.asarray(wanted, dtype=np.float64), rtol=1e-10, atol=1e-11 * scale
            )

        if mass:
            close(R @ found.v_dot_com[i], expected.com_acceleration - g)
        close(R @ found.F[i], expected.force - mass * g)
        close(R @ found.N[i], expected.moment)
        wrench = model.internal_wrench(*motion, name)
        close(R @ found.f[i], wrench.force)
        # n is about the body frame's origin, which is the link's: no link is fixed to another.
        close(R @ found.n[i], wrench.torque)


# Worked figures


def two_links(l_1: float, l_2: float, m_1: float, m_2: float, g: float) -> RobotModel:
    """Return Craig's planar arm with point masses at the ends of its links; y points up."""
    zero = (0.0,) * 6
    return load(robot(
        link('base'), link('one', m_1, (l_1, 0.0, 0.0), zero),
        link('two', m_2, (l_2, 0.0, 0.0), zero),
        joint('first', 'continuous', 'base', 'one'),
        joint('second', 'continuous', 'one', 'two', xyz=(l_1, 0.0, 0.0)),
    ), (0.0, -g, 0.0))


@each('seed', SEEDS)
def test_the_planar_arm_has_the_forces_of_the_textbooks_exercise(seed: int) -> None:
    """J. J. Craig, *Introduction to Robotics*, 3rd ed., section 6.7, equations to (6.58)."""
    rng = np.random.default_rng(seed)
    l_1, l_2, m_1, m_2, g = rng.uniform(0.5, 2.0, size=5)
    q, qd, qdd = rng.normal(size=(3, 2))
    model = two_links(l_1, l_2, m_1, m_2, g)
    s_1, c_1, s_2, c_2 = np.sin(q[0]), np.cos(q[0]), np.sin(q[1]), np.cos(q[1])
    s_12, c_12 = np.sin(q.sum()), np.cos(q.sum())
    F_1 = m_1 * np.array([
        -l_1 * qd[0] ** 2 + g * s_1, l_1 * qdd[0] + g * c_1, 0.0
    ])
    F_2 = m_2 * np.array([
        l_1 * qdd[0] * s_2 - l_1 * qd[0] ** 2 * c_2 + g * s_12 - l_2 * qd.sum() ** 2,
        l_1 * qdd[0] * c_2 + l_1 * qd[0] ** 2 * s_2 + g * c_12 + l_2 * qdd.sum(),
        0.0,
    ])
    f_1 = F_1 + np.array([[c_2, -s_2, 0.0], [s_2, c_2, 0.0], [0.0, 0.0, 1.0]]) @ F_2
    tau_2 = m_2 * l_2 * (l_1 * c_2 * qdd[0] + l_1 * s_2 * qd[0] ** 2 + g * c_12 + l_2 * qdd.sum())
    tau_1 = tau_2 + m_1 * l_1**2 * qdd[0] + m_1 * l_1 * g * c_1 + m_2 * l_1**2 * qdd[0]
    tau_1 += m_2 * l_1 * (
        -l_2 * s_2 * qd.sum() ** 2 + g * s_2 * s_12 + l_2 * c_2 * qdd.sum() + g * c_2 * c_12
    )
    found = newton_euler.link_forces(bodies_of(model.tree), q, qd, qdd, model.gravity)
    assert_equal(found.F[1:], [F_1, F_2])
    assert_equal(found.N, np.zeros((3, 3)))
    assert_equal(found.f[1:], [f_1, F_2])
    assert_equal(found.n[1:], [(0.0, 0.0, tau_1), (0.0, 0.0, tau_2)])
    one, two = (model.internal_wrench(q, qd, qdd, name) for name in ('one', 'two'))
    for wrench, force, torque in ((one, f_1, tau_1), (two, F_2, tau_2)):
        assert_equal(wrench.force, force)
        assert_equal(wrench.torque, (0.0, 0.0, torque))
    weightless = model.with_gravity((0.0, 0.0, 0.0))
    moved = weightless.link_dynamics(q, qd, qdd, 'two')
    assert_equal(moved.force, F_2 - m_2 * g * np.array([s_12, c_12, 0.0]))
    # A base that accelerates upwards replaces gravity, as in the book.
    lifted = weightless.with_base_motion(BaseMotion(linear_acceleration=(0.0, g, 0.0)))
    assert_equal(lifted.link_dynamics(q, qd, qdd, 'two').force, F_2)
    assert_equal(lifted.link_dynamics(q, qd, qdd, 'two').com_acceleration, F_2 / m_2)


def test_a_link_without_mass_needs_no_force() -> None:
    model = load(robot(
        link('base'), link('arm'), joint('hinge', 'continuous', 'base', 'arm', xyz=(1.0, 0, 0)),
    )).with_base_motion(BaseMotion(angular_velocity=(0.0, 0.0, 2.0)))
    found = model.link_dynamics([0.0], [0.0], [0.0], 'arm')
    assert_equal(found.com_acceleration, (-4.0, 0.0, 0.0))
    assert_equal(found.force, np.zeros(3))
    assert_equal(found.moment, np.zeros(3))
