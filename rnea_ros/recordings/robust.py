# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Robust estimation: weights against outliers, jackknife against correlated errors, repetitions.

Errors of samples nearby are correlated. The formula for white noise gives deviations that are 3 to
12 times too small; the jackknife over blocks that outlast the correlation does not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array

SAME_MOTION = 0.1  # motions that differ by less, as a share of their size, are the same


def huber_weights(residual: Array, sigma: Array, threshold: float) -> Array:
    """Return Huber's weights (1964) of squared residuals, threshold in sigma; 1 for NaN."""
    return np.asarray(threshold / np.fmax(np.abs(residual) / sigma, threshold))


def jackknife_covariance(estimates: ArrayLike) -> Array:
    """Return the covariance of p estimates, from those without one block each, (blocks, p)."""
    each = np.asarray(estimates, dtype=np.float64)
    difference = each - each.mean(axis=0)
    count = len(difference)
    return np.asarray((count - 1) / count * difference.T @ difference)


def rms(values: Array) -> Array:
    """Return the RMS of the numbers in each column, NaN where there are none."""
    known = np.isfinite(values)
    total = np.where(known, values, 0.0) ** 2
    with np.errstate(invalid='ignore', divide='ignore'):
        return np.asarray(np.sqrt(total.sum(axis=0) / known.sum(axis=0)))


def weighted_rms(values: Array, weights: Array) -> Array:
    """Return the weighted RMS of each column; NaN counts as 0, and no weight gives 0."""
    total = np.maximum(weights.sum(axis=0), np.finfo(float).tiny)
    squares = (weights * np.nan_to_num(values) ** 2).sum(axis=0)
    return np.asarray(np.sqrt(squares / total))


def contains(motion: Array, part: Array) -> bool:
    """Return whether a motion, shape (N, n), contains another one, shape (M, n)."""
    from scipy.signal import correlate

    if len(part) > len(motion):
        return False
    centre = part.mean(axis=0)
    motion, part = motion - centre, part - centre
    squares = np.concatenate([[0.0], np.cumsum((motion**2).sum(axis=1))])
    windows = squares[len(part) :] - squares[: len(squares) - len(part)]
    size = float((part**2).sum())
    columns = zip(motion.T, part.T, strict=True)
    products = sum(correlate(column, other, 'valid', 'fft') for column, other in columns)
    return bool((windows + size - 2.0 * products).min() < SAME_MOTION**2 * size)
