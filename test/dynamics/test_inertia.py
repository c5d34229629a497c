# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Ten numbers carry what the book's six by six inertia carries."""

from __future__ import annotations

import numpy as np
import pytest

from rnea_ros.dynamics.tree import Placement, RigidBodyInertia
from support.models.oracles import (
    Array,
    random_moments,
    random_rotation,
    skew,
    spatial_inertia,
)

SEEDS = range(5)


@pytest.fixture(params=SEEDS)
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng(request.param)


def random_inertia(rng: np.random.Generator) -> RigidBodyInertia:
    return RigidBodyInertia.from_centre_of_mass(
        rng.uniform(0.1, 5.0), rng.normal(size=3), random_moments(rng)
    )


def random_placement(rng: np.random.Generator) -> Placement:
    return Placement(random_rotation(rng), rng.normal(size=3))


def matrix(inertia: RigidBodyInertia) -> Array:
    """Return the book's eq. 2.63."""
    H = skew(inertia.h)
    return np.block([[inertia.J, H], [H.T, inertia.mass * np.eye(3)]])


def assert_equal(actual: Array, expected: Array) -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-10)


def test_the_parallel_axis_theorem(rng: np.random.Generator) -> None:
    mass, com, J_com = rng.uniform(0.1, 5.0), rng.normal(size=3), random_moments(rng)
    inertia = RigidBodyInertia.from_centre_of_mass(mass, com, J_com)
    assert_equal(matrix(inertia), spatial_inertia(mass, com, J_com))


def test_a_body_is_the_sum_of_its_particles(rng: np.random.Generator) -> None:
    masses, points = rng.uniform(0.1, 1.0, size=8), rng.normal(size=(8, 3))
    total = RigidBodyInertia.zero()
    for mass, point in zip(masses, points, strict=True):
        total += RigidBodyInertia.from_centre_of_mass(mass, point, np.zeros((3, 3)))
    com = masses @ points / masses.sum()
    about_com = sum(
        mass * skew(point - com) @ skew(point - com).T
        for mass, point in zip(masses, points, strict=True)
    )
    assert_equal(matrix(total), spatial_inertia(masses.sum(), com, np.asarray(about_com)))


def test_a_sum_moves_as_its_parts_do(rng: np.random.Generator) -> None:
    a, b, placement = random_inertia(rng), random_inertia(rng), random_placement(rng)
    together = (a + b).transformed(placement)
    apart = a.transformed(placement) + b.transformed(placement)
    assert_equal(matrix(together), matrix(apart))


def test_a_body_without_mass_but_with_moments_is_only_turned(rng: np.random.Generator) -> None:
    J, placement = random_moments(rng), random_placement(rng)
    moved = RigidBodyInertia(0.0, np.zeros(3), J).transformed(placement)
    assert moved.mass == 0.0
    assert_equal(moved.h, np.zeros(3))
    assert_equal(moved.J, placement.rotation @ J @ placement.rotation.T)


def test_adding_changes_neither_part(rng: np.random.Generator) -> None:
    a, b = random_inertia(rng), random_inertia(rng)
    before = matrix(a).copy(), matrix(b).copy()
    (a + b).transformed(random_placement(rng))
    np.testing.assert_array_equal(matrix(a), before[0])
    np.testing.assert_array_equal(matrix(b), before[1])
