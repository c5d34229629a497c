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


def share_after(dt: float, constant: float) -> float:
    """
    Return how much of the way to a constant input a stage goes: 1 - exp(-dt / T), for any dt.

    :param dt: s
    :param constant: the stage's time constant T, s
    """
    return -math.expm1(-dt / constant)


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
