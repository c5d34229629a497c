# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
What a low-pass filter, a cap and a deadband make of a wrench.

A wrench here is a spatial force, [torque; force], shape (6,), N m and N. Its torque and its force
are capped, and lose their deadband, each by its length, so that their directions stay.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


def time_constant(cutoff: float) -> float:
    """
    Return the time constant of each of two equal stages, s.

    Both together let half of the power pass at the cutoff: 1 + (w T)^2 = sqrt(2) there.

    :param cutoff: Hz
    """
    return math.sqrt(math.sqrt(2.0) - 1.0) / (2.0 * math.pi * cutoff)


class LowPass:
    """
    Two equal stages of first order, one after the other; exact for an input held in between.

    A stage tends towards its input, T y' = u - y, and the second one's input is the first. What
    comes out lies between what came in, for any lengths of steps, and turns without a corner.

    :param cutoff: where half of the power passes, Hz
    """

    def __init__(self, cutoff: float) -> None:
        self._time_constant = time_constant(cutoff)
        self._first, self._held = np.zeros(6), np.zeros(6)
        self.value = np.zeros(6)

    def start(self, wrench: Array, *, keep_value: bool) -> None:
        """
        Forget what came in before.

        :param wrench: what comes in now, shape (6,)
        :param keep_value: let the value go on from where it is, and not start at what comes in
        """
        self._first[:] = wrench
        if not keep_value:
            self.value[:] = wrench

    def step(self, wrench: Array, dt: float) -> None:
        """
        Bring the value to the end of a step.

        :param wrench: what comes in during the step, shape (6,)
        :param dt: how long it takes, s
        """
        s = dt / self._time_constant
        left = math.exp(-s)
        # With the distances e from the input: e_1 = exp(-s) e_1, e_2 = exp(-s) (e_2 + s e_1).
        self._first -= wrench
        self.value -= wrench
        np.multiply(self._first, s, out=self._held)
        self.value += self._held
        self.value *= left
        self.value += wrench
        self._first *= left
        self._first += wrench


def cap(wrench: Array, max_torque: float, max_force: float) -> None:
    """Shorten torque and force, in place, to their caps."""
    torque, force = lengths(wrench)
    if torque > max_torque:
        wrench[:3] *= max_torque / torque
    if force > max_force:
        wrench[3:] *= max_force / force


def deadbands_left(wrench: Array, torque_band: float, force_band: float) -> tuple[float, float]:
    """
    Return what factors take the deadbands off a torque and a force.

    Each loses the band's width, so that nothing jumps at its edge.
    """
    torque, force = lengths(wrench)
    return (
        1.0 - torque_band / torque if torque > torque_band else 0.0,
        1.0 - force_band / force if force > force_band else 0.0,
    )


def lengths(wrench: Array) -> tuple[float, float]:
    """Return the lengths of torque and force."""
    x, y, z, u, v, w = wrench.tolist()
    return math.hypot(x, y, z), math.hypot(u, v, w)
