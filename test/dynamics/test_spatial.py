# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The algebra in tuples is that of the book's six by six matrices."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from rnea_ros.dynamics.kernels import spatial, vectors
from rnea_ros.dynamics.kernels.spatial import SpatialVector
from rnea_ros.dynamics.kernels.vectors import Matrix3, Vector3
from support.models.oracles import (
    Array,
    force_transform,
    motion_cross,
    motion_transform,
    random_moments,
    random_rotation,
    skew,
    spatial_inertia,
)

SEEDS = range(5)


@pytest.fixture(params=SEEDS)
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng(request.param)


def triple(a: Array) -> Vector3:
    return cast(Vector3, tuple(map(float, a)))


def rows(A: Array) -> Matrix3:
    return cast(Matrix3, tuple(map(triple, A)))


def pair(m: Array) -> SpatialVector:
    return (triple(m[:3]), triple(m[3:]))


def flat(m: SpatialVector) -> Array:
    return np.concatenate(m)


def assert_equal(actual: Any, expected: Any) -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-10)


def test_sums_of_spatial_vectors_are_those_of_their_six_numbers(rng: np.random.Generator) -> None:
    a, b = rng.normal(size=(2, 6))
    assert_equal(flat(spatial.add(pair(a), pair(b))), a + b)
    assert_equal(flat(spatial.subtract(pair(a), pair(b))), a - b)


def test_rotate_is_the_matrix_product_and_rotate_back_its_transpose(
    rng: np.random.Generator,
) -> None:
    E, a = random_rotation(rng), rng.normal(size=3)
    assert_equal(vectors.rotate(rows(E), triple(a)), E @ a)
    assert_equal(vectors.rotate_back(rows(E), triple(a)), E.T @ a)


def test_transform_motion_is_the_pluecker_transform(rng: np.random.Generator) -> None:
    E, r, m = random_rotation(rng), rng.normal(size=3), rng.normal(size=6)
    actual = spatial.transform_motion(rows(E), triple(r), pair(m))
    assert_equal(flat(actual), motion_transform(E, r) @ m)


def test_transform_force_back_is_the_transpose_of_the_motion_transform(
    rng: np.random.Generator,
) -> None:
    E, r, f = random_rotation(rng), rng.normal(size=3), rng.normal(size=6)
    actual = flat(spatial.transform_force_back(rows(E), triple(r), pair(f)))
    assert_equal(actual, motion_transform(E, r).T @ f)
    assert_equal(actual, np.linalg.inv(force_transform(E, r)) @ f)


def test_cross_motion_is_the_books_matrix(rng: np.random.Generator) -> None:
    v, m = rng.normal(size=(2, 6))
    assert_equal(flat(spatial.cross_motion(pair(v), pair(m))), motion_cross(v) @ m)


def test_cross_force_is_minus_the_transpose_of_cross_motion(rng: np.random.Generator) -> None:
    v, f = rng.normal(size=(2, 6))
    assert_equal(flat(spatial.cross_force(pair(v), pair(f))), -motion_cross(v).T @ f)


def test_apply_inertia_is_the_books_matrix(rng: np.random.Generator) -> None:
    mass, com, J_com, m = rng.uniform(1, 5), rng.normal(size=3), random_moments(rng), rng.normal(
        size=6
    )
    J = J_com + mass * skew(com) @ skew(com).T
    actual = spatial.apply_inertia(mass, triple(mass * com), rows(J), pair(m))
    assert_equal(flat(actual), spatial_inertia(mass, com, J_com) @ m)


def test_what_is_stored_is_loaded(rng: np.random.Generator) -> None:
    a, m, E = rng.normal(size=3), rng.normal(size=6), rng.normal(size=(3, 3))
    stored3, stored6, stored33 = np.empty(3), np.empty(6), np.empty((3, 3))
    vectors.store3(stored3, triple(a))
    spatial.store(stored6, pair(m))
    vectors.store33(stored33, rows(E))
    np.testing.assert_array_equal(stored3, a)
    np.testing.assert_array_equal(stored6, m)
    np.testing.assert_array_equal(stored33, E)
    assert vectors.load3(stored3) == triple(a)
    assert spatial.load(stored6) == pair(m)
    assert vectors.load33(stored33) == rows(E)


def test_an_array_holds_the_angular_part_first() -> None:
    assert spatial.load(np.arange(6.0)) == ((0.0, 1.0, 2.0), (3.0, 4.0, 5.0))
