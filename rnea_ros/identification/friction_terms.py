# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Terms of each joint beside the rigid bodies.

::

    a qdd + B qd + s(qd) (C + k |load|) + o,   s(qd) = tanh(qd / v_s)
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from .equations import Equations

TERMS = 5
"""Number of linear terms of a joint: a, B, C, k, o."""

SEARCH_SAMPLES = 20000
"""Samples that are enough for the search of v_s."""

SLOWEST_SMOOTHING, FASTEST_SMOOTHING = 0.01, 1.0
"""Range of v_s, rad/s or m/s. Slower samples are not used, so a smaller v_s cannot be found."""

GRID = 12
"""Number of values of v_s that the search begins with; a cost can have several minima."""


def terms(qd: Array, qdd: Array, load: Array, smoothing: Array) -> Array:
    """
    Return the columns of a, B, C, k and o of each joint.

    :param qd: joint velocities, shape (..., n), rad/s or m/s
    :param qdd: joint accelerations, shape (..., n), rad/s^2 or m/s^2
    :param load: rigid-body efforts, shape (..., n), N m or N
    :param smoothing: v_s, shape (n,), rad/s or m/s
    :return: shape (..., n, 5)
    """
    s = np.tanh(qd / smoothing)
    return np.stack([qdd, qd, s, s * np.abs(load), np.ones_like(qd)], axis=-1)


def search_smoothing(
    equations: Equations, load: Array, weights: Array, with_load: Array
) -> Array:
    """
    Return the v_s of each joint with the least weighted error, shape (n,), rad/s or m/s.

    The other terms are fitted with each v_s, with the rigid-body effort times a factor, so that
    wrong masses have little influence.

    :param equations: motion and efforts
    :param load: rigid-body efforts, shape (N, n), N m or N
    :param weights: of the rows, shape (N, n); 0 for rows that are not used
    :param with_load: joints with friction that depends on the load, shape (n,)
    """
    from scipy.optimize import minimize_scalar, nnls

    found = np.full(load.shape[1], 0.05)
    for joint in np.flatnonzero((weights > 0.0).any(axis=0)):
        rows = np.flatnonzero(weights[:, joint])
        rows = rows[:: 1 + len(rows) // SEARCH_SAMPLES]
        qd, effort = equations.qd[rows, joint], equations.effort[rows, joint]
        root = np.sqrt(weights[rows, joint])[:, np.newaxis]
        carried = load[rows, joint]

        def error(exponent: float) -> float:
            columns = terms(qd, equations.qdd[rows, joint], carried, np.exp(exponent))
            kept = columns if with_load[joint] else np.delete(columns, 3, axis=1)
            A = np.column_stack([kept, -columns[:, 4], carried, effort]) * root
            R = np.linalg.qr(A, mode='r')
            return float(nnls(R[:, :-1], R[:, -1])[1])

        exponents = np.linspace(np.log(SLOWEST_SMOOTHING), np.log(FASTEST_SMOOTHING), GRID)
        best = int(np.argmin([error(exponent) for exponent in exponents]))
        around = exponents[max(best - 1, 0)], exponents[min(best + 1, GRID - 1)]
        result = minimize_scalar(
            error, bounds=around, method='bounded', options={'xatol': 0.02}
        )
        found[joint] = np.exp(result.x)
    return found
