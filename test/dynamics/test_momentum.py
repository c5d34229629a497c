# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Generalised momentum and its rate: p = M qd, and dp/dt = tau + C^T qd - g."""

import numpy as np
import pytest

from rnea_ros import BaseMotion, RobotModel
from rnea_ros.dynamics.kernels import BASE, generalised_momentum
from support.cases import each
from support.models.joint_trees import PinocchioTree, model_of, random_kinds, random_parts
from support.models.joint_trees import random_motion as random_tree_motion
from support.models.oracle_pairs import random_motion, random_pair, rate
from support.models.oracles import Array


def momentum_and_rate(
    model: RobotModel, q: Array, qd: Array, base_rate: Array | None = None
) -> tuple[Array, Array]:
    """Return p and C^T qd - g; with another angular velocity of the base, if one is given."""
    workspace = model.workspace()
    if base_rate is not None:
        workspace.bodies[BASE]['v'][:3] = base_rate
    weights = np.full((len(workspace.bodies), 6), np.nan)
    p, without_efforts = np.full((2, model.nv), np.nan)
    generalised_momentum(workspace.bodies, weights, q, qd, p, without_efforts)
    return p, without_efforts


def assert_rate_holds(model: RobotModel, seed: int, w: Array, alpha: Array) -> None:
    """Compare dp/dt of a motion, by differences, on a base that turns and accelerates."""
    q, qd, qdd = random_motion(model, seed)
    expected = model.inverse_dynamics(q, qd, qdd) + momentum_and_rate(model, q, qd)[1]

    def p(t: float) -> Array:
        moved = model.integrate(q, qd + 0.5 * qdd * t, t)
        return momentum_and_rate(model, moved, qd + qdd * t, w + alpha * t)[0]

    size = 1.0 + np.abs(expected).max()
    np.testing.assert_allclose(rate(p), expected, rtol=1e-6, atol=1e-6 * size)


@each('seed', range(30))
def test_its_rate_holds_on_random_trees_with_mimic_joints(seed: int) -> None:
    model, rng = random_pair(seed).model, np.random.default_rng(seed)
    if not model.nv:
        return
    q, qd, _ = random_motion(model, seed)
    p, _ = momentum_and_rate(model, q, qd)
    np.testing.assert_allclose(p, model.mass_matrix(q) @ qd, rtol=1e-9, atol=1e-9)
    assert_rate_holds(model, seed, np.zeros(3), np.zeros(3))
    v, w, a, alpha = rng.normal(scale=2.0, size=(4, 3))
    assert_rate_holds(model.with_base_motion(BaseMotion(v, w, a, alpha)), seed, w, alpha)


@pytest.mark.oracle
@each('seed', range(20))
def test_it_is_pinocchios_on_trees_with_joints_of_every_type(seed: int) -> None:
    parts = random_parts(seed, random_kinds(seed))
    oracle, model = PinocchioTree(parts), model_of(parts)
    if not model.nv:
        return
    q, qd, _ = random_tree_motion(seed, parts)
    p, _ = momentum_and_rate(model, q, qd)
    np.testing.assert_allclose(p, oracle.mass_matrix(q) @ qd, rtol=1e-9, atol=1e-9)
