# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Joints of every type: how they place a link, how they move it, and what that takes."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from rnea_ros import RobotModel, UnknownNameError, Wrench
from rnea_ros.dynamics.tree import JointType, Placement, RigidBodyInertia, TreeBuilder, joint_types
from support.cases import each
from support.models import joint_trees as trees
from support.models.comparison import assert_equal
from support.models.oracles import Array, skew
from support.models.robots import ROOT

SEEDS = range(3)
RANDOM_TREES = range(20)
STEP = 1e-6
NORMALS = [
    pytest.param((0.0, 0.0, 1.0), id='z'), pytest.param((0.0, 0.0, -1.0), id='-z'),
    pytest.param((1.0, 0.0, 0.0), id='x'), pytest.param((0.0, -1.0, 0.0), id='-y'),
    pytest.param((0.6, 0.0, 0.8), id='up'), pytest.param((0.48, -0.36, -0.8), id='down'),
    pytest.param((1e-9, 0.0, -1.0), id='nearly -z'),
]


def single(joint: JointType, mass: float = 2.0) -> RobotModel:
    """Return a point mass on a joint that stands in the base's frame."""
    builder = TreeBuilder('base')
    inertia = RigidBodyInertia.from_centre_of_mass(mass, np.zeros(3), np.eye(3))
    builder.add_link('link', 'base', Placement.identity(), joint, inertia)
    return RobotModel.from_tree(builder.build())


def about(axis: Array, angle: float) -> Array:
    """Return the rotation about an axis (Rodrigues)."""
    R: Array = (
        np.cos(angle) * np.eye(3) + np.sin(angle) * skew(axis)
        + (1.0 - np.cos(angle)) * np.outer(axis, axis)
    )
    return R


def subspace_of(part: trees.Part, q: Array) -> Array:
    """Return S, [angular; linear], in the link's axes, a column for each velocity."""
    zero, axis = np.zeros(3), part.axis
    turning, sliding = np.append(axis, zero), np.append(zero, axis)
    columns = {
        'revolute': [turning], 'prismatic': [sliding], 'helical': [turning + part.pitch * sliding],
        'cylindrical': [turning, sliding], 'spherical': np.eye(6)[:3], 'floating': np.eye(6),
    }
    if part.kind != 'planar':
        return np.array(columns[part.kind]).T
    in_link = about(axis, q[2]).T @ trees.smallest_rotation_of_z_to(axis)
    x, y = (np.append(zero, in_link[:, k]) for k in range(2))
    return np.array([x, y, turning]).T


@each('seed', SEEDS)
def test_a_links_acceleration_is_the_rate_of_its_velocity(seed: int) -> None:
    parts = trees.random_parts(seed, trees.MOVING)
    q, qd, qdd = trees.random_motion(seed, parts)
    model = trees.model_of(parts)
    for part in parts:
        # qd + h qdd / 2 is the mean velocity of a step
        ahead, behind = (
            model.link_velocity(model.integrate(q, qd + 0.5 * h * qdd, h), qd + h * qdd, part.name)
            for h in (STEP, -STEP)
        )
        np.testing.assert_allclose(
            model.link_acceleration(q, qd, qdd, part.name), (ahead - behind) / (2.0 * STEP),
            rtol=1e-6, atol=1e-6,
        )


@each('seed', RANDOM_TREES)
def test_the_motion_subspace_of_every_joint_is_its_own(seed: int) -> None:
    parts = trees.random_parts(seed, trees.random_kinds(seed))
    q, _, _ = trees.random_motion(seed, parts)
    model = trees.model_of(parts)
    for part, where_q, _ in trees.places(parts):
        assert_equal(model.motion_subspace(q, part.name), subspace_of(part, q[where_q]))
    for part in parts:
        S = model.motion_subspace(q, part.name)
        T = model.constraint_force_subspace(q, part.name)
        assert S.shape[1] + T.shape[1] == 6
        assert np.linalg.matrix_rank(T, tol=1e-9) == T.shape[1]
        assert_equal(S.T @ T, np.zeros((S.shape[1], T.shape[1])))


@each('seed', RANDOM_TREES)
def test_joint_efforts_and_constraint_forces_make_the_internal_wrench(seed: int) -> None:
    # f = T_a tau + T lambda with T_a^T S = 1 (Featherstone 2008, section 3.5)
    parts = trees.random_parts(seed, trees.random_kinds(seed))
    q, qd, qdd = trees.random_motion(seed, parts)
    model = trees.model_of(parts)
    tau = model.inverse_dynamics(q, qd, qdd)
    for part, _, where in trees.places(parts):
        S, T = model.motion_subspace(q, part.name), model.constraint_force_subspace(q, part.name)
        wrench = model.internal_wrench(q, qd, qdd, part.name)
        f = np.concatenate([np.asarray(wrench.torque), np.asarray(wrench.force)])
        np.testing.assert_allclose(S.T @ f, tau[where], rtol=1e-9, atol=1e-9)
        T_a = np.linalg.pinv(S).T
        constraint = f - T_a @ tau[where]
        lam = np.linalg.lstsq(T, constraint, rcond=None)[0]
        np.testing.assert_allclose(T @ lam, constraint, rtol=1e-9, atol=1e-9)


# Columns of the identity: angular x, y, z, linear x, y, z (Featherstone 2008, table 4.1)
@each(('joint', 'S', 'T'), [
    pytest.param(joint_types.revolute('j'), [2], [0, 1, 3, 4, 5], id='revolute'),
    pytest.param(joint_types.prismatic('j'), [5], [0, 1, 2, 3, 4], id='prismatic'),
    pytest.param(joint_types.cylindrical('j'), [2, 5], [0, 1, 3, 4], id='cylindrical'),
    pytest.param(joint_types.spherical('j'), [0, 1, 2], [3, 4, 5], id='spherical'),
    pytest.param(joint_types.floating('j'), [0, 1, 2, 3, 4, 5], [], id='floating'),
    pytest.param((), [], [0, 1, 2, 3, 4, 5], id='fixed'),
])
def test_subspaces_along_z_are_the_tables(joint: JointType, S: list[int], T: list[int]) -> None:
    model, identity = single(joint), np.eye(6)
    q = model.neutral_position
    np.testing.assert_array_equal(model.motion_subspace(q, 'link'), identity[:, S])
    np.testing.assert_array_equal(model.constraint_force_subspace(q, 'link'), identity[:, T])


def test_the_subspaces_of_a_screw_and_of_a_plane_are_the_tables() -> None:
    e, pitch = np.eye(6), 0.25
    screw = single(joint_types.helical('screw', pitch))
    np.testing.assert_array_equal(screw.motion_subspace([0.7], 'link')[:, 0], e[2] + pitch * e[5])
    T = screw.constraint_force_subspace([0.7], 'link')
    np.testing.assert_array_equal(T.T, [e[0], e[1], e[3], e[4], e[5] - pitch * e[2]])
    cart = single(joint_types.planar('cart'))
    # The coordinates x and y are those of the joint frame, which the link's axes turn away from.
    c, s = np.cos(0.7), np.sin(0.7)
    S = cart.motion_subspace([0.3, -0.2, 0.7], 'link')
    assert_equal(S.T, np.array([c * e[3] - s * e[4], s * e[3] + c * e[4], e[2]]))
    assert_equal(cart.constraint_force_subspace([0.3, -0.2, 0.7], 'link').T, e[[0, 1, 5]])


def test_a_floating_base_moves_in_all_directions() -> None:
    model = RobotModel.from_urdf(ROOT / 'urdf' / 'ur5e.urdf', floating_base=True)
    q, root = model.neutral_position, model.link_names[0]
    np.testing.assert_array_equal(model.motion_subspace(q, root), np.eye(6))
    assert model.constraint_force_subspace(q, root).shape == (6, 0)


def test_a_root_that_stands_and_an_unknown_link_have_no_joint_above() -> None:
    model = single(joint_types.revolute('j'))
    for name in ('base', 'nose'):
        for method in (model.motion_subspace, model.constraint_force_subspace):
            with pytest.raises(UnknownNameError, match=f"unknown link '{name}'; known are link"):
                method([0.0], name)


@each('normal', NORMALS)
def test_planar_axes_follow_from_the_smallest_rotation(normal: tuple[float, float, float]) -> None:
    unit = np.array(normal) / np.linalg.norm(normal)
    model = single(joint_types.planar('cart', unit))
    axes = [model.forward_kinematics(q, 'link')[:3, 3] for q in ([1.0, 0, 0], [0, 1.0, 0])]
    first = np.diag([1.0, -1.0, -1.0]) if unit[2] < 0.0 else np.eye(3)
    # Of all rotations that take one vector to another, the smallest has the largest trace.
    R = np.array([*axes, unit]).T @ first
    assert_equal(np.trace(R), np.array(2.0 * abs(unit[2]) + 1.0))


@pytest.mark.oracle
@each('kinds', [
    *(pytest.param([kind] * 4, id=kind) for kind in trees.MOVING),
    pytest.param(trees.MOVING, id='all'),
])
@each('seed', SEEDS)
def test_a_tree_of_any_joints_is_pinocchios(kinds: Sequence[str], seed: int) -> None:
    assert_is_pinocchios(trees.random_parts(seed, kinds), seed)


def assert_is_pinocchios(parts: Sequence[trees.Part], seed: int) -> None:
    model, oracle = trees.model_of(parts), trees.PinocchioTree(parts)
    q, qd, qdd = trees.random_motion(seed, parts)
    rest = np.zeros(model.nv)
    tau = oracle.inverse_dynamics(q, qd, qdd)
    assert_equal(model.inverse_dynamics(q, qd, qdd), tau)
    assert_equal(model.gravity_torques(q), oracle.inverse_dynamics(q, rest, rest))
    assert_equal(model.bias_torques(q, qd), oracle.inverse_dynamics(q, qd, rest))
    assert_equal(model.mass_matrix(q), oracle.mass_matrix(q))
    # Screws go by the mass matrix, all else by articulated bodies.
    assert_equal(model.forward_dynamics(q, qd, tau), oracle.forward_dynamics(q, qd, tau))
    wrench = Wrench(force=(3.0, -1.0, 2.0), torque=(0.2, 0.4, -0.3))
    for part in parts:
        J = oracle.jacobian(q, part.name)
        assert_equal(model.forward_kinematics(q, part.name), oracle.link_pose(q, part.name))
        assert_equal(model.jacobian(q, part.name), J)
        pushed = model.inverse_dynamics(q, qd, qdd, {part.name: wrench})
        assert_equal(pushed, tau - J.T @ np.array([0.2, 0.4, -0.3, 3.0, -1.0, 2.0]))


@pytest.mark.oracle
@each('seed', RANDOM_TREES)
def test_a_random_tree_on_a_floating_body_is_mujocos(seed: int) -> None:
    # MuJoCo has no screws, and free joints only on the world.
    kinds = [kind for kind in trees.random_kinds(seed) if kind not in ('helical', 'floating')]
    first, *others = trees.random_parts(seed, ['floating', *kinds, 'spherical'])
    parts = [replace(first, R=np.eye(3), p=np.zeros(3)), *others]
    state = trees.random_motion(seed, parts)
    expected = trees.MuJoCoTree(parts).inverse_dynamics(*state)
    assert_equal(trees.model_of(parts).inverse_dynamics(*state), expected)
