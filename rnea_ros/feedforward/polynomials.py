# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Where polynomials turn, many at once: their extremes are there or at their ends."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]

# Of the interval in which a zero of a slope is known to be: then it is off by 1e-12 of a segment.
_HALVINGS = 40


def turning_points(polynomials: Array) -> Array:
    """
    Return 0, 1, and every s between at which polynomials turn, and perhaps some at which not.

    Between two turning points of its own a slope is monotone, and passes zero once or not at all.

    :param polynomials: coefficients, shape (powers, k)
    :returns: in order, shape (powers, k)
    """
    ends = np.zeros((2, polynomials.shape[1]))
    ends[1] = 1.0
    if len(polynomials) <= 2:
        return ends
    # Only where it turns counts; slopes of great numbers would overflow.
    size = np.maximum(np.abs(polynomials).max(axis=0), np.finfo(np.float64).tiny)
    slope = np.arange(1.0, len(polynomials))[:, np.newaxis] * (polynomials[1:] / size)
    between = turning_points(slope)
    low, high = between[:-1], between[1:]
    rises = values_at(slope, low) > 0.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        passed = (values_at(slope, middle) > 0.0) != rises
        low, high = np.where(passed, low, middle), np.where(passed, middle, high)
    return np.concatenate((ends[:1], high, ends[1:]))


def values_at(polynomials: Array, s: Array) -> Array:
    """
    Return polynomials at some s.

    :param polynomials: coefficients, shape (powers, k)
    :param s: shape (points, k)
    :returns: shape (points, k)
    """
    values = np.broadcast_to(polynomials[-1], s.shape)
    for coefficient in polynomials[-2::-1]:
        values = values * s + coefficient
    return values
