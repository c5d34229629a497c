# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A joint turns about, or slides along, the body's own z axis."""

from __future__ import annotations

from typing import cast

import numpy as np
from oracles import Array, motion_transform, random_rotation
import pytest

from rnea_ros.dynamics.joints import JointKind, joint_effort, joint_motion, joint_transform
from rnea_ros.dynamics.spatial import Matrix3, SpatialVector, Vector3

SEEDS = range(5)
ANGLES = [-7.0, -np.pi, -0.3, 0.0, 0.3, np.pi / 2, np.pi, 100.0]
SUBSPACES = [
    pytest.param(JointKind.REVOLUTE, np.array([0.0, 0, 1, 0, 0, 0]), id='revolute'),
    pytest.param(JointKind.PRISMATIC, np.array([0.0, 0, 0, 0, 0, 1]), id='prismatic'),
]


def transform(kind: JointKind, q: float, E_T: Array, r_T: Array) -> Array:
    """Return joint_transform's result as a six by six matrix."""
    rows = cast(Matrix3, tuple(tuple(map(float, row)) for row in E_T))
    E, r = joint_transform(int(kind), q, rows, cast(Vector3, tuple(map(float, r_T))))
    return motion_transform(np.array(E), np.array(r))


def joint_alone(kind: JointKind, q: float) -> Array:
    """Return X_J of the book's table 4.1."""
    c, s = np.cos(q), np.sin(q)
    if kind == JointKind.REVOLUTE:
        return motion_transform(np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]), np.zeros(3))
    return motion_transform(np.eye(3), np.array([0.0, 0.0, q]))


@pytest.mark.parametrize('kind', JointKind)
@pytest.mark.parametrize('q', ANGLES)
def test_the_transform_is_the_joints_after_the_trees(kind: JointKind, q: float) -> None:
    rng = np.random.default_rng(0)
    E_T, r_T = random_rotation(rng), rng.normal(size=3)
    np.testing.assert_allclose(
        transform(kind, q, E_T, r_T),
        joint_alone(kind, q) @ motion_transform(E_T, r_T),
        rtol=1e-9,
        atol=1e-10,
    )


@pytest.mark.parametrize('kind', JointKind)
def test_at_zero_only_the_trees_transform_is_left(kind: JointKind) -> None:
    rng = np.random.default_rng(1)
    E_T, r_T = random_rotation(rng), rng.normal(size=3)
    np.testing.assert_array_equal(transform(kind, 0.0, E_T, r_T), motion_transform(E_T, r_T))


def test_a_positive_angle_turns_x_towards_y() -> None:
    X = transform(JointKind.REVOLUTE, np.pi / 2, np.eye(3), np.zeros(3))
    body_x_in_parent = X[:3, :3].T @ np.array([1.0, 0.0, 0.0])
    np.testing.assert_allclose(body_x_in_parent, [0.0, 1.0, 0.0], atol=1e-15)


def test_a_slide_goes_along_the_bodys_own_z() -> None:
    on_its_side = np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]])  # the body's z is the parent's x
    X = transform(JointKind.PRISMATIC, 2.0, on_its_side, np.zeros(3))
    np.testing.assert_array_equal(X, motion_transform(on_its_side, np.array([2.0, 0.0, 0.0])))


@pytest.mark.parametrize(('kind', 'S'), SUBSPACES)
def test_the_joints_motion_is_its_subspace_times_the_rate(kind: JointKind, S: Array) -> None:
    np.testing.assert_array_equal(np.concatenate(joint_motion(int(kind), 1.5)), 1.5 * S)


@pytest.mark.parametrize(('kind', 'S'), SUBSPACES)
@pytest.mark.parametrize('seed', SEEDS)
def test_the_joints_effort_is_its_subspaces_share(kind: JointKind, S: Array, seed: int) -> None:
    f = np.random.default_rng(seed).normal(size=6)
    spatial: SpatialVector = cast(SpatialVector, (tuple(f[:3].tolist()), tuple(f[3:].tolist())))
    assert joint_effort(int(kind), spatial) == S @ f


@pytest.mark.parametrize(('kind', 'S'), SUBSPACES)
@pytest.mark.parametrize('q', ANGLES)
def test_the_motion_is_the_rate_of_the_transform(kind: JointKind, S: Array, q: float) -> None:
    # dX/dq = -(S x) X, by central differences.
    h = 1e-5
    rng = np.random.default_rng(2)
    E_T, r_T = random_rotation(rng), rng.normal(size=3)
    slope = (transform(kind, q + h, E_T, r_T) - transform(kind, q - h, E_T, r_T)) / (2 * h)
    a, b = S[:3], S[3:]
    rotation = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    translation = np.array([[0, -b[2], b[1]], [b[2], 0, -b[0]], [-b[1], b[0], 0]])
    S_cross = np.block([[rotation, np.zeros((3, 3))], [translation, rotation]])
    np.testing.assert_allclose(
        slope, -S_cross @ transform(kind, q, E_T, r_T), rtol=1e-6, atol=1e-6
    )
