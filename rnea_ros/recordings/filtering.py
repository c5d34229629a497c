# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Zero-phase low-pass filter with derivatives: locally weighted cubic regression.

For preflight, whose samples lie far apart and may come from a recording of few Hz. Identification
needs all samples, a chosen cut-off frequency and speed: :mod:`.lowpass`.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array

HALF_WINDOW = 0.25
"""
Half width of the window of a local cubic, s.

Within 0.5 s the motion of an arm is close to a cubic. Gear ringing, quantisation and noise
are not.
"""

MIN_POINTS = 8
"""Least number of samples for a cubic: twice its coefficients."""


def smooth(time: Array, values: Array, at: Array) -> tuple[Array, Array, Array]:
    """
    Return filtered values and their first and second derivatives.

    At each time a cubic is fitted to the neighbouring samples by least squares, with tricube
    weights that fall to zero at the end of the window. Samples may be unevenly spaced.

    :param time: of the samples, increasing, shape (N,), s
    :param values: shape (N, n)
    :param at: times of the results, shape (M,), s
    :return: value, first and second derivative, each of shape (M, n)
    """
    results = np.empty((3, len(at), values.shape[1]))
    least = min(MIN_POINTS, len(time))
    for i, t in enumerate(at):
        start, stop = np.searchsorted(time, (t - HALF_WINDOW, t + HALF_WINDOW))
        distance = np.abs(time[max(start - least, 0) : stop + least] - t)
        reach = max(HALF_WINDOW, float(np.partition(distance, least - 1)[least - 1]) * 1.01)
        near = slice(*np.searchsorted(time, (t - 0.999999 * reach, t + 0.999999 * reach)))
        u = (time[near] - t) / reach
        root = np.sqrt((1.0 - np.abs(u) ** 3) ** 3)[:, np.newaxis]
        powers = np.vander(u, min(4, len(u)), increasing=True)
        coefficients = np.zeros((4, values.shape[1]))
        coefficients[: powers.shape[1]] = np.linalg.lstsq(
            root * powers, root * values[near], rcond=None
        )[0]
        results[0, i] = coefficients[0]
        results[1, i] = coefficients[1] / reach
        results[2, i] = 2.0 * coefficients[2] / reach**2
    value, first, second = results
    return value, first, second
