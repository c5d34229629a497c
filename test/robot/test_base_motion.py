# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A base that moves: a vehicle, a ship, another machine under the robot."""

from functools import partial

import numpy as np
from numpy.typing import NDArray
import pytest

from rnea_ros import BaseMotion
from support.cases import each
from support.models.comparison import assert_equal as assert_close
from support.models.oracle_pairs import Pair
from support.models.oracles import random_state
from support.models.robots import SHIPPED, joint, link, load, robot

pytest_plugins = ('support.models.model_fixtures',)

# A base that accelerates brings large terms that cancel.
assert_equal = partial(assert_close, atol=1e-9)
SEEDS = range(3)
REST = BaseMotion()


def random_base(seed: int) -> BaseMotion:
    v, w, a, alpha = np.random.default_rng(seed).normal(scale=2.0, size=(4, 3))
    return BaseMotion(v, w, a, alpha)


class OnFreeBase:
    """
    Pinocchio's robot on a free joint that is given the base's motion.

    :param pair: a robot whose root link does not float
    :param seed: of the base's attitude in the world, and of everything's motion
    """

    def __init__(self, pair: Pair, seed: int) -> None:
        rng = np.random.default_rng(seed)
        q, qd, qdd = pair.motion(seed)
        self.oracle, self.motion, self.base = pair.free_pinocchio, (q, qd, qdd), random_base(seed)
        attitude = rng.normal(size=4)
        place = np.concatenate([rng.normal(size=3), attitude / np.linalg.norm(attitude)])
        v, w, a, alpha = (
            np.asarray(part) for part in (
                self.base.linear_velocity, self.base.angular_velocity,
                self.base.linear_acceleration, self.base.angular_acceleration,
            )
        )
        self.q = np.concatenate([place, q])
        self.qd = np.concatenate([w, v, qd])
        # The free joint counts how its velocity's numbers change: less w x v, which turning adds.
        self.qdd = np.concatenate([alpha, a - np.cross(w, v), qdd])
        root = pair.model.link_names[0]
        self.tilt = self.oracle.link_poses(self.q, [root])[0][:3, :3]
        gravity_in_root = self.tilt.T @ np.asarray(pair.gravity)
        self.model = pair.model.with_gravity(gravity_in_root).with_base_motion(self.base)


@pytest.mark.oracle
@each('seed', SEEDS)
def test_efforts_on_a_moving_tilted_base_are_pinocchios(fixed_pair: Pair, seed: int) -> None:
    free = OnFreeBase(fixed_pair, seed)
    expected = free.oracle.inverse_dynamics(free.q, free.qd, free.qdd)[6:]
    assert_equal(free.model.inverse_dynamics(*free.motion), expected)


@pytest.mark.oracle
@each('seed', SEEDS)
def test_links_on_a_moving_base_move_as_pinocchios(fixed_pair: Pair, seed: int) -> None:
    free = OnFreeBase(fixed_pair, seed)
    coasting = free.qdd.copy()
    coasting[6:] = 0.0
    for name in free.model.link_names:
        v, a = free.oracle.link_motion(free.q, free.qd, free.qdd, name)
        _, bias = free.oracle.link_motion(free.q, free.qd, coasting, name)
        assert_equal(free.model.link_velocity(*free.motion[:2], name), v, name)
        assert_equal(free.model.link_acceleration(*free.motion, name), a, name)
        assert_equal(free.model.bias_acceleration(*free.motion[:2], name), bias, name)


@pytest.mark.oracle
@each('seed', SEEDS)
def test_task_dynamics_on_a_moving_base_are_pinocchios(fixed_pair: Pair, seed: int) -> None:
    # Lambda a + mu + p = Jbar^T tau; efforts, acceleration, M and J are Pinocchio's.
    free = OnFreeBase(fixed_pair, seed)
    tau = free.oracle.inverse_dynamics(free.q, free.qd, free.qdd)[6:]
    M = free.oracle.mass_matrix(free.q)[6:, 6:]
    checked = 0
    for name in free.model.link_names:
        J = free.oracle.jacobian(free.q, name)[:, 6:]
        rows = independent_rows(J)
        if not rows:
            continue
        _, a = free.oracle.link_motion(free.q, free.qd, free.qdd, name)
        task = free.model.operational_space_dynamics(*free.motion[:2], name, coordinates=rows)
        effort = np.linalg.inv(J[rows] @ np.linalg.solve(M, J[rows].T))
        effort = effort @ J[rows] @ np.linalg.solve(M, tau)
        found = task.inertia @ a[rows] + task.bias + task.gravity
        size = np.abs(task.inertia) @ np.abs(a[rows]) + np.abs(task.bias) + np.abs(effort)
        np.testing.assert_allclose(found, effort, rtol=1e-9, atol=1e-9 * size.max())
        checked += 1
    assert checked


def independent_rows(J: NDArray[np.float64]) -> list[int]:
    """Return rows of a Jacobian that are far from a linear combination of each other."""
    rows: list[int] = []
    for row in range(6):
        tried = J[[*rows, row]]
        if (np.linalg.norm(tried, axis=1) > 0.1).all() and np.linalg.cond(tried) < 20.0:
            rows.append(row)
    return rows


@each('seed', SEEDS)
def test_bias_acceleration_of_a_point_is_that_of_a_link_there(fixed_pair: Pair, seed: int) -> None:
    model, (q, qd, qdd) = fixed_pair.model, fixed_pair.motion(seed)
    moving = model.with_base_motion(random_base(seed))
    name, point = model.link_names[-1], np.array([0.1, -0.2, 0.3])
    a = moving.link_acceleration(q, qd, qdd, name)
    a[3:] += np.cross(a[:3], point)
    found = moving.jacobian(q, name, point) @ qdd + moving.bias_acceleration(q, qd, name, point)
    assert_equal(found, a)


@pytest.mark.oracle
@each('seed', SEEDS)
def test_the_energy_of_a_robot_on_a_moving_base_is_pinocchios(fixed_pair: Pair, seed: int) -> None:
    free = OnFreeBase(fixed_pair, seed)
    expected = free.oracle.kinetic_energy(free.q, free.qd)
    assert_equal(free.model.kinetic_energy(*free.motion[:2]), expected)


@pytest.mark.oracle
@each('seed', SEEDS)
def test_joints_on_a_moving_base_carry_what_pinocchios_do(fixed_pair: Pair, seed: int) -> None:
    free = OnFreeBase(fixed_pair, seed)
    for name in free.model.body_names:
        [(force, torque)] = free.oracle.joint_wrenches(free.q, free.qd, free.qdd, [name])
        found = free.model.internal_wrench(*free.motion, name)
        assert_equal(found.force, force, name)
        assert_equal(found.torque, torque, name)


@each('seed', SEEDS)
def test_centrifugal_coriolis_and_euler_forces_on_a_turntable(seed: int) -> None:
    puck = load(robot(
        link('table'), link('slide'), link('puck', 2.0),
        joint('x', 'prismatic', 'table', 'slide', axis=(1.0, 0.0, 0.0)),
        joint('y', 'prismatic', 'slide', 'puck', axis=(0.0, 1.0, 0.0)),
    ))
    spin, spin_up = np.random.default_rng(seed).normal(size=2)
    base = BaseMotion(angular_velocity=(0, 0, spin), angular_acceleration=(0, 0, spin_up))
    q, qd, qdd = random_state(seed, 2)
    (x, y), (x_rate, y_rate) = q, qd
    apparent = np.array([
        spin**2 * x + 2.0 * spin * y_rate + spin_up * y,
        spin**2 * y - 2.0 * spin * x_rate - spin_up * x,
    ])
    turning = puck.with_base_motion(base)
    assert_equal(turning.inverse_dynamics(q, qd, qdd), 2.0 * (qdd - apparent))
    efforts = np.array([0.3, -0.4])
    assert_equal(turning.forward_dynamics(q, qd, efforts), efforts / 2.0 + apparent)


def test_questions_about_parts_do_not_change_the_model(fixed_pair: Pair) -> None:
    q, qd, qdd = fixed_pair.motion(0)
    moving = fixed_pair.model.with_base_motion(random_base(0))
    before = moving.inverse_dynamics(q, qd, qdd)
    acceleration = moving.link_acceleration(q, qd, qdd, moving.link_names[-1])
    moving.gravity_torques(q)
    moving.coriolis_torques(q, qd)
    moving.kinetic_energy(q, qd)
    moving.potential_energy(q)
    np.testing.assert_array_equal(moving.inverse_dynamics(q, qd, qdd), before)
    np.testing.assert_array_equal(
        moving.link_acceleration(q, qd, qdd, moving.link_names[-1]), acceleration
    )


def test_a_workspace_of_a_moving_robot_moves(fixed_pair: Pair) -> None:
    motion = fixed_pair.motion(0)
    moving = fixed_pair.model.with_base_motion(random_base(0))
    workspace = moving.workspace()
    np.testing.assert_array_equal(
        workspace.inverse_dynamics(*motion), moving.inverse_dynamics(*motion)
    )
    gravity = np.array([1.0, 2.0, 3.0])
    workspace.set_base_motion(gravity, *REST.spatial())
    standing = fixed_pair.model.with_gravity(gravity)
    np.testing.assert_array_equal(
        workspace.inverse_dynamics(*motion), standing.inverse_dynamics(*motion)
    )


def test_a_model_at_first_stands_and_a_copy_keeps_its_motion() -> None:
    arm, base = load(SHIPPED[2]), random_base(0)
    assert arm.base_motion == REST
    assert arm.with_base_motion(base).with_gravity((0.0, 0.0, -1.62)).base_motion is base
    assert arm.base_motion == REST
