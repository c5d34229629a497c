# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A base that moves: a vehicle, a ship, another machine under the robot."""

from functools import partial

import numpy as np
import pytest

from rnea_ros import BaseMotion
from support.cases import each
from support.models.comparison import assert_equal as assert_close
from support.models.oracle_pairs import Pair
from support.models.robots import SHIPPED, load

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
def test_a_robot_on_a_moving_tilted_base_is_pinocchios(fixed_pair: Pair, seed: int) -> None:
    free = OnFreeBase(fixed_pair, seed)
    model, oracle, (q, qd, qdd) = free.model, free.oracle, free.motion
    tau = oracle.inverse_dynamics(free.q, free.qd, free.qdd)[6:]
    assert_equal(model.inverse_dynamics(q, qd, qdd), tau)
    atol = 1e-8 * np.linalg.cond(model.mass_matrix(q))
    np.testing.assert_allclose(model.forward_dynamics(q, qd, tau), qdd, rtol=0.0, atol=atol)
    assert_equal(model.kinetic_energy(q, qd), oracle.kinetic_energy(free.q, free.qd))
    coasting = free.qdd.copy()
    coasting[6:] = 0.0
    point = np.array([0.1, -0.2, 0.3])
    for name in model.link_names:
        v, a = oracle.link_motion(free.q, free.qd, free.qdd, name)
        _, bias = oracle.link_motion(free.q, free.qd, coasting, name)
        assert_equal(model.link_velocity(q, qd, name), v, name)
        assert_equal(model.link_acceleration(q, qd, qdd, name), a, name)
        bias[3:] += np.cross(bias[:3], point)
        assert_equal(model.bias_acceleration(q, qd, name, point), bias, name)
    bodies = model.body_names[::3]
    carried = oracle.joint_wrenches(free.q, free.qd, free.qdd, bodies)
    for name, wrench in zip(bodies, carried, strict=True):
        found = model.internal_wrench(q, qd, qdd, name)
        assert_equal([*np.asarray(found.torque), *np.asarray(found.force)], wrench, name)


def test_the_base_moves_in_every_later_call_and_in_workspaces(fixed_pair: Pair) -> None:
    motion = fixed_pair.motion(0)
    q, qd, _ = motion
    moving = fixed_pair.model.with_base_motion(random_base(0))

    def answers() -> list[float]:
        acceleration = moving.link_acceleration(*motion, moving.link_names[-1])
        return [*moving.inverse_dynamics(*motion), *acceleration]

    before = answers()
    for call in (
        lambda: moving.gravity_torques(q), lambda: moving.coriolis_torques(q, qd),
        lambda: moving.kinetic_energy(q, qd), lambda: moving.potential_energy(q),
    ):
        call()
        assert answers() == before
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
