# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Differences between joint positions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array


def shortest(difference: Array, continuous: NDArray[np.bool_]) -> Array:
    """Return position differences, shape (k,), without whole turns of continuous joints."""
    if not continuous.any():
        return difference
    with np.errstate(invalid='ignore'):  # numpy 1.21 warns of NaN here
        wrapped = np.remainder(difference + np.pi, 2.0 * np.pi) - np.pi
    return np.where(continuous, wrapped, difference)
