# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A base that moves: a vehicle, a ship, another machine under the robot."""

from functools import partial

import numpy as np
import pytest

from rnea_ros import BaseMotion
from support.cases import each
from support.models.comparison import assert_equal as assert_close
from support.models.oracle_pairs import Pair, random_motion
from support.models.robots import SHIPPED, load

pytest_plugins = ('support.models.model_fixtures',)

# A base that accelerates brings large terms that cancel.
assert_equal = partial(assert_close, atol=1e-9)
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
    assert_equal(model.inverse_dynamics(q, qd, qdd), tau)
    atol = 1e-8 * np.linalg.cond(model.mass_matrix(q))
    np.testing.assert_allclose(model.forward_dynamics(q, qd, tau), qdd, rtol=0.0, atol=atol)
    assert_equal(model.kinetic_energy(q, qd), oracle.kinetic_energy(free_q, free_qd))
    for name in model.link_names:
        velocity, acceleration = oracle.link_motion(free_q, free_qd, free_qdd, name)
        _, bias = oracle.link_motion(free_q, free_qd, coasting, name)
        assert_equal(model.link_velocity(q, qd, name), velocity, name)
        assert_equal(model.link_acceleration(q, qd, qdd, name), acceleration, name)
        bias[3:] += np.cross(bias[:3], POINT)
        assert_equal(model.bias_acceleration(q, qd, name, POINT), bias, name)
    bodies = model.body_names[::3]
    carried = oracle.joint_wrenches(free_q, free_qd, free_qdd, bodies)
    for name, wrench in zip(bodies, carried, strict=True):
        found = model.internal_wrench(q, qd, qdd, name)
        assert_equal([*np.asarray(found.torque), *np.asarray(found.force)], wrench, name)


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
