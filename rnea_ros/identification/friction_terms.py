# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Terms of each joint beside the rigid bodies.

::

    a qdd + B qd + s(qd) (C + k |load|) + o,   s(qd) = tanh(qd / v_s)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from .equations import Equations, triangular

TERMS = 5  # number of linear terms of a joint: a, B, C, k, o
SEARCH_SAMPLES = 20000  # samples that are enough for the search of v_s

MIN_SMOOTHING, MAX_SMOOTHING = 0.01, 1.0
"""Range of v_s, rad/s or m/s. Slower samples are not used, so a smaller v_s cannot be found."""

START = 0.05  # v_s of joints that do not move, rad/s or m/s
GRID = 12  # number of values of v_s that the search begins with; a cost can have several minima


def terms(qd: Array, qdd: Array, load: Array, smoothing: ArrayLike) -> Array:
    """Return the columns of a, B, C, k and o of each joint, shape (..., n, 5)."""
    s = np.tanh(qd / np.asarray(smoothing))
    return np.stack([qdd, qd, s, s * np.abs(load), np.ones_like(qd)], axis=-1)


def search_smoothing(equations: Equations, load: Array, weights: Array, with_load: Array) -> Array:
    """
    Return the v_s of each joint with the least weighted error, shape (n,), rad/s or m/s.

    The other terms are fitted with each v_s, with the rigid-body effort times a factor, so that
    wrong masses have little influence. Passages of a velocity of 0 count here. On two real arms
    they change the errors by less than 0.1 %; samples at standstill double the error of one joint.
    """
    found = np.full(load.shape[1], START)
    for joint in np.flatnonzero((weights > 0.0).any(axis=0)):
        own = weights[:, joint]
        passes = equations.passes[:, joint] & np.isfinite(equations.effort[:, joint])
        own = np.where(passes, np.median(own[own > 0.0]), own)
        rows = np.flatnonzero(own)
        rows = rows[:: 1 + len(rows) // SEARCH_SAMPLES]
        found[joint] = _search(
            equations.qd[rows, joint], equations.qdd[rows, joint], load[rows, joint],
            equations.effort[rows, joint], np.sqrt(own[rows]), bool(with_load[joint])
        )
    return found


def _search(
    qd: Array, qdd: Array, load: Array, effort: Array, root: Array, with_load: bool
) -> float:
    """Return the v_s of one joint, from its used rows."""
    from scipy.optimize import minimize_scalar, nnls

    def error(exponent: float) -> float:
        a, B, C, k, o = terms(qd, qdd, load, np.exp(exponent)).T
        columns = [a, B, C, *([k] if with_load else []), o, -o, load, effort]
        R = triangular(np.column_stack(columns) * root[:, np.newaxis])
        return float(nnls(R[:, :-1], R[:, -1])[1])

    exponents = np.linspace(np.log(MIN_SMOOTHING), np.log(MAX_SMOOTHING), GRID)
    best = int(np.argmin([error(exponent) for exponent in exponents]))
    around = exponents[max(best - 1, 0)], exponents[min(best + 1, GRID - 1)]
    result = minimize_scalar(error, bounds=around, method='bounded', options={'xatol': 0.02})
    return float(np.exp(result.x))
