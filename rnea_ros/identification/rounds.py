# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The fit in rounds: each round solves linear equations with quantities from the previous result.

Load-dependent friction, the smoothing velocity v_s and the weights make the problem non-linear.
Each round takes the rigid-body load, the noise sigma of each joint and Huber's weights from the
previous result, searches for v_s, and solves linear equations for the other unknowns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..feedforward.friction import JointFriction
from ..recordings import huber_weights, weighted_rms
from ..robot import RobotModel
from .equations import START, TERMS, Equations, search_smoothing, terms
from .fit import Problem, solve
from .pseudo_inertia import regular

ROUNDS = 4  # number of rounds; the fourth round changes the result little
HUBER = 3.0  # larger residuals, in sigma, have a linear instead of a quadratic cost (Huber 1964)

LOAD_SPREAD = 5.0
"""Least standard deviation of a joint's load, in sigma, to fit friction that depends on it."""

OFFSET_SHARE = 0.1
"""
Scale o_0 of the offset of a joint's effort, as a share of its RMS effort.

It matters only if the data do not separate offset and gravity, as in a vertical prismatic joint.
"""

BOUND_WEIGHT = 10.0  # weight of the soft bounds of the bodies, per sample

MIN_NOISE = 1e-4  # least sigma, as a share of the RMS effort; recordings without noise need it


@dataclass(frozen=True)
class Fitted:
    """The result of the last round."""

    # Unknowns, shape (p,): standard parameters of the bodies, then a, B, C, k and o of all joints
    # (see ``terms``).
    x: Array
    smoothing: Array  # smoothing velocity v_s of each joint, shape (n,), rad/s or m/s
    sigma: Array  # RMS residual of each joint, shape (n,), N m or N
    factor: Array  # triangular factor of the equations, shape (p + 1, p + 1)
    problem: Problem  # prior and constraints
    load: Array  # rigid-body efforts of the fitted bodies, shape (N, n), N m or N
    residual: Array  # measured minus fitted effort, NaN in unused rows, shape (N, n), N m or N
    weights: Array  # of the squared equations, shape (N, n)


def fit_in_rounds(
    equations: Equations, prior: RobotModel, prior_weight: float, free_bodies: NDArray[np.bool_],
    keep_friction: JointFriction | None = None, bounds: tuple[Array, Array] | None = None
) -> Fitted:
    """
    Return the result of the last round; known friction is kept, not fitted.

    The weight of the URDF is per sample; ``bounds`` are soft bounds A phi <= b of the bodies.
    """
    used = equations.used
    weights = used.astype(np.float64)
    rms_effort = weighted_rms(equations.effort, weights)
    rms_effort = np.where(rms_effort > 0.0, rms_effort, 1.0)
    sigma = rms_effort
    problem = _problem(prior, prior_weight * len(equations), free_bodies, rms_effort)
    if bounds is not None and free_bodies.any():
        root = np.sqrt(BOUND_WEIGHT * len(equations))
        problem = replace(problem, bounds=(root * bounds[0], root * bounds[1]))
    n = len(sigma)
    smoothing = np.full(n, START)
    with_load = np.zeros(n, dtype=bool)
    load = equations.rigid(prior)
    for _ in range(ROUNDS):
        effort = equations.effort
        if keep_friction is not None:
            effort = effort - keep_friction.friction(equations.qd, load)
        elif equations.qd.any():
            smoothing = search_smoothing(equations, load, weights, with_load)
        columns = terms(equations.qd, equations.qdd, load, smoothing)
        moves = used.any(axis=0)
        slides = moves & equations.qd.any(axis=0)  # not for poses at rest
        friction = slides & (keep_friction is None)
        free = np.concatenate([
            np.repeat(free_bodies, 10), slides, friction, friction, friction & with_load, moves
        ])
        problem = replace(problem, free=free)
        (factor,) = equations.reduced(columns, effort, weights / sigma**2)
        x = solve(factor, problem)
        bodies, joints = x[: -TERMS * n], x[-TERMS * n :].reshape(TERMS, n)
        load = equations.rigid(prior.with_inertial_parameters(bodies))
        residual = effort - load - np.einsum('ijk,kj->ij', columns, joints)
        residual = np.where(used, residual, np.nan)
        sigma = np.maximum(weighted_rms(residual, weights), MIN_NOISE * rms_effort)
        weights = used * huber_weights(residual, sigma, HUBER)
        with_load = _standard_deviation(load, used) > LOAD_SPREAD * sigma
    return Fitted(x, smoothing, sigma, factor, problem, load, residual, weights / sigma**2)


def _problem(
    prior: RobotModel, weight: float, free_bodies: NDArray[np.bool_], rms_effort: Array
) -> Problem:
    """Return prior and constraints; each round sets the unknowns to fit."""
    n = len(rms_effort)
    phi = prior.inertial_parameters
    phi = np.where(np.repeat(free_bodies, 10), regular(phi), phi)
    p = phi.size + TERMS * n
    positive, offset_weights = np.zeros(p, dtype=bool), np.zeros(p)
    positive[phi.size : p - n] = True
    offset_weights[p - n :] = 1.0 / (OFFSET_SHARE * rms_effort) ** 2
    fixed = np.concatenate([phi, np.zeros(TERMS * n)])
    return Problem(phi, weight, positive, offset_weights, np.zeros(p, dtype=bool), fixed)


def _standard_deviation(values: Array, used: NDArray[np.bool_]) -> Array:
    """Return the standard deviation of the used rows of each column, shape (n,)."""
    count = np.maximum(used.sum(axis=0), 1)
    mean = np.where(used, values, 0.0).sum(axis=0) / count
    return np.asarray(np.sqrt(np.where(used, (values - mean) ** 2, 0.0).sum(axis=0) / count))
