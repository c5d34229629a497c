# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Robots of no joint, of one body and of a thousand; every method works on all of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pytest

from rnea_ros import RobotModel, Wrench
from rnea_ros.dynamics.tree import FIXED, Placement, RigidBodyInertia, TreeBuilder
from support.cases import each
from support.models import joint_trees as trees
from support.models.robots import joint, link, load, robot

Build: TypeAlias = Callable[[], RobotModel]


def of_links_fixed_to_the_world() -> RobotModel:
    builder = TreeBuilder()
    inertia = RigidBodyInertia.from_centre_of_mass(2.0, np.array([1.0, 2.0, 3.0]), np.eye(3))
    builder.add_link('base', '', Placement.identity(), FIXED, inertia)
    return RobotModel.from_tree(builder.build())


WITHOUT_JOINTS: dict[str, Build] = {
    'the world alone': lambda: RobotModel.from_tree(TreeBuilder().build()),
    'one link': lambda: RobotModel.from_tree(TreeBuilder('base').build()),
    'links fixed to the world': of_links_fixed_to_the_world,
    'a URDF': lambda: load(
        robot(link('base', 1.0), link('a', 1.0), joint('j', 'fixed', 'base', 'a'))
    ),
}


@each('name', WITHOUT_JOINTS)
def test_a_robot_without_joints_has_empty_results(name: str) -> None:
    model, q = WITHOUT_JOINTS[name](), np.zeros(0)
    push = {name: Wrench((1.0, 2.0, 3.0), point=(0.1, 0.0, 0.0)) for name in model.link_names}
    assert (model.nq, model.nv, model.joint_names) == (0, 0, ())
    for efforts in (
        model.inverse_dynamics(q, q, q, push), model.gravity_torques([]),
        model.bias_torques(q, q), model.coriolis_torques(q, q),
        model.forward_dynamics(q, q, q, push), model.integrate(q, q, 1.0), model.difference(q, q),
        model.neutral_position, model.inertial_parameters, model.position_lower,
        model.effort_limits,
    ):
        assert efforts.shape == (0,)
    for matrix in (
        model.mass_matrix(q), model.regressor(q, q, q),
        *model.inverse_dynamics_derivatives(q, q, q, push),
    ):
        assert matrix.shape == (0, 0)
    assert model.kinetic_energy(q, q) == 0.0
    mass = model.tree.bodies['mass'].sum()
    expected = 9.81 * mass * model.centre_of_mass(q)[2]
    np.testing.assert_allclose(model.potential_energy(q), expected, rtol=1e-12)
    for count in (0, 9, 10_000):
        Q = np.zeros((count, 0))
        for rows in (
            model.inverse_dynamics_batch(Q, Q, Q), model.gravity_torques_batch(Q),
            model.forward_dynamics_batch(Q, Q, Q),
        ):
            assert rows.shape == (count, 0)
        assert model.mass_matrix_batch(Q).shape == (count, 0, 0)
        assert model.regressor_batch(Q, Q, Q).shape == (count, 0, 0)


def chain() -> list[trees.Part]:
    # MuJoCo takes 5 s for a chain of a thousand.
    return trees.random_parts(0, ['revolute'] * 300, branches=False)


def tree() -> list[trees.Part]:
    kinds = ['revolute', 'prismatic', 'fixed', 'planar', 'cylindrical'] * 200
    # Half of them are on the base.
    parts = trees.random_parts(0, kinds)
    return [replace(part, parent='base') if i % 2 else part for i, part in enumerate(parts)]


@pytest.mark.oracle
@pytest.mark.parametrize('build', [chain, tree])
def test_hundreds_of_bodies_are_mujocos(build: Callable[[], list[trees.Part]]) -> None:
    # Pinocchio's data of as many joints take 32 GB.
    parts = build()
    state = trees.random_motion(0, parts)
    expected = trees.MuJoCoTree(parts).inverse_dynamics(*state)
    # Efforts of 1e8 at the base and of 1e3 at the tip of a chain, all from the same sums
    np.testing.assert_allclose(
        trees.model_of(parts).inverse_dynamics(*state), expected, rtol=1e-9,
        atol=1e-12 * np.abs(expected).max(),
    )
