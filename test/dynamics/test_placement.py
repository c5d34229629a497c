# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Placements compose as homogeneous matrices do, and roll, pitch and yaw are URDF's."""

from __future__ import annotations

import numpy as np
import pytest

from rnea_ros.dynamics.tree import Placement
from rnea_ros.dynamics.tree.placement import rotation_from_z_to
from support.models.oracles import Array, random_rotation

SEEDS = range(5)
QUARTER = np.pi / 2

AXES = [
    pytest.param(np.array(axis), id=str(axis))
    for axis in (
        (0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0),
        (0.0, -1.0, 0.0), (1.0, 1.0, 0.0), (1.0, -2.0, 3.0), (1.0, 2.0, -3.0),
        # As CAD exports round them: almost z, and almost -z, from either side.
        *((x, y, z) for x, y in ((1e-4, 0.0), (3e-6, -4e-6), (1e-7, 1e-9), (0.0, 1e-16))
          for z in (1.0, -1.0)),
    )
]


def random_placement(rng: np.random.Generator) -> Placement:
    return Placement(random_rotation(rng), rng.normal(size=3))


def turn(axis: int, angle: float) -> Array:
    """Return the elementary rotation about an axis."""
    c, s = np.cos(angle), np.sin(angle)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[j, j] = R[k, k] = c
    R[k, j], R[j, k] = s, -s
    return R


@pytest.mark.parametrize('seed', SEEDS)
def test_roll_pitch_yaw_turn_about_fixed_axes_in_this_order(seed: int) -> None:
    roll, pitch, yaw = rpy = np.random.default_rng(seed).uniform(-4.0, 4.0, size=3)
    actual = Placement.from_xyz_rpy((0.0, 0.0, 0.0), rpy.tolist()).rotation
    expected = turn(2, yaw) @ turn(1, pitch) @ turn(0, roll)
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(
    ('rpy', 'y_axis'),
    [
        ((QUARTER, 0.0, 0.0), (0.0, 0.0, 1.0)),
        ((0.0, QUARTER, 0.0), (0.0, 1.0, 0.0)),
        ((0.0, 0.0, QUARTER), (-1.0, 0.0, 0.0)),
        ((QUARTER, 0.0, QUARTER), (0.0, 0.0, 1.0)),
        ((QUARTER, QUARTER, 0.0), (1.0, 0.0, 0.0)),
    ],
)
def test_quarter_turns_put_y_where_it_belongs(
    rpy: tuple[float, float, float], y_axis: tuple[float, float, float]
) -> None:
    rotation = Placement.from_xyz_rpy((0.0, 0.0, 0.0), rpy).rotation
    np.testing.assert_allclose(rotation[:, 1], y_axis, atol=1e-15)


def test_the_matrix_holds_rotation_and_translation() -> None:
    placement = random_placement(np.random.default_rng(0))
    matrix = placement.matrix()
    np.testing.assert_array_equal(matrix[:3, :3], placement.rotation)
    np.testing.assert_array_equal(matrix[:3, 3], placement.translation)
    np.testing.assert_array_equal(matrix[3], [0.0, 0.0, 0.0, 1.0])


@pytest.mark.parametrize('direction', AXES)
def test_z_is_turned_onto_any_axis_by_a_rotation(direction: Array) -> None:
    axis = direction / np.linalg.norm(direction)
    R = rotation_from_z_to(axis)
    # To the last digits: this is done once, and every later result inherits its error.
    np.testing.assert_allclose(R[:, 2], axis, rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(R @ R.T, np.eye(3), rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(np.linalg.det(R), 1.0, rtol=1e-15)


@pytest.mark.parametrize('seed', SEEDS)
def test_placements_compose_as_matrices(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = random_placement(rng), random_placement(rng)
    np.testing.assert_allclose((a @ b).matrix(), a.matrix() @ b.matrix(), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize('seed', SEEDS)
def test_the_inverse_is_the_matrixs(seed: int) -> None:
    placement = random_placement(np.random.default_rng(seed))
    np.testing.assert_allclose(
        placement.inverse().matrix(), np.linalg.inv(placement.matrix()), rtol=1e-9, atol=1e-10
    )
    there_and_back = (placement @ placement.inverse()).matrix()
    np.testing.assert_allclose(there_and_back, np.eye(4), atol=1e-10)
