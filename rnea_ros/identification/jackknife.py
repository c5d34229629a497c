# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Standard deviations of the unknowns: block jackknife, and the assumed error of the URDF.

The jackknife repeats the fit without each block of equations in turn, by one Newton step without
the bounds: an unknown that is at its bound is not certain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..recordings.robust import jackknife_covariance
from .equations import Equations, terms
from .fit import Fitted
from .pseudo_inertia import pseudo_inertias

MIN_PRIOR_ERROR, MAX_PRIOR_ERROR = 0.4, 1.0
"""Range of the assumed relative error of the URDF; that of a mass is half as large."""

SAME_PLACE = 6.0
"""
Extent of a block, in travels of wind-up: 0.3 rad, or 6 mm of a prismatic joint.

Errors of gears and motors, such as cogging, belong to the position and come again when the joint
returns: blocks of time have them in common and do not show them.
"""

MIN_BLOCKS, MAX_BLOCKS = 3, 10  # blocks of a moving joint: fewer have no spread, more need time


@dataclass(frozen=True)
class Uncertainty:
    """Uncertainty of the unknowns of a fit."""

    covariance: Array  # shape (p, p)
    # Share of the URDF's variance of each unknown that the data removed, 0 to 1, shape (p,); what
    # the fits without one block scatter counts as left.
    removed_variance: Array
    has_effect: Array  # whether the unknown has any influence on the used efforts, shape (p,)

    @property
    def deviations(self) -> Array:
        """Standard deviations, shape (p,)."""
        return np.sqrt(np.diag(self.covariance))


def uncertainty(equations: Equations, fitted: Fitted) -> Uncertainty:
    """
    Return the uncertainty of the unknowns of a fit.

    It is the scatter of the fits without one block, and the error of the URDF in parameters that
    the data hardly determine: relative to the URDF's values, and not reduced by the soft bounds,
    because neither a light body nor one at its bound is certain. Smoothing velocities are fitted
    too: they correlate with friction.
    """
    problem, x, free = fitted.problem, fitted.x, fitted.problem.free
    p, n = len(x), len(fitted.sigma)
    own = terms(equations.qd, equations.qdd, fitted.load, fitted.smoothing)
    coulomb, of_load = x[p - 3 * n : p - n].reshape(2, n)
    s = own[:, :, 2]
    ratio = -equations.qd / fitted.smoothing
    by_smoothing = ratio * (1.0 - s**2) * (coulomb + of_load * np.abs(fitted.load))
    columns = np.concatenate([own, by_smoothing[:, :, np.newaxis]], axis=2)
    squares = block_squares(equations, fitted.residual, fitted.weights, columns)
    M = squares.sum(axis=0)[:-1, :-1]
    size = np.sqrt(np.diag(M)[:p])
    gradient, curvature = problem.prior_derivatives(x)
    G, G_urdf = np.eye(p + n), np.eye(p + n)
    G[:p, :p], G_urdf[:p, :p] = curvature, problem.urdf_curvature
    chosen = np.append(np.flatnonzero(free), p + np.flatnonzero(coulomb > 0.0))
    inner = np.ix_(chosen, chosen)
    H_inverse = inverse((M + G_urdf)[inner])
    error = _prior_error(fitted) ** 2 * problem.weight
    covariance = np.zeros((p + n, p + n))
    covariance[inner] = error * H_inverse @ G_urdf[inner] @ H_inverse
    with_residual = np.append(chosen, p + n)
    covariance[inner] += jackknife(
        squares[:, with_residual[:, np.newaxis], with_residual],
        np.append(gradient, np.zeros(n))[chosen], G[inner]
    )
    covariance = covariance[:p, :p]
    removed = _removed_variance(G_urdf[:p, :p], error, covariance, free)
    return Uncertainty(covariance, removed, size > 1e-9 * size.max())


def block_squares(equations: Equations, residual: Array, weights: Array, columns: Array) -> Array:
    """Return [A r]^T [A r] of each jackknife block: of a joint near one position."""
    extent = np.ptp(equations.q, axis=0)
    width = np.clip(
        SAME_PLACE * equations.travel, extent / MAX_BLOCKS,
        np.maximum(extent / MIN_BLOCKS, equations.travel)
    )
    place = ((equations.q - equations.q.min(axis=0)) / width).astype(np.intp)
    block = place + (MAX_BLOCKS + 1) * np.arange(len(extent))
    return equations.squares(columns, np.nan_to_num(residual), weights, block)


def jackknife(squares: Array, gradient: Array, curvature: Array) -> Array:
    """Return the jackknife covariance of a solution, (p, p), from [A r]^T [A r] of each block."""
    total = squares.sum(axis=0)
    others = (total - each for each in squares if each.any())
    return jackknife_covariance([
        inverse(each[:-1, :-1] + curvature) @ (each[:-1, -1] - gradient) for each in others
    ])


def inverse(H: Array) -> Array:
    """Return the inverse of a second derivative, shape (p, p); it may be singular."""
    scale = 1.0 / np.sqrt(np.maximum(np.diag(H), np.finfo(float).tiny))
    scaled = np.linalg.pinv(scale[:, np.newaxis] * H * scale, hermitian=True)
    return np.asarray(scale[:, np.newaxis] * scaled * scale, dtype=np.float64)


def _prior_error(fitted: Fitted) -> float:
    """Return the relative error of the URDF, estimated from the identified parameters."""
    free = fitted.problem.body_unknowns
    if not free.size:
        return MIN_PRIOR_ERROR
    P0, P = pseudo_inertias(fitted.problem.prior[free]), pseudo_inertias(fitted.x[free])
    ratio = np.linalg.solve(P0, P)
    # Twice a divergence is the sum of the squared relative errors of a body's ten parameters.
    divergence = np.trace(ratio, axis1=1, axis2=2) - np.linalg.slogdet(ratio)[1] - 4.0
    error = np.sqrt(2.0 * divergence.sum() / free.size)
    return float(np.clip(error, MIN_PRIOR_ERROR, MAX_PRIOR_ERROR))


def _removed_variance(G: Array, error: float, covariance: Array, free: NDArray[np.bool_]) -> Array:
    """Return the share, 0 to 1, that the data removed of the URDF's variance ``error`` / G."""
    removed = np.zeros(len(free))
    bodies = np.flatnonzero((np.diag(G) > 0.0) & free)
    if bodies.size:
        before = error * np.diag(np.linalg.inv(G[np.ix_(bodies, bodies)]))
        removed[bodies] = np.maximum(1.0 - np.diag(covariance)[bodies] / before, 0.0)
    return removed
