# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
How sure the unknowns are: block jackknife, and what the URDF may be wrong by.

The formula for white noise gives deviations that are 3 to 12 times too small, because model errors
of neighbouring samples are alike. The jackknife leaves out one block after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from .equations import triangular
from .fit import Problem, solve
from .pseudo_inertia import pseudo_inertias
from .rounds import Fitted

LEAST_PRIOR_ERROR, GREATEST_PRIOR_ERROR = 0.4, 1.0
"""Range of the URDF's assumed relative error; in mass half as much."""


@dataclass(frozen=True)
class Certainty:
    """
    How sure the unknowns of a fit are.

    :param covariance: of the fitted unknowns, shape (p, p)
    :param informed: share of each unknown's variance that the data removed, 0 to 1, shape (p,)
    :param has_effect: whether the unknown has any influence on the used efforts, shape (p,)
    """

    covariance: Array
    informed: Array
    has_effect: Array

    @property
    def deviations(self) -> Array:
        """Standard deviations, shape (p,)."""
        return np.sqrt(np.diag(self.covariance))


def certainty(fitted: Fitted) -> Certainty:
    """
    Return how sure the unknowns of a fit are.

    The covariance has two parts: the scatter of the fits without one block, and the share of the
    URDF's own error that the fit takes over where the data say little.

    :param fitted: result of the last round
    """
    problem, x = fitted.problem, fitted.x
    R = triangular(np.concatenate(list(fitted.factors)))[:, :-1]
    size = np.linalg.norm(R, axis=0)
    free = problem.free
    G = problem.prior_curvature(x)
    H = R.T @ R + G
    positive = problem.positive & free
    # At a bound the barrier holds the unknown: its curvature is 1 / x^2 times a small weight.
    H[positive, positive] += 1e-3 / x[positive] ** 2
    p = len(x)
    covariance = np.zeros((p, p))
    inner = np.ix_(free, free)
    scale = 1.0 / np.sqrt(np.maximum(np.diag(H)[free], np.finfo(float).tiny))
    of_scaled = np.linalg.pinv(scale[:, np.newaxis] * H[inner] * scale, hermitian=True)
    inverse: Array = scale[:, np.newaxis] * of_scaled * scale
    error = _prior_error(fitted) ** 2 * problem.weight
    covariance[inner] = error * inverse @ G[inner] @ inverse
    covariance += jackknife(fitted.factors, problem, x)
    return Certainty(covariance, _informed(G, inverse, free), size > 1e-9 * size.max())


def jackknife(
    factors: Array, problem: Problem, x: Array, values: Callable[[Array], Array] = np.array
) -> Array:
    """
    Return the covariance of values of the fits without one block, shape (v, v).

    :param factors: reduced equations of each block, shape (blocks, p + 1, p + 1)
    :param problem: prior and constraints
    :param x: solution with all blocks, shape (p,)
    :param values: function of a solution, shape (v,); by default the solution itself
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
    Return the relative error of the URDF, as the identified parameters show it.

    The divergence of a body is half a squared relative distance, summed over its dimensions.
    """
    free = fitted.problem.of_bodies
    if not free.size:
        return LEAST_PRIOR_ERROR
    P0, P = pseudo_inertias(fitted.problem.prior[free]), pseudo_inertias(fitted.x[free])
    ratio = np.linalg.solve(P0, P)
    divergence = np.trace(ratio, axis1=1, axis2=2) - np.linalg.slogdet(ratio)[1] - 4.0
    error = np.sqrt(2.0 * divergence.sum() / free.size)
    return float(np.clip(error, LEAST_PRIOR_ERROR, GREATEST_PRIOR_ERROR))


def _informed(G: Array, inverse: Array, free: NDArray[np.bool_]) -> Array:
    """Return the share of the prior's variance that the data removed, shape (p,)."""
    informed = np.zeros(len(free))
    bodies = np.flatnonzero(np.diag(G) > 0.0)
    bodies = bodies[free[bodies]]
    variance = np.zeros(len(free))
    variance[free] = np.diag(inverse)
    prior = np.diag(np.linalg.inv(G[np.ix_(bodies, bodies)])) if bodies.size else np.zeros(0)
    informed[bodies] = 1.0 - variance[bodies] / prior
    return informed
