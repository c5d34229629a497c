# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A base that moves as stated, or freely; held, it is a fixed one."""

from functools import partial
from pathlib import Path
import pickle
from typing import Any

import numpy as np
import pytest

from rnea_ros import BaseMotion, RobotModel, UrdfError
from rnea_ros.urdf import parse_urdf, read_urdf
from support.cases import each
from support.models.comparison import assert_equal
from support.models.oracle_pairs import Pair, random_motion
from support.models.oracles import random_tree
from support.models.robots import SHIPPED, joint, link, load, robot

pytest_plugins = ('support.models.model_fixtures',)

# A base that accelerates brings large terms that cancel.
assert_close = partial(assert_equal, atol=1e-9)
POINT = np.array([0.1, -0.2, 0.3])


def random_base(seed: int) -> BaseMotion:
    v, w, a, alpha = np.random.default_rng(seed).normal(scale=2.0, size=(4, 3))
    return BaseMotion(v, w, a, alpha)


@pytest.mark.oracle
@each('seed', range(2))
def test_a_robot_on_a_moving_tilted_base_is_pinocchios_on_a_free_joint(
    fixed_pair: Pair, seed: int
) -> None:
    oracle, base = fixed_pair.free_pinocchio, random_base(seed)
    q, qd, qdd = fixed_pair.motion(seed)
    v, w, a, alpha = (
        np.asarray(part) for part in (
            base.linear_velocity, base.angular_velocity, base.linear_acceleration,
            base.angular_acceleration,
        )
    )
    place = random_motion(Pair('', fixed_pair.urdf, floating=True).model, seed)[0][:7]
    free_q, free_qd = np.array([*place, *q]), np.array([*w, *v, *qd])
    # The free joint counts how its velocity's numbers change: less w x v, which turning adds.
    free_qdd, coasting = (
        np.array([*alpha, *(a - np.cross(w, v)), *joints]) for joints in (qdd, 0.0 * qdd)
    )
    (pose,) = oracle.link_poses(free_q, fixed_pair.model.link_names[:1])
    tilted = fixed_pair.model.with_gravity(pose[:3, :3].T @ np.asarray(fixed_pair.gravity))
    model = tilted.with_base_motion(base)
    tau = oracle.inverse_dynamics(free_q, free_qd, free_qdd)[6:]
    assert_close(model.inverse_dynamics(q, qd, qdd), tau)
    atol = 1e-8 * np.linalg.cond(model.mass_matrix(q))
    np.testing.assert_allclose(model.forward_dynamics(q, qd, tau), qdd, rtol=0.0, atol=atol)
    assert_close(model.kinetic_energy(q, qd), oracle.kinetic_energy(free_q, free_qd))
    for name in model.link_names:
        velocity, acceleration = oracle.link_motion(free_q, free_qd, free_qdd, name)
        _, bias = oracle.link_motion(free_q, free_qd, coasting, name)
        assert_close(model.link_velocity(q, qd, name), velocity, name)
        assert_close(model.link_acceleration(q, qd, qdd, name), acceleration, name)
        bias[3:] += np.cross(bias[:3], POINT)
        assert_close(model.bias_acceleration(q, qd, name, POINT), bias, name)
    bodies = model.body_names[::3]
    carried = oracle.joint_wrenches(free_q, free_qd, free_qdd, bodies)
    for name, wrench in zip(bodies, carried, strict=True):
        found = model.internal_wrench(q, qd, qdd, name)
        assert_close([*np.asarray(found.torque), *np.asarray(found.force)], wrench, name)


def test_the_base_moves_in_workspaces_too(fixed_pair: Pair) -> None:
    motion = fixed_pair.motion(0)
    moving = fixed_pair.model.with_base_motion(random_base(0))
    workspace = moving.workspace()
    for _ in range(2):
        found = workspace.inverse_dynamics(*motion)
        np.testing.assert_array_equal(found, moving.inverse_dynamics(*motion))
        moving.gravity_torques(motion[0])  # without the base's motion; changes nothing
    gravity = np.array([1.0, 2.0, 3.0])
    workspace.set_base_motion(gravity, *BaseMotion().spatial())
    standing = fixed_pair.model.with_gravity(gravity)
    found = workspace.inverse_dynamics(*motion)
    np.testing.assert_array_equal(found, standing.inverse_dynamics(*motion))


def test_a_model_at_first_stands_and_a_copy_keeps_its_motion() -> None:
    arm, base = load(SHIPPED[2]), random_base(0)
    assert arm.with_base_motion(base).with_gravity((0.0, 0.0, -1.62)).base_motion is base
    assert arm.base_motion == BaseMotion()


ROBOTS = [SHIPPED[0], SHIPPED[2], *map(random_tree, (3, 19, 53))]


def pair(source: str | Path, gravity: Any = (1.0, -2.0, -9.0)) -> tuple[RobotModel, RobotModel]:
    """Return a robot on a floating base, and on a fixed one."""
    read = parse_urdf(read_urdf(source))
    floating = RobotModel.from_description(read, floating_base=True, gravity=gravity)
    return floating, RobotModel.from_description(read, gravity=gravity)


@each('source', ROBOTS)
def test_the_free_joint_comes_first_and_all_else_stays_in_order(source: str | Path) -> None:
    floating, fixed = pair(source)
    assert floating.joint_names == ('floating_base', *fixed.joint_names)
    assert floating.link_names == fixed.link_names
    assert (floating.nq, floating.nv) == (7 + fixed.nq, 6 + fixed.nv)
    assert floating.position_indices('floating_base') == slice(0, 7)
    assert floating.velocity_indices('floating_base') == slice(0, 6)
    for name in fixed.joint_names:
        assert floating.position_indices(name).start == 7 + fixed.position_indices(name).start
        assert floating.velocity_indices(name).start == 6 + fixed.velocity_indices(name).start
    assert not floating.has_one_axis_joints_only
    root = floating.link_names[0]
    S = floating.motion_subspace(floating.neutral_position, root)
    np.testing.assert_array_equal(S, np.eye(6))


def test_the_free_joint_has_no_limits_and_no_losses() -> None:
    floating, fixed = pair(SHIPPED[0])
    unlimited = {
        'position_lower': -np.inf, 'position_upper': np.inf, 'velocity_limits': np.inf,
        'effort_limits': np.inf, 'damping': 0.0, 'friction': 0.0, 'continuous': False,
    }
    for field, value in unlimited.items():
        free = 7 if field.startswith('position') else 6
        expected = [*[value] * free, *getattr(fixed, field)]
        np.testing.assert_array_equal(getattr(floating, field), expected, field)


def test_a_robot_with_a_moving_joint_of_that_name_is_rejected() -> None:
    text = robot(link('base'), link('arm', 1.0), joint('floating_base', 'revolute', 'base', 'arm'))
    with pytest.raises(UrdfError, match=r"joint 'floating_base'.* rename it, or leave out"):
        RobotModel.from_urdf(text, floating_base=True)
    assert RobotModel.from_urdf(text).joint_names == ('floating_base',)  # the base is fixed


def test_a_copy_floats_too() -> None:
    floating, _ = pair(SHIPPED[1])
    state = random_motion(floating, 0)
    expected = floating.inverse_dynamics(*state)
    for other in (pickle.loads(pickle.dumps(floating)), floating.with_gravity(floating.gravity)):
        np.testing.assert_array_equal(other.inverse_dynamics(*state), expected)


def test_a_floating_joint_of_the_urdf_is_a_floating_base() -> None:
    text = SHIPPED[1].read_text(encoding='utf-8')
    floating, fixed = pair(text)
    ground = link('ground') + joint('free', 'floating', 'ground', fixed.link_names[0])
    model = load(text.replace('</robot>', f'{ground}</robot>'), floating.gravity)
    assert model.joint_names == ('free', *fixed.joint_names)
    motion = random_motion(floating, 0)
    assert_equal(model.inverse_dynamics(*motion), floating.inverse_dynamics(*motion))
    assert_equal(model.mass_matrix(motion[0]), floating.mass_matrix(motion[0]))
