# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Rounds of the fit: what makes the equations linear is estimated again from each result.

Each round takes the rigid-body load, the noise sigma of each joint and Huber's weights from the
result before, searches v_s, and solves the linear problem.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..feedforward.law import JointFriction
from ..robot import RobotModel
from .equations import Equations, triangular
from .fit import Problem, solve
from .friction_terms import TERMS, search_smoothing, terms
from .pseudo_inertia import regular

ROUNDS = 4
"""Number of rounds; the results of the fourth differ little from those of the third."""

HUBER = 3.0
"""Residuals beyond this many sigma count linearly, not squared (Huber 1964)."""

LOAD_SPREAD = 5.0
"""Least spread of a joint's load, in sigma, for an estimate of load-dependent friction."""

OFFSET_SHARE = 0.1
"""
Scale o_0 of an offset, as a share of the joint's effort.

It decides only where offset and gravity cannot be told apart, as in a vertical prismatic joint.
"""

LEAST_NOISE = 1e-4
"""Least sigma, as a share of a joint's effort; simulated recordings may have no noise at all."""


@dataclass(frozen=True)
class Fitted:
    """
    The result of the last round.

    :param x: unknowns, shape (p,): bodies, then a, B, C, k, o of the joints
    :param smoothing: v_s, shape (n,), rad/s or m/s
    :param sigma: noise of each joint, shape (n,), N m or N
    :param factors: reduced equations of each block, shape (blocks, p + 1, p + 1)
    :param problem: prior and constraints
    :param residual: of all rows, shape (N, n), N m or N
    """

    x: Array
    smoothing: Array
    sigma: Array
    factors: Array
    problem: Problem
    residual: Array


def fit_in_rounds(
    equations: Equations,
    prior: RobotModel,
    prior_weight: float,
    free_bodies: NDArray[np.bool_],
    keep_friction: JointFriction | None = None,
    rounds: int = ROUNDS,
) -> Fitted:
    """
    Return the fit of all rounds.

    :param equations: motion and efforts
    :param prior: the model of the URDF
    :param prior_weight: weight of the URDF, per sample
    :param free_bodies: which bodies are fitted, shape (bodies,)
    :param keep_friction: friction that is not fitted
    :param rounds: number of rounds
    """
    used = equations.used
    weights = used.astype(np.float64)
    size = weighted_rms(equations.effort, weights)
    size = np.where(size > 0.0, size, 1.0)
    sigma = size
    problem = _problem(equations, prior, prior_weight * len(equations), free_bodies, sigma)
    n = len(sigma)
    smoothing = np.full(n, 0.05)
    with_load = np.zeros(n, dtype=bool)
    load = equations.rigid(prior)
    for _ in range(rounds):
        effort = equations.effort
        if keep_friction is not None:
            effort = effort - keep_friction.friction(equations.qd, load)
        else:
            smoothing = search_smoothing(equations, load, weights, with_load)
        columns = terms(equations.qd, equations.qdd, load, smoothing)
        problem = replace(problem, free=_free(used, free_bodies, with_load, keep_friction))
        factors = equations.reduced(columns, effort, weights / sigma**2)
        x = solve(triangular(np.concatenate(list(factors))), problem)
        bodies, joints = x[: -TERMS * n], x[-TERMS * n :].reshape(TERMS, n)
        load = equations.rigid(prior.with_inertial_parameters(bodies))
        residual = effort - load - np.einsum('ijk,kj->ij', columns, joints)
        residual = np.where(used, residual, np.nan)
        sigma = np.maximum(weighted_rms(residual, weights), LEAST_NOISE * size)
        weights = used * huber_weights(residual, sigma)
        with_load = _spread(load, used) > LOAD_SPREAD * sigma
    return Fitted(x, smoothing, sigma, factors, problem, residual)


def _problem(
    equations: Equations,
    prior: RobotModel,
    weight: float,
    free_bodies: NDArray[np.bool_],
    size: Array,
) -> Problem:
    """Return prior and constraints, without the choice of unknowns."""
    n = len(size)
    phi = prior.inertial_parameters
    phi = np.where(np.repeat(free_bodies, 10), regular(phi), phi)
    p = phi.size + TERMS * n
    positive, pull = np.zeros(p, dtype=bool), np.zeros(p)
    positive[phi.size : p - n] = True
    pull[p - n :] = 1.0 / (OFFSET_SHARE * size) ** 2
    fixed = np.concatenate([phi, np.zeros(TERMS * n)])
    return Problem(phi, weight, positive, pull, np.zeros(p, dtype=bool), fixed)


def _free(
    used: NDArray[np.bool_],
    free_bodies: NDArray[np.bool_],
    with_load: NDArray[np.bool_],
    keep_friction: JointFriction | None,
) -> NDArray[np.bool_]:
    """Return which unknowns are fitted, shape (p,)."""
    moves = used.any(axis=0)
    friction = moves & (keep_friction is None)
    joints = [moves, friction, friction, friction & with_load, moves]
    return np.concatenate([np.repeat(free_bodies, 10), *joints])


def huber_weights(residual: Array, sigma: Array) -> Array:
    """
    Return the weights of squared residuals, shape (N, n); 1 for NaN.

    :param residual: shape (N, n), N m or N
    :param sigma: noise of each joint, shape (n,), N m or N
    """
    size = np.abs(np.nan_to_num(residual)) / sigma
    return np.minimum(1.0, HUBER / np.maximum(size, HUBER))


def weighted_rms(values: Array, weights: Array) -> Array:
    """
    Return the RMS of each column, 0 without rows, shape (n,).

    :param values: shape (N, n)
    :param weights: of the squares, shape (N, n)
    """
    total = np.maximum(weights.sum(axis=0), np.finfo(float).tiny)
    squares = (weights * np.nan_to_num(values) ** 2).sum(axis=0)
    rms: Array = np.sqrt(squares / total)
    return rms


def _spread(values: Array, used: NDArray[np.bool_]) -> Array:
    """Return the standard deviation of the used rows of each column, shape (n,)."""
    count = np.maximum(used.sum(axis=0), 1)
    mean = np.where(used, values, 0.0).sum(axis=0) / count
    spread: Array = np.sqrt(np.where(used, (values - mean) ** 2, 0.0).sum(axis=0) / count)
    return spread
