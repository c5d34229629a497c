# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Standard deviations of the unknowns: block jackknife, and the assumed error of the URDF.

The formula for white noise gives deviations that are 3 to 12 times too small, because errors of
neighbouring samples are correlated. The jackknife repeats the fit without each block in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from .equations import triangular
from .fit import BARRIERS, Problem, solve
from .pseudo_inertia import pseudo_inertias
from .rounds import Fitted

MIN_PRIOR_ERROR, MAX_PRIOR_ERROR = 0.4, 1.0
"""Range of the assumed relative error of the URDF; that of a mass is half as large."""


@dataclass(frozen=True)
class Uncertainty:
    """
    Uncertainty of the unknowns of a fit.

    :param covariance: of the unknowns, shape (p, p)
    :param removed_variance: share of each unknown's prior variance that the data removed, 0 to 1,
        shape (p,)
    :param has_effect: whether the unknown has any influence on the used efforts, shape (p,)
    """

    covariance: Array
    removed_variance: Array
    has_effect: Array

    @property
    def deviations(self) -> Array:
        """Standard deviations, shape (p,)."""
        return np.sqrt(np.diag(self.covariance))


def uncertainty(fitted: Fitted) -> Uncertainty:
    """
    Return the uncertainty of the unknowns of a fit.

    The covariance has two parts: the scatter of the fits without one block, and the error of the
    URDF in parameters that the data hardly determine.

    :param fitted: result of the last round
    """
    problem, x = fitted.problem, fitted.x
    R = triangular(np.concatenate(list(fitted.factors)))[:, :-1]
    size = np.linalg.norm(R, axis=0)
    free = problem.free
    G = problem.prior_curvature(x)
    H = R.T @ R + G
    positive = problem.positive & free
    # The barrier determines unknowns near 0; its curvature is mu / x^2.
    H[positive, positive] += BARRIERS[-1] / x[positive] ** 2
    p = len(x)
    covariance = np.zeros((p, p))
    inner = np.ix_(free, free)
    scale = 1.0 / np.sqrt(np.maximum(np.diag(H)[free], np.finfo(float).tiny))
    scaled_inverse = np.linalg.pinv(scale[:, np.newaxis] * H[inner] * scale, hermitian=True)
    inverse: Array = scale[:, np.newaxis] * scaled_inverse * scale
    error = _prior_error(fitted) ** 2 * problem.weight
    covariance[inner] = error * inverse @ G[inner] @ inverse
    covariance += jackknife(fitted.factors, problem, x)
    return Uncertainty(covariance, _removed_variance(G, inverse, free), size > 1e-9 * size.max())


def jackknife(
    factors: Array, problem: Problem, x: Array, values: Callable[[Array], Array] = np.array
) -> Array:
    """
    Return the jackknife covariance of values of the solution, shape (v, v).

    :param factors: reduced equations of each block, shape (blocks, p + 1, p + 1)
    :param problem: prior and constraints
    :param x: solution with all blocks, shape (p,)
    :param values: function from a solution to v values; by default the solution itself
    """
    filled = [block for block, factor in enumerate(factors) if factor.any()]
    estimates = []
    for left_out in filled:
        others = [factors[block] for block in filled if block != left_out]
        factor = triangular(np.concatenate(others)) if others else 0.0 * factors[0]
        estimates.append(values(solve(factor, problem, x)))
    difference = np.array(estimates) - np.mean(estimates, axis=0)
    count = len(filled)
    covariance: Array = (count - 1) / count * difference.T @ difference
    return covariance


def _prior_error(fitted: Fitted) -> float:
    """
    Return the relative error of the URDF, estimated from the identified parameters.

    Twice the divergence of a body is the sum of the squared relative errors of its ten parameters.
    """
    free = fitted.problem.body_unknowns
    if not free.size:
        return MIN_PRIOR_ERROR
    P0, P = pseudo_inertias(fitted.problem.prior[free]), pseudo_inertias(fitted.x[free])
    ratio = np.linalg.solve(P0, P)
    divergence = np.trace(ratio, axis1=1, axis2=2) - np.linalg.slogdet(ratio)[1] - 4.0
    error = np.sqrt(2.0 * divergence.sum() / free.size)
    return float(np.clip(error, MIN_PRIOR_ERROR, MAX_PRIOR_ERROR))


def _removed_variance(G: Array, inverse: Array, free: NDArray[np.bool_]) -> Array:
    """Return the share of the prior's variance that the data removed, shape (p,)."""
    removed = np.zeros(len(free))
    bodies = np.flatnonzero(np.diag(G) > 0.0)
    bodies = bodies[free[bodies]]
    variance = np.zeros(len(free))
    variance[free] = np.diag(inverse)
    prior = np.diag(np.linalg.inv(G[np.ix_(bodies, bodies)])) if bodies.size else np.zeros(0)
    removed[bodies] = 1.0 - variance[bodies] / prior
    return removed
