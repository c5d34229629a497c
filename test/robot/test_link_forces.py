# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Newton's and Euler's equations of every link, and what the joints carry, fixed or not."""

from functools import partial
import re

import numpy as np
import pytest

from rnea_ros import ReferenceFrame, Wrench
from rnea_ros.dynamics.reference import newton_euler
from rnea_ros.dynamics.reference.textbook_tree import bodies_of
from support.cases import each
from support.models.comparison import assert_equal as assert_close
from support.models.oracle_pairs import Pair, moments_of
from support.models.oracles import Array, random_state, random_tree
from support.models.robots import description, load

pytest_plugins = ('support.models.model_fixtures',)

assert_equal = partial(assert_close, atol=1e-9)


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
            assert_equal(found.com_acceleration, a_C, name)
        assert_equal(found.force, mass * a_C, name)
        assert_equal(found.moment, J @ alpha + np.cross(w, J @ w), name)


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
            assert_equal(getattr(found, part), R @ getattr(own, part))
        turned = model.internal_wrench(*motion, name, frame=frame)
        assert turned.frame == frame
        for one, expected in zip(vectors(turned), vectors(wrench), strict=True):
            assert_equal(one, R @ expected)
        # Put on the link as an external wrench, either takes the load off the joint.
        assert_equal(
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
