# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Vector algebra in three dimensions for the formulations."""

from __future__ import annotations

import numpy as np

from ...arrays import Array

Z = np.array([0.0, 0.0, 1.0])
"""The joint's axis, in the coordinates of the body that it moves."""
Z.setflags(write=False)


def cross(a: Array, b: Array) -> Array:
    """
    Return a x b.

    :param a: shape (3,)
    :param b: shape (3,)
    """
    # Ten times as fast as numpy.cross for single vectors.
    return np.array([
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ])


def skew(a: Array) -> Array:
    """
    Return [a], the matrix for which [a] b = a x b.

    :param a: shape (3,)
    """
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
