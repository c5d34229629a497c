# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Pseudo-inertias: positive definite for real bodies, and priors that are always real."""

import numpy as np

from rnea_ros.identification.pseudo_inertia import pseudo_inertias, regular, standard_parameters
from support.models.robots import ROOT, joint, link, load, robot
from support.recorded.simulated_arms import min_eigenvalues


def cloud(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return masses and places of some points."""
    random = np.random.default_rng(seed)
    return random.uniform(0.1, 1.0, 5), random.normal(size=(5, 3))


def test_the_pseudo_inertia_of_points_is_their_second_moment() -> None:
    masses, places = cloud(1)
    homogeneous = np.column_stack([places, np.ones(5)])
    J = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, places, strict=True))
    phi = np.array([
        masses.sum(), *(masses @ places), J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2],
    ])
    expected = (homogeneous.T * masses) @ homogeneous
    np.testing.assert_allclose(pseudo_inertias(phi)[0], expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(standard_parameters(expected[np.newaxis]), phi, rtol=1e-9)
    assert min_eigenvalues(phi)[0] > 0.0


def test_a_regular_prior_keeps_real_bodies_and_repairs_others() -> None:
    phi = load(ROOT / 'urdf/ur5e.urdf').inertial_parameters
    np.testing.assert_allclose(regular(phi), phi, rtol=1e-9, atol=1e-12)
    point = robot(link('base'), link('a', 2.0, (0.1, 0, 0), (0,) * 6), link('b'),
                  joint('j', 'revolute', 'base', 'a'), joint('k', 'revolute', 'a', 'b'))
    degenerate = load(point).inertial_parameters
    assert not (min_eigenvalues(degenerate) > 0.0).any()
    repaired = regular(degenerate)
    assert (min_eigenvalues(repaired) > 0.0).all()
    np.testing.assert_allclose(repaired[:4], degenerate[:4], rtol=1e-9)
