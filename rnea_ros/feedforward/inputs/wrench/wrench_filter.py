# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Low-pass filter, limits and deadbands of a wrench.

A wrench is a spatial force [torque; force], shape (6,), N m and N. Limits and deadbands change the
magnitudes of torque and force, and keep their directions.
"""

from __future__ import annotations

from functools import partial
import math

import numpy as np

from ....arrays import Array
from ....compilation import compiled, entry, entry_point


class TwoStageLowPass:
    """
    Two equal stages of first order in series, exact for an input that is constant in a step.

    Each stage is T y' = u - y. For any lengths of steps, the output stays within the range of the
    input, and its slope is continuous.

    :param cutoff: frequency at which half of the power passes, Hz
    :ivar value: the output, shape (6,)
    """

    def __init__(self, cutoff: float) -> None:
        # Together both stages pass half of the power at the cutoff, where 1 + (w T)^2 = sqrt(2).
        self._time_constant = math.sqrt(math.sqrt(2.0) - 1.0) / (2.0 * math.pi * cutoff)
        self._first = np.zeros(6)
        self.value = np.zeros(6)
        stages = (self._first, self.value)
        kernel = entry_point(_advance_low_pass, (*stages, np.zeros(6), 0.0))
        self._advance_low_pass = partial(kernel, *stages)

    def start(self, wrench: Array, *, keep_value: bool) -> None:
        """Start again from a wrench; the output goes on from its value, or is the wrench too."""
        self._first[:] = wrench
        if not keep_value:
            self.value[:] = wrench

    def advance(self, wrench: Array, dt: float) -> None:
        """Advance ``value`` by a step of dt, s, with a constant input, shape (6,)."""
        self._advance_low_pass(wrench, dt / self._time_constant)


@entry
def _advance_low_pass(first: Array, value: Array, wrench: Array, s: float) -> None:
    """Reduce distances e to the input: e_1 = exp(-s) e_1, e_2 = exp(-s) (e_2 + s e_1)."""
    left = math.exp(-s)
    for k in range(6):
        e_1, e_2 = first[k] - wrench[k], value[k] - wrench[k]
        first[k] = wrench[k] + left * e_1
        value[k] = wrench[k] + left * (e_2 + s * e_1)


@compiled
def lengths(wrench: Array) -> tuple[float, float]:
    """Return the magnitudes of torque and force."""
    torque = math.hypot(math.hypot(wrench[0], wrench[1]), wrench[2])
    force = math.hypot(math.hypot(wrench[3], wrench[4]), wrench[5])
    return torque, force


@compiled
def scale(wrench: Array, torque: float, force: float) -> None:
    """Multiply torque and force by factors, in place."""
    for k in range(3):
        wrench[k] *= torque
        wrench[3 + k] *= force


@compiled
def multiply(X: Array, wrench: Array, product: Array) -> None:
    """Write X wrench into ``product``."""
    for row in range(6):
        product[row] = 0.0
        for k in range(6):
            product[row] += X[row, k] * wrench[k]


@entry
def transform(X: Array, wrench: Array, transformed: Array) -> None:
    """Write X wrench into ``transformed``."""
    multiply(X, wrench, transformed)


@entry
def add(wrench: Array, other: Array, largest: float) -> bool:
    """Add another wrench, in place; return whether both magnitudes stay below a bound."""
    for k in range(6):
        wrench[k] += other[k]
    torque, force = lengths(wrench)
    return torque <= largest and force <= largest


@entry
def subtract(wrench: Array, offset: Array, max_torque: float, max_force: float) -> None:
    """Subtract an offset, in place, and limit the magnitudes of torque and force."""
    for k in range(6):
        wrench[k] -= offset[k]
    torque, force = lengths(wrench)
    scale(
        wrench,
        max_torque / torque if torque > max_torque else 1.0,
        max_force / force if force > max_force else 1.0,
    )


@entry
def apply_deadbands(
    filtered: Array, torque_band: float, force_band: float, share: float, to_body: Array,
    wrench: Array, on_body: Array,
) -> None:
    """
    Write the wrench after deadbands and a factor, and the same wrench in the body's frame.

    A deadband is subtracted from the magnitude, so there is no step at its edge. Wrenches have
    shape (6,), the force transform to the body's frame shape (6, 6).
    """
    torque, force = lengths(filtered)
    for k in range(6):
        wrench[k] = share * filtered[k]
    scale(
        wrench,
        1.0 - torque_band / torque if torque > torque_band else 0.0,
        1.0 - force_band / force if force > force_band else 0.0,
    )
    multiply(to_body, wrench, on_body)
