# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The fastest uniform time scaling of a motion: all its times multiplied by one factor s.

Velocities are divided by s, accelerations and the dynamic part of the efforts by s^2; the part of
gravity g stays::

    tau(s) = g + (tau - g) / s^2.

Each sample bounds s from below by its effort limit. The least s is exact for the samples.
Friction is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
import math

import numpy as np

from .efforts import Efforts
from .limits import Quantity, TrajectoryLimits
from .peaks import Peak


@dataclass(frozen=True)
class Bound:
    """The least factor of a motion's times within the limits."""

    stretch: float  # the factor; infinite if gravity alone exceeds an effort limit
    joint: str  # joint whose limit is reached
    quantity: Quantity
    time: float  # at which it is reached, s from the start of the unscaled trajectory


def bound_by_efforts(efforts: Efforts, limits: TrajectoryLimits) -> Bound:
    """Return the bound by the effort limits, of the efforts of the unscaled motion."""
    dynamic = efforts.total - efforts.gravity
    room = limits.effort - np.copysign(efforts.gravity, np.sign(efforts.gravity) * dynamic)
    with np.errstate(divide='ignore', invalid='ignore', over='ignore'):
        squared = np.where(dynamic == 0.0, 0.0, np.abs(dynamic) / room)
        excess = np.abs(efforts.gravity) / limits.effort
    too_heavy = np.abs(efforts.gravity) > limits.effort
    squared[too_heavy] = math.inf
    # Where gravity alone exceeds the limit, report the greatest excess.
    worst = np.where(too_heavy, excess, 0.0) if too_heavy.any() else squared
    row, joint = (int(index) for index in np.unravel_index(worst.argmax(), worst.shape))
    return Bound(
        math.sqrt(squared[row, joint]), limits.joint_names[joint], Quantity.EFFORT,
        float(efforts.time[row])
    )


def bounds_by_motion(peaks: Iterable[Peak]) -> list[Bound]:
    """Return the bounds by velocity and acceleration limits, of peaks of the unscaled motion."""
    powers = {Quantity.VELOCITY: 1.0, Quantity.ACCELERATION: 0.5}
    return [
        Bound(peak.share ** powers[peak.quantity], peak.joint, peak.quantity, peak.time)
        for peak in peaks
        if peak.quantity in powers and peak.share is not None
    ]
