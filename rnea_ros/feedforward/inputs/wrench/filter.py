# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
What a low-pass filter, a cap and a deadband make of a wrench.

A wrench here is a spatial force, [torque; force], shape (6,), N m and N. Its torque and its force
are capped, and lose their deadband, each by its length, so that their directions stay.
"""

from __future__ import annotations

from functools import partial
import math

import numpy as np

from ....arrays import Array
from ....dynamics.compilation import compiled, entry, entry_point


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
        self._first = np.zeros(6)
        self.value = np.zeros(6)
        stages = (self._first, self.value)
        self._approach = partial(entry_point(_approach, (*stages, np.zeros(6), 0.0)), *stages)

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
        self._approach(wrench, dt / self._time_constant)


@entry
def _approach(first: Array, value: Array, wrench: Array, s: float) -> None:
    """With distances e from the input: e_1 = exp(-s) e_1, e_2 = exp(-s) (e_2 + s e_1)."""
    left = math.exp(-s)
    for k in range(6):
        e_1, e_2 = first[k] - wrench[k], value[k] - wrench[k]
        first[k] = wrench[k] + left * e_1
        value[k] = wrench[k] + left * (e_2 + s * e_1)


@compiled
def lengths(wrench: Array) -> tuple[float, float]:
    """Return the lengths of torque and force."""
    torque = math.hypot(math.hypot(wrench[0], wrench[1]), wrench[2])
    force = math.hypot(math.hypot(wrench[3], wrench[4]), wrench[5])
    return torque, force


@compiled
def scale(wrench: Array, torque: float, force: float) -> None:
    """Multiply torque and force, in place, each with its factor."""
    for k in range(3):
        wrench[k] *= torque
        wrench[3 + k] *= force


@compiled
def multiply(X: Array, wrench: Array, product: Array) -> None:
    """Write X wrench into another array."""
    for row in range(6):
        product[row] = 0.0
        for k in range(6):
            product[row] += X[row, k] * wrench[k]


@entry
def transform(X: Array, wrench: Array, transformed: Array) -> None:
    """Write X wrench into another array."""
    multiply(X, wrench, transformed)


@entry
def add(wrench: Array, other: Array, largest: float) -> bool:
    """Add another wrench, in place; return whether both lengths of the sum stay below a bound."""
    for k in range(6):
        wrench[k] += other[k]
    torque, force = lengths(wrench)
    return torque <= largest and force <= largest


@entry
def take_off(wrench: Array, offset: Array, max_torque: float, max_force: float) -> None:
    """Take an offset off a wrench, in place, and shorten torque and force to their caps."""
    for k in range(6):
        wrench[k] -= offset[k]
    torque, force = lengths(wrench)
    scale(
        wrench,
        max_torque / torque if torque > max_torque else 1.0,
        max_force / force if force > max_force else 1.0,
    )


@entry
def pass_on(
    filtered: Array,
    torque_band: float,
    force_band: float,
    share: float,
    to_body: Array,
    wrench: Array,
    on_body: Array,
) -> None:
    """
    Write the share that passes the deadbands, and the same on a body, ``to_body`` wrench.

    Each loses the band's width, so that nothing jumps at its edge.
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
