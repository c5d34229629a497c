# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Generalised momentum and its rate: p = M qd, and dp/dt = tau + C^T qd - g."""

import numpy as np

from rnea_ros import BaseMotion, RobotModel
from rnea_ros.dynamics.kernels import BASE, generalised_momentum
from support.cases import each
from support.models.joint_trees import MOVING, model_of, random_parts
from support.models.oracle_pairs import PAIRS, random_motion, random_pair, rate
from support.models.oracles import Array

ROBOTS = [
    *(pair.model for pair in PAIRS.values()), *(random_pair(seed).model for seed in range(5, 15)),
    *(model_of(random_parts(seed, MOVING)) for seed in range(4)),
]


def momentum_and_rate(model: RobotModel, q: Array, qd: Array, w: Array) -> Array:
    """Return p and C^T qd - g, where the base has another angular velocity."""
    workspace = model.workspace()
    workspace.bodies[BASE]['v'][:3] = w
    weights, results = np.full((len(workspace.bodies), 6), np.nan), np.full((2, model.nv), np.nan)
    generalised_momentum(workspace.bodies, weights, q, qd, *results)
    return results


@each('model', [model for model in ROBOTS if model.nv])
def test_momentum_is_m_qd_and_its_rate_holds_on_a_base_that_moves(model: RobotModel) -> None:
    (q, qd, qdd), rest = random_motion(model, 0), np.zeros(3)
    p, _ = momentum_and_rate(model, q, qd, rest)
    np.testing.assert_allclose(p, model.mass_matrix(q) @ qd, rtol=1e-9, atol=1e-9)
    v, w, a, alpha = np.random.default_rng(0).normal(scale=2.0, size=(4, 3))
    moving = model.with_base_motion(BaseMotion(v, w, a, alpha))
    for robot, turn, growth in ((model, rest, rest), (moving, w, alpha)):

        def momentum(t: float, growth: Array = growth, turn: Array = turn) -> Array:
            there = model.integrate(q, qd + 0.5 * qdd * t, t)
            return momentum_and_rate(model, there, qd + qdd * t, turn + growth * t)[0]

        tau = robot.inverse_dynamics(q, qd, qdd)
        expected = tau + momentum_and_rate(robot, q, qd, turn)[1]
        atol = 1e-6 * (1.0 + np.abs(expected).max())
        np.testing.assert_allclose(rate(momentum), expected, rtol=1e-6, atol=atol)
