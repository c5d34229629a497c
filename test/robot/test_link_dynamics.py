# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Newton's and Euler's equations of every link, and the forces through the joints, by hand too."""

from functools import partial
import re

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros import BaseMotion, ReferenceFrame
from rnea_ros.dynamics.reference import newton_euler
from rnea_ros.dynamics.reference.textbook_tree import bodies_of
from support.cases import each
from support.models.comparison import assert_equal as assert_close
from support.models.oracle_pairs import Pair, moments_of
from support.models.oracles import Array, random_state, random_tree
from support.models.robots import description, joint, link, load, robot

pytest_plugins = ('support.models.model_fixtures',)

assert_equal = partial(assert_close, atol=1e-9)
SEEDS = range(2)
TREES = range(20)


@pytest.mark.oracle
@each('seed', SEEDS)
def test_link_forces_are_newtons_and_eulers_of_pinocchios_motion(pair: Pair, seed: int) -> None:
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
def test_a_frame_turns_the_axes_and_nothing_else(pair: Pair, seed: int) -> None:
    model, motion = pair.model, pair.motion(seed)
    name, other = model.link_names[-1], model.link_names[len(model.link_names) // 2]
    root = model.link_names[0]
    R_link = model.forward_kinematics(motion[0], name)[:3, :3]
    frames: dict[str | ReferenceFrame, Array] = {
        other: model.forward_kinematics(motion[0], other)[:3, :3], name: R_link,
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

        def close(actual: Array, expected: ArrayLike, scale: float = scale) -> None:
            np.testing.assert_allclose(
                actual, np.asarray(expected, dtype=np.float64), rtol=1e-10, atol=1e-11 * scale
            )

        if mass:
            close(R @ found.v_dot_com[i], expected.com_acceleration - g)
        close(R @ found.F[i], expected.force - mass * g)
        close(R @ found.N[i], expected.moment)
        wrench = model.internal_wrench(*motion, name)
        close(R @ found.f[i], wrench.force)
        # n is about the body frame's origin, which is the link's: no link is fixed to another.
        close(R @ found.n[i], wrench.torque)


def test_a_link_without_mass_needs_no_force() -> None:
    model = load(robot(
        link('base'), link('arm'), joint('hinge', 'continuous', 'base', 'arm', xyz=(1.0, 0, 0)),
    )).with_base_motion(BaseMotion(angular_velocity=(0.0, 0.0, 2.0)))
    found = model.link_dynamics([0.0], [0.0], [0.0], 'arm')
    assert_equal(found.com_acceleration, (-4.0, 0.0, 0.0))
    assert_equal(found.force, np.zeros(3))
    assert_equal(found.moment, np.zeros(3))
