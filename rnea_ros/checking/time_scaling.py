# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
How fast a motion may be run at most: along the same path, all its times multiplied by one factor.

At s times the duration velocities are 1 / s, accelerations and all efforts but gravity's 1 / s^2
of what they were::

    tau(s) = g + (tau - g) / s^2.

Each sample bounds s by where its effort reaches the limit, so that the least s is exact for the
samples. Friction is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
import math

import numpy as np

from .efforts import Efforts
from .limits import Limits, Quantity
from .peaks import Peak


@dataclass(frozen=True)
class Bound:
    """
    The least factor of a motion's times that keeps limits.

    :param stretch: the factor; infinite where gravity alone needs more than the limit
    :param joint: whose limit it is
    :param quantity: the limit
    :param time: when it is reached, s from the start of the trajectory as it is
    """

    stretch: float
    joint: str
    quantity: Quantity
    time: float


def bound_by_efforts(efforts: Efforts, limits: Limits) -> Bound:
    """
    Return how fast a motion may be by its efforts.

    :param efforts: of the motion as it is
    :param limits: those of effort count
    """
    of_motion = efforts.total - efforts.gravity
    room = limits.effort - np.copysign(efforts.gravity, efforts.gravity * of_motion)
    with np.errstate(divide='ignore', invalid='ignore'):
        squared = np.where(of_motion == 0.0, 0.0, np.abs(of_motion) / room)
    too_heavy = np.abs(efforts.gravity) > limits.effort
    squared[too_heavy] = math.inf
    # Of all places where the arm is too heavy, the one where it is heaviest.
    excess = np.where(too_heavy, np.abs(efforts.gravity) / limits.effort, 0.0)
    worst = excess if too_heavy.any() else squared
    row, joint = (int(index) for index in np.unravel_index(worst.argmax(), worst.shape))
    return Bound(
        math.sqrt(squared[row, joint]),
        limits.joint_names[joint],
        Quantity.EFFORT,
        float(efforts.time[row]),
    )


def bounds_by_motion(peaks: Iterable[Peak]) -> list[Bound]:
    """
    Return how fast a motion may be by its velocities and accelerations.

    :param peaks: of the motion as it is; those without a limit, or of others, bound nothing
    """
    powers = {Quantity.VELOCITY: 1.0, Quantity.ACCELERATION: 0.5}
    return [
        Bound(peak.share ** powers[peak.quantity], peak.joint, peak.quantity, peak.time)
        for peak in peaks
        if peak.quantity in powers and peak.share is not None
    ]
