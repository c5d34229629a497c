# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Joints of every type: how they place and move a link, and steps between their positions."""

from collections.abc import Sequence

import numpy as np
import pytest

from rnea_ros import InputError, RobotModel, UnknownNameError, Wrench
from rnea_ros.dynamics.quaternions import exponential, left_jacobian, logarithm
from rnea_ros.dynamics.tree import JointType, Placement, RigidBodyInertia, TreeBuilder, joint_types
from support.cases import each
from support.models import joint_trees as trees
from support.models.comparison import assert_equal
from support.models.joint_trees import MOVING, Part, model_of, places, random_motion, random_parts
from support.models.oracles import Array, skew

SEEDS = range(2)
RANDOM_TREES = range(6)
PUSH = Wrench(force=(3.0, -1.0, 2.0), torque=(0.2, 0.4, -0.3))


def single(joint: JointType) -> RobotModel:
    """Return a point mass on a joint that stands in the base's frame."""
    builder = TreeBuilder('base')
    inertia = RigidBodyInertia.from_centre_of_mass(2.0, np.zeros(3), np.eye(3))
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


def six(wrench: Wrench) -> Array:
    return np.concatenate([np.asarray(wrench.torque), np.asarray(wrench.force)])


@each('seed', RANDOM_TREES)
def test_subspaces_share_what_a_joint_carries_between_them(seed: int) -> None:
    # f = T_a tau + T lambda with T_a^T S = 1 (Featherstone 2008, section 3.5)
    parts = trees.random_parts(seed, [*trees.MOVING, *trees.random_kinds(seed)])
    q, qd, qdd = trees.random_motion(seed, parts)
    model = trees.model_of(parts)
    tau = model.inverse_dynamics(q, qd, qdd)
    wheres = {part.name: (where_q, where) for part, where_q, where in trees.places(parts)}
    for part in parts:
        S = model.motion_subspace(q, part.name)
        T = model.constraint_force_subspace(q, part.name)
        assert S.shape[1] + T.shape[1] == 6
        assert np.linalg.matrix_rank(T, tol=1e-9) == T.shape[1]
        assert_equal(S.T @ T, np.zeros((S.shape[1], T.shape[1])))
        if part.name not in wheres:
            continue
        where_q, where = wheres[part.name]
        assert_equal(S, subspace_of(part, q[where_q]))
        f = six(model.internal_wrench(q, qd, qdd, part.name))
        np.testing.assert_allclose(S.T @ f, tau[where], rtol=1e-9, atol=1e-9)
        constraint = f - np.linalg.pinv(S).T @ tau[where]
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


def test_a_root_that_stands_and_an_unknown_link_have_no_joint_above() -> None:
    model = single(joint_types.revolute('j'))
    for name in ('base', 'nose'):
        for method in (model.motion_subspace, model.constraint_force_subspace):
            with pytest.raises(UnknownNameError, match=f"unknown link '{name}'; known are link"):
                method([0.0], name)


@each('normal', [
    (0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (1.0, 0.0, 0.0), (0.48, -0.36, -0.8), (1e-9, 0.0, -1.0),
])
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
    *(pytest.param([kind] * 6, id=kind) for kind in trees.MOVING),
    *(trees.random_kinds(seed) for seed in range(8)),
])
@each('seed', SEEDS)
def test_a_tree_of_any_joints_is_pinocchios(kinds: Sequence[str], seed: int) -> None:
    parts = trees.random_parts(seed, kinds)
    model, oracle = trees.model_of(parts), trees.PinocchioTree(parts)
    q, qd, qdd = trees.random_motion(seed, parts)
    tau, names = oracle.inverse_dynamics(q, qd, qdd), [part.name for part in parts]
    load = {name: [PUSH] for name in names[::2]}
    assert_equal(
        model.inverse_dynamics(q, qd, qdd, load), oracle.inverse_dynamics(q, qd, qdd, load)
    )
    assert_equal(model.gravity_torques(q), oracle.gravity_torques(q))
    assert_equal(model.bias_torques(q, qd), oracle.bias_torques(q, qd))
    assert_equal(model.mass_matrix(q), oracle.mass_matrix(q))
    assert_equal(model.kinetic_energy(q, qd), oracle.kinetic_energy(q, qd))
    # Screws go by the mass matrix, all else by articulated bodies.
    assert_equal(model.forward_dynamics(q, qd, tau), oracle.forward_dynamics(q, qd, tau))
    moving = [part.name for part in parts if part.kind in ('revolute', 'spherical', 'floating')]
    for name, f in zip(moving, oracle.joint_wrenches(q, qd, qdd, moving), strict=True):
        assert_equal(six(model.internal_wrench(q, qd, qdd, name)), f, name, 1e-9)
    for name in names:
        v, a = oracle.link_motion(q, qd, qdd, name)
        assert_equal(model.forward_kinematics(q, name), oracle.link_poses(q, [name])[0])
        assert_equal(model.jacobian(q, name), oracle.jacobian(q, name))
        assert_equal(model.link_velocity(q, qd, name), v)
        assert_equal(model.link_acceleration(q, qd, qdd, name), a, name, 1e-9)


ANGLES = [0.0, 1e-300, 1e-20, 1e-9, 1e-8, 1e-5, 9.9e-3, 1.01e-2, 0.5, 3.0, 3.14159, np.pi]
AXIS = np.array([0.48, -0.6, 0.64])
QUATERNIONS = ['spherical', 'floating']


def same_side(q: Array, as_in: Array, parts: list[Part]) -> Array:
    """Return q with the quaternion of each pair q, -q that is nearer to another position's."""
    q = q.copy()
    for part, where, _ in places(parts):
        if part.kind in QUATERNIONS:
            turned = slice(where.stop - 4, where.stop)
            q[turned] *= np.sign(q[turned] @ as_in[turned])
    return q


@each('seed', range(10))
def test_the_difference_leads_from_one_position_to_the_other(seed: int) -> None:
    parts = random_parts(seed, MOVING)
    model, (q0, v, _) = model_of(parts), random_motion(seed, parts)
    q1 = random_motion(seed + 100, parts)[0]
    arrived = model.integrate(q0, model.difference(q0, q1), 1.0)
    assert_equal(same_side(arrived, q1, parts), q1)
    assert_equal(model.difference(q0, q0), np.zeros(model.nv))
    for still in (model.integrate(q0, v, 0.0), model.integrate(q0, 0.0 * v, 5.0)):
        np.testing.assert_allclose(still, q0, rtol=1e-15)


@each('angle', ANGLES)
def test_the_logarithm_undoes_the_exponential(angle: float) -> None:
    found = logarithm(exponential(angle * AXIS))
    if angle == np.pi:
        found *= np.sign(found @ AXIS)  # half a turn is one either way
    np.testing.assert_allclose(found, angle * AXIS, rtol=1e-12, atol=0.0)


@each('angle', [*ANGLES, np.pi + 1e-3, 5.0, 2.0 * np.pi, 7.0])
def test_the_left_jacobian_is_the_mean_of_the_rotations_on_the_way(angle: float) -> None:
    # Forty points of Gauss and Legendre are exact to the last digit up to a whole turn.
    points, weights = np.polynomial.legendre.leggauss(40)
    a = angle * 0.5 * (points + 1.0)
    mean = (
        (0.5 * weights @ np.cos(a)) * np.eye(3) + (0.5 * weights @ np.sin(a)) * skew(AXIS)
        + (0.5 * weights @ (1.0 - np.cos(a))) * np.outer(AXIS, AXIS)
    )
    np.testing.assert_allclose(left_jacobian(angle * AXIS), mean, rtol=1e-13, atol=1e-14)


@each('kind', QUATERNIONS)
def test_the_shorter_way_round_is_taken(kind: str) -> None:
    model = model_of(random_parts(0, [kind]))
    q0 = model.neutral_position
    q1 = q0.copy()
    q1[-4:] = [0.0, 0.0, np.sin(0.75 * np.pi), np.cos(0.75 * np.pi)]  # three quarters about z
    for sign in (1.0, -1.0):
        q1[-4:] *= sign
        assert_equal(model.difference(q0, q1)[:3], np.array([0.0, 0.0, -0.5 * np.pi]))
    q0[-4:] *= -1.0
    assert_equal(model.difference(model.neutral_position, q0), np.zeros(model.nv))


@each('kind', ['revolute', 'helical', 'cylindrical', 'planar'])
def test_angles_of_other_joints_are_never_wrapped(kind: str) -> None:
    model = model_of(random_parts(0, [kind]))
    q0, q1 = np.zeros(model.nq), np.full(model.nq, 7.0 * np.pi)
    np.testing.assert_array_equal(model.difference(q0, q1), q1)
    np.testing.assert_array_equal(model.integrate(q0, q1, 2.0), 2.0 * q1)


@pytest.mark.oracle
@each('angle', [1e-8, 0.5, 3.0, 5.0, 1000.0])
def test_steps_and_differences_are_pinocchios(angle: float) -> None:
    pinocchio = pytest.importorskip('pinocchio')
    other = pinocchio.Model()
    other.addJoint(0, pinocchio.JointModelFreeFlyer(), pinocchio.SE3.Identity(), 'free')
    parts = random_parts(0, ['floating'])
    model, (q, qd, _) = model_of(parts), random_motion(0, parts)
    v = np.concatenate([angle * AXIS, qd[3:]])
    # Roundings of an angle of 1000 rad are a thousand times those of 1 rad. Pinocchio's
    # velocities are [linear; angular].
    atol, there = 1e-10 * max(1.0, angle), model.integrate(q, v, 1.0)
    expected = pinocchio.integrate(other, q, np.roll(v, 3))
    assert_equal(same_side(expected, there, parts), there, atol=atol)
    expected = pinocchio.difference(other, q, there)
    assert_equal(np.roll(model.difference(q, there), 3), expected, atol=atol)


@each('kind', QUATERNIONS)
@each('length', [0.0, 0.5, 1.0 - 2e-6, 1.0 - 9e-7, 1.0 + 9e-7, 1.0 + 2e-6, 1e200])
def test_a_length_within_a_millionth_is_taken_for_one(kind: str, length: float) -> None:
    parts = random_parts(0, ['revolute', kind, 'prismatic'])
    model, (good, _, _) = model_of(parts), random_motion(0, parts)
    near, rest = good.copy(), np.zeros(model.nv)
    near[-5:-1] *= length
    if abs(length - 1.0) < 1e-6:
        found = model.inverse_dynamics(near, rest, rest)
        np.testing.assert_allclose(
            found, model.inverse_dynamics(good, rest, rest), rtol=1e-13, atol=1e-14
        )
    else:
        with pytest.raises(InputError, match=rf"^q: .*joint '{kind}_1' has length"):
            model.inverse_dynamics(near, rest, rest)
    if length:
        np.testing.assert_allclose(model.normalised(near), good, rtol=1e-13)
    else:
        with pytest.raises(InputError, match=rf"^q: the quaternion of joint '{kind}_1' is zero"):
            model.normalised(near)


def test_the_neutral_position_is_a_position() -> None:
    parts = random_parts(0, MOVING)
    model = model_of(parts)
    q = model.neutral_position
    for part, where, _ in places(parts):
        unit = part.kind in QUATERNIONS
        np.testing.assert_array_equal(q[where], [*np.zeros(where.stop - where.start - 1), unit])
    q[:] = 7.0
    assert model.neutral_position.max() == 1.0
