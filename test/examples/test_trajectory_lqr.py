# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The example of the derivatives: a linear-quadratic regulator about a trajectory."""

import numpy as np
import pytest

from support.models.oracle_pairs import rate
from support.models.robots import load

pytest.importorskip('mujoco')

import trajectory_lqr as example


def test_the_regulator_brings_the_arm_back_to_its_trajectory() -> None:
    alone, regulated = example.errors(regulated=False), example.errors(regulated=True)
    start = np.abs(example.OFFSET).max()
    np.testing.assert_allclose([alone[0], regulated[0]], start, rtol=1e-12)
    assert alone[-1] > 1.0
    assert regulated[-1] < 1e-3
    assert regulated.max() < 1.5 * start


def test_gains_of_a_long_rest_solve_the_algebraic_riccati_equation() -> None:
    linalg = pytest.importorskip('scipy.linalg')
    model, n, h = load(example.URDF), 7, example.PERIOD
    q, rest = example.END, np.zeros(7)
    tau = model.gravity_torques(q)
    K = example.gains(model, *(np.tile(row, (4000, 1)) for row in (q, rest, tau)))[0]
    # The linear system by finite differences, its discrete form by the matrix exponential
    by_q = np.column_stack([
        rate(lambda t, e=unit: model.forward_dynamics(q + t * e, rest, tau))  # type: ignore[misc]
        for unit in np.eye(n)
    ])
    by_tau = np.linalg.inv(model.mass_matrix(q))
    system = np.zeros((3 * n, 3 * n))
    system[:n, n : 2 * n] = np.eye(n)
    system[n : 2 * n, :n], system[n : 2 * n, 2 * n :] = by_q, by_tau
    discrete = linalg.expm(h * system)
    A, B = discrete[: 2 * n, : 2 * n], discrete[: 2 * n, 2 * n :]
    Q = h * np.diag([example.POSITION_COST] * n + [example.VELOCITY_COST] * n)
    R = h * example.EFFORT_COST * np.eye(n)
    P = linalg.solve_discrete_are(A, B, Q, R)
    expected = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    # The example's step is of order 2.
    np.testing.assert_allclose(K, expected, rtol=0.0, atol=1e-2 * np.abs(expected).max())
