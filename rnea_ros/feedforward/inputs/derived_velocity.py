# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Joint velocities as filtered difference quotients of positions."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, Indices
from ..angles import shortest


class DerivedVelocity:
    """
    Differentiates positions, with a low-pass filter of first order.

    :param continuous: which joints are continuous, shape (n,)
    :param cutoff: cutoff frequency of the filter, Hz
    """

    def __init__(self, continuous: NDArray[np.bool_], cutoff: float) -> None:
        self._continuous = continuous
        self._time_constant = 1.0 / (2.0 * math.pi * cutoff)
        self._position = np.zeros(continuous.size)
        self._time = np.full(continuous.size, -math.inf)

    def differentiate(self, joints: Indices, q: Array, velocity: Array, received: float) -> Array:
        """
        Return new velocities, shape (k,), rad/s or m/s; zero for the first sample.

        :param joints: indices of the sample's joints, shape (k,)
        :param q: their positions, shape (k,), rad or m
        :param velocity: their last velocities, shape (k,), rad/s or m/s
        :param received: monotonic time of receipt, s
        """
        dt = received - self._time[joints]
        # Samples of one tick have the same time: the next quotient spans both.
        later = dt > 0.0
        if not later.any():
            return velocity
        dt = np.where(later, dt, math.inf)
        difference = shortest(q - self._position[joints], self._continuous[joints])
        gain = 1.0 / (1.0 + self._time_constant / dt)
        filtered = velocity + gain * (difference / dt - velocity)
        self._position[joints] = np.where(later, q, self._position[joints])
        self._time[joints] = np.where(later, received, self._time[joints])
        return np.where(later, filtered, velocity)
