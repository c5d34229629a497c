# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The physically consistent fit of the equations R x = z, the triangular form of all samples.

::

    minimise  1/2 |R x - z|^2
              + lambda sum over bodies [tr(P0^-1 P) - log det(P0^-1 P) - 4]
              + lambda/2 sum over joints (o / o_0)^2
              + 1/2 |max(A phi - b, 0)|^2
              - mu sum over joints [log a + log B + log C + log k]

The second term is the entropic (Bregman) divergence of the pseudo-inertia P from P0, that of the
URDF (Lee, Wensing, Park, IEEE T-RO 36(3), 2020, eq. 22). It is infinite if P is not positive
definite, so the result is physical. The third term keeps the offsets o small; o_0 is their usual
size. The fourth term is a soft bound of the bodies. The last term keeps friction and rotor
inertias positive; its weight mu is reduced in steps. The function is convex: Newton's method with
a line search finds its minimum from any start.

Load-dependent friction, the smoothing velocity v_s and the weights make the problem non-linear.
Each round takes the rigid-body load, the noise sigma of each joint and Huber's weights from the
result before, searches for v_s, and solves for the other unknowns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Indices
from ..feedforward.laws import JointFriction
from ..recordings.robust import huber_weights, weighted_rms
from ..robot import RobotModel
from .equations import START, TERMS, Equations, search_smoothing, terms
from .pseudo_inertia import BASIS, pseudo_inertias, regular

BARRIERS = (1.0, 0.1, 0.01, 1e-3)  # weights mu in turn; the last one hardly shifts the result
ACCURACY = 1e-8  # Newton's method ends at a smaller improvement, half the squared decrement
MAX_STEPS = 60  # greatest number of Newton steps for one weight; 5 to 20 are usual
ROUNDS = 4  # number of rounds; the fourth round changes the result little
HUBER = 3.0  # larger residuals, in sigma, have a linear instead of a quadratic cost (Huber 1964)

LOAD_SPREAD = 5.0  # least deviation of a load, in sigma, to fit friction that depends on it
BOUND_WEIGHT = 10.0  # weight of the soft bounds of the bodies, per sample
MIN_NOISE = 1e-4  # least sigma, as a share of the RMS effort; recordings without noise need it

WINDING_WEIGHT = 1e-2  # of samples near a stop in the first round; alone, they decide
WINDING_NOISE = 3.0
"""
Factor of the sigma of samples near a stop: their errors are systematic, as in Dahl's model.

With 1, wind-up doubles the error of a real wrist; with infinity, arms that creep lose their data.
"""

OFFSET_SHARE = 0.1
"""
Scale o_0 of the offset of a joint's effort, as a share of its RMS effort.

It matters only if the data do not separate offset and gravity, as in a vertical prismatic joint.
"""


@dataclass(frozen=True)
class Problem:
    """Prior and constraints of a fit with p unknowns."""

    prior: Array  # standard parameters of the bodies, physical, shape (10 * bodies,)
    weight: float  # lambda
    positive: NDArray[np.bool_]  # which unknowns must be positive, shape (p,)
    offset_weights: Array  # 1 / o_0^2 for each offset, 0 for the other unknowns, shape (p,)
    free: NDArray[np.bool_]  # which unknowns are fitted, shape (p,)
    fixed: Array  # values of the others, shape (p,)
    bounds: tuple[Array, Array] | None = None  # A, b of A phi <= b, times the root of their weight

    @property
    def body_unknowns(self) -> Indices:
        """Numbers of the fitted bodies' unknowns, shape (bodies, 10); others may lack mass."""
        numbers = np.arange(self.prior.size).reshape(-1, 10)
        return numbers[self.free[: self.prior.size].reshape(-1, 10).all(axis=1)]

    def start(self) -> Array:
        """Return unknowns that keep all constraints, shape (p,)."""
        x = self.fixed.copy()
        bodies = self.free[: self.prior.size]
        x[: self.prior.size][bodies] = self.prior[bodies]
        x[self.free & self.positive] = 0.1
        return x

    @cached_property
    def trace(self) -> Array:
        """Derivative of tr(P0^-1 P) by the parameters of each fitted body, shape (bodies, 10)."""
        P0 = pseudo_inertias(self.prior[self.body_unknowns])
        return np.asarray(np.einsum('bij,kji->bk', np.linalg.inv(P0), BASIS))

    def excess(self, x: Array) -> tuple[Array, Array]:
        """Return the violated bounds' A, shape (any, 10 * bodies), and A phi - b."""
        if self.bounds is None:
            return np.zeros((0, self.prior.size)), np.zeros(0)
        A, b = self.bounds
        excess = A @ x[: self.prior.size] - b
        return A[excess > 0.0], excess[excess > 0.0]

    @property
    def urdf_curvature(self) -> Array:
        """Second derivative of the second and third term at the URDF, shape (p, p)."""
        return replace(self, bounds=None).prior_derivatives(self.fixed)[1]

    def prior_derivatives(self, x: Array) -> tuple[Array, Array]:
        """Return the derivatives of the second to fourth term at x, shapes (p,) and (p, p)."""
        offsets, rows = self.weight * self.offset_weights, self.body_unknowns
        g, H = offsets * x, np.diag(offsets)
        first, second = log_det_derivatives(pseudo_inertias(x[rows]))
        g[rows] += self.weight * (self.trace + first)
        H[rows[:, :, np.newaxis], rows[:, np.newaxis]] += self.weight * second
        A, excess = self.excess(x)
        bodies = slice(0, self.prior.size)
        g[bodies] += A.T @ excess
        H[bodies, bodies] += A.T @ A
        return g, H


def log_det_derivatives(P: Array) -> tuple[Array, Array]:
    """Return d(-log det P) = -tr(P^-1 E), shape (bodies, 10), and the second derivative."""
    A = np.linalg.inv(P)[:, np.newaxis] @ BASIS
    rows, columns = A.reshape(-1, 10, 16), A.swapaxes(2, 3).reshape(-1, 10, 16)
    return -np.trace(A, axis1=2, axis2=3), rows @ columns.swapaxes(1, 2)


def solve(factor: Array, problem: Problem) -> Array:
    """Return the unknowns with the least cost, shape (p,), from the triangular factor of [A y]."""
    cost = _Cost(factor, problem)
    x = problem.start()
    for barrier in BARRIERS:
        x = _newton(cost, x, barrier)
    return x


class _Cost:
    """The cost with its first two derivatives."""

    def __init__(self, factor: Array, problem: Problem) -> None:
        self.problem = problem
        self.R, self.z = factor[:, :-1], factor[:, -1]
        self.squared = self.R.T @ self.R
        self.body_unknowns = problem.body_unknowns
        self.positive = problem.positive & problem.free

    def value(self, x: Array, barrier: float) -> float:
        """Return the cost; infinite if a constraint is violated."""
        if (x[self.positive] <= 0.0).any():
            return np.inf
        try:
            L = np.linalg.cholesky(pseudo_inertias(x[self.body_unknowns]))
        except np.linalg.LinAlgError:
            return np.inf
        log_det = 2.0 * float(np.log(np.diagonal(L, axis1=1, axis2=2)).sum())
        r, excess = self.R @ x - self.z, self.problem.excess(x)[1]
        weight = self.problem.weight
        cost = 0.5 * (r @ r + excess @ excess) + 0.5 * weight * self.problem.offset_weights @ x**2
        cost += weight * (float((self.problem.trace * x[self.body_unknowns]).sum()) - log_det)
        return float(cost - barrier * np.log(x[self.positive]).sum())

    def derivatives(self, x: Array, barrier: float) -> tuple[Array, Array]:
        """Return gradient, shape (p,), and second derivative, shape (p, p)."""
        g, H = self.problem.prior_derivatives(x)
        g += self.R.T @ (self.R @ x - self.z)
        H += self.squared
        g[self.positive] -= barrier / x[self.positive]
        H[self.positive, self.positive] += barrier / x[self.positive] ** 2
        return g, H


def _newton(cost: _Cost, x: Array, barrier: float) -> Array:
    """Return the minimum for one weight of the barrier."""
    free = cost.problem.free
    value = cost.value(x, barrier)
    for _ in range(MAX_STEPS):
        g, H = cost.derivatives(x, barrier)
        g, H = g[free], H[np.ix_(free, free)]
        scale = 1.0 / np.sqrt(np.maximum(np.diag(H), np.finfo(float).tiny))
        step = -scale * np.linalg.solve(scale[:, np.newaxis] * H * scale, scale * g)
        decrement = -float(g @ step)
        if decrement < 2.0 * ACCURACY:
            break
        length, trial = 1.0, x.copy()
        while length > 1e-12:
            trial[free] = x[free] + length * step
            if (next_value := cost.value(trial, barrier)) <= value - 1e-4 * length * decrement:
                break
            length *= 0.5
        else:
            break  # rounding errors hide the rest of the improvement
        x, value = trial, next_value
    return x


@dataclass(frozen=True)
class Fitted:
    """The result of the last round."""

    # Unknowns, shape (p,): standard parameters of the bodies, then a, B, C, k and o of all joints
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
    slides, winds = used & ~equations.winds, used & equations.winds
    weights = np.where(equations.winds, WINDING_WEIGHT, 1.0) * used
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
        measured = used.any(axis=0)
        rotors = measured & equations.moves
        offset = rotors if equations.qd.any() else measured  # at rest it is static friction too
        friction = rotors & (keep_friction is None)
        free = np.concatenate([
            np.repeat(free_bodies, 10), rotors, friction, friction, friction & with_load, offset
        ])
        problem = replace(problem, free=free)
        factor = equations.reduced(columns, effort, weights / sigma**2)
        x = solve(factor, problem)
        bodies, joints = x[: -TERMS * n], x[-TERMS * n :].reshape(TERMS, n)
        load = equations.rigid(prior.with_inertial_parameters(bodies))
        residual = effort - load - np.einsum('ijk,kj->ij', columns, joints)
        residual = np.where(used, residual, np.nan)
        weights = used * huber_weights(residual, sigma, HUBER)
        least = MIN_NOISE * rms_effort
        winding = np.maximum(weighted_rms(residual, winds * weights), least)
        sliding = np.maximum(weighted_rms(residual, slides * weights), least)
        sigma = np.where(slides.any(axis=0), sliding, winding)
        noise = np.where(winds, np.maximum(WINDING_NOISE * winding, sigma), sigma)
        weights = used * huber_weights(residual, noise, HUBER) * (sigma / noise) ** 2
        mean = (used * load).sum(axis=0) / np.maximum(used.sum(axis=0), 1)
        with_load = weighted_rms(load - mean, used) > LOAD_SPREAD * sigma
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
