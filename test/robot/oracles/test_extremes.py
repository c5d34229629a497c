# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Robots of no joint, of one body and of a thousand; every method works on all of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.dynamics.tree import FIXED, Placement, RigidBodyInertia, TreeBuilder
from support.models import joint_trees as trees
from support.models.comparison import assert_equal
from support.models.oracles import Array
from support.models.robots import joint, link, load, robot

Build: TypeAlias = Callable[[], RobotModel]


def of_the_world_alone() -> RobotModel:
    return RobotModel.from_tree(TreeBuilder().build())


def of_one_link() -> RobotModel:
    return RobotModel.from_tree(TreeBuilder('base').build())


def of_links_fixed_to_the_world() -> RobotModel:
    builder = TreeBuilder()
    inertia = RigidBodyInertia.from_centre_of_mass(2.0, np.array([1.0, 2.0, 3.0]), np.eye(3))
    builder.add_link('base', '', Placement.identity(), FIXED, inertia)
    return RobotModel.from_tree(builder.build())


def of_a_urdf() -> RobotModel:
    return load(robot(link('base', 1.0), link('a', 1.0), joint('j', 'fixed', 'base', 'a')))


WITHOUT_JOINTS = pytest.mark.parametrize(
    'build', [of_the_world_alone, of_one_link, of_links_fixed_to_the_world, of_a_urdf]
)


@WITHOUT_JOINTS
@pytest.mark.parametrize('nothing', [[], np.zeros(0), ()], ids=['list', 'array', 'tuple'])
def test_a_robot_without_joints_has_empty_results(build: Build, nothing: object) -> None:
    model = build()
    q: Array = nothing  # type: ignore[assignment]
    assert (model.nq, model.nv, model.joint_names) == (0, 0, ())
    for efforts in (
        model.inverse_dynamics(q, q, q), model.gravity_torques(q), model.bias_torques(q, q),
        model.coriolis_torques(q, q), model.forward_dynamics(q, q, q),
        model.integrate(q, q, 1.0), model.difference(q, q), model.neutral_position,
        model.inertial_parameters, model.position_lower, model.effort_limits,
    ):
        assert efforts.shape == (0,)
    assert model.mass_matrix(q).shape == model.regressor(q, q, q).shape == (0, 0)
    assert model.kinetic_energy(q, q) == 0.0
    mass = model.tree.bodies['mass'].sum()
    assert_equal(np.array(model.potential_energy(q)), 9.81 * mass * model.centre_of_mass(q)[2])


@WITHOUT_JOINTS
@pytest.mark.parametrize('count', [0, 1, 9, 10_000])
def test_many_samples_without_joints_have_as_many_results(build: Build, count: int) -> None:
    model, Q = build(), np.zeros((count, 0))
    for efforts in (
        model.inverse_dynamics_batch(Q, Q, Q), model.gravity_torques_batch(Q),
        model.forward_dynamics_batch(Q, Q, Q),
    ):
        assert efforts.shape == (count, 0)
    assert model.mass_matrix_batch(Q).shape == (count, 0, 0)
    assert model.regressor_batch(Q, Q, Q).shape == (count, 0, 0)


MANY = 1000


def chain() -> list[trees.Part]:
    return trees.random_parts(0, ['revolute'] * MANY, branches=False)


def star() -> list[trees.Part]:
    kinds = [kind for kind in trees.MOVING if kind not in ('helical', 'floating')] * (MANY // 5)
    return [replace(part, parent='base') for part in trees.random_parts(0, kinds)]


def tree() -> list[trees.Part]:
    return trees.random_parts(0, ['revolute', 'prismatic', 'fixed', 'cylindrical'] * (MANY // 4))


@pytest.mark.oracle
@pytest.mark.parametrize('build', [chain, star, tree])
def test_a_thousand_bodies_are_mujocos(build: Callable[[], list[trees.Part]]) -> None:
    # Pinocchio's data of as many joints take 32 GB.
    parts = build()
    assert len(parts) == MANY
    state = trees.random_motion(0, parts)
    expected = trees.MuJoCoTree(parts).inverse_dynamics(*state)
    # Efforts of 1e8 at the base and of 1e3 at the tip of a chain, all from the same sums
    np.testing.assert_allclose(
        trees.model_of(parts).inverse_dynamics(*state), expected, rtol=1e-9,
        atol=1e-12 * np.abs(expected).max(),
    )


@pytest.mark.oracle
@pytest.mark.parametrize('kind', trees.MOVING)
def test_long_chains_are_pinocchios(kind: str) -> None:
    parts = trees.random_parts(0, [kind] * 40, branches=False)
    model, oracle = trees.model_of(parts), trees.PinocchioTree(parts)
    q, qd, qdd = trees.random_motion(0, parts)
    tau = oracle.inverse_dynamics(q, qd, qdd)
    scale = np.abs(tau).max()
    np.testing.assert_allclose(
        model.inverse_dynamics(q, qd, qdd), tau, rtol=1e-9, atol=1e-12 * scale
    )
    # Forward dynamics of a long chain are as ill-conditioned as its mass matrix, 1e5 and more.
    np.testing.assert_allclose(model.forward_dynamics(q, qd, tau), qdd, rtol=1e-6, atol=1e-6)
