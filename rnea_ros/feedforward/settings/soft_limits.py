# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Parameters of the soft limits, and the zones of the joints that follow from them.

The URDF's ``<safety_controller>`` bounds the effort near a position limit: with the soft upper
limit x+, the velocity is at most v+ = -k_position (x - x+), and the effort at most
-k_velocity (v - v+). Beyond x+ this is a spring of k_position k_velocity and a damper of
k_velocity. Here both have this size at the position limit, and rise from zero at the soft limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...errors import InputError
from ...parameters import EACH, parameter
from ...robot import RobotModel
from ...urdf import SafetyController
from .friction import MAX_GAIN

OF_URDF = (-1.0,)  # stands for the values of the URDF's <safety_controller>
DAMPING_TIME = 0.05  # default damping as a multiple of the stiffness, s

# Minimum damping as a multiple of the stiffness, in periods of the control. A spring whose effort
# comes a time T late gives back more energy than it took, like a damper of -2 stiffness T at the
# limit. Efforts of a sampled control come one to two periods late.
MIN_DAMPING_PERIODS = 4.0


@dataclass(frozen=True)
class SoftLimitSettings:
    """Parameters ``soft_limits.*``."""

    margin: tuple[float, ...] = parameter(
        OF_URDF,
        f'width of the zone before each position limit, {EACH}, rad or m; 0: none; -1: to the '
        "soft limits of the URDF's <safety_controller>, none without",
        span=(-1.0, 100.0), while_active=True,
    )
    stiffness: tuple[float, ...] = parameter(
        OF_URDF,
        f'effort per rad or m at the position limit, {EACH}, N m/rad or N/m; '
        '-1: k_position k_velocity',
        span=(-1.0, MAX_GAIN), while_active=True,
    )
    damping: tuple[float, ...] = parameter(
        OF_URDF,
        f'damping at the position limit, {EACH}, N m s/rad or N s/m; '
        '-1: k_velocity, without it 0.05 s stiffness',
        span=(-1.0, MAX_GAIN), while_active=True,
    )


@dataclass(frozen=True)
class SoftLimitZones:
    """
    The zones of m joints, arrays of shape (m,).

    :param lower: where the zone before the lower limit begins, rad or m; -inf for no zone
    :param lower_margin: its width, rad or m; 1 for no zone
    :param upper: where the zone before the upper limit begins, rad or m; inf for no zone
    :param upper_margin: its width, rad or m; 1 for no zone
    :param stiffness: at the limits, N m/rad or N/m
    :param damping: at the limits, N m s/rad or N s/m
    """

    lower: Array
    lower_margin: Array
    upper: Array
    upper_margin: Array
    stiffness: Array
    damping: Array

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which joints have a zone, shape (m,)."""
        return np.isfinite(self.lower) | np.isfinite(self.upper)


def resolve_soft_limits(
    settings: SoftLimitSettings, joints: Sequence[str], model: RobotModel, period: float
) -> SoftLimitZones:
    """Return the commanded joints' zones; InputError for the first unusable parameter."""
    described = {} if model.description is None else model.description.joints
    m = len(joints)
    zones = SoftLimitZones(
        np.full(m, -np.inf), np.ones(m), np.full(m, np.inf), np.ones(m), np.zeros(m), np.zeros(m)
    )
    for k, name in enumerate(joints):
        i = model.joint_names.index(name)
        lower, upper = float(model.position_lower[i]), float(model.position_upper[i])
        given = described[name].safety_controller if name in described else None
        below, above = _margins(settings.margin[k], given, lower, upper)
        if not lower < upper or (below == above == 0.0):
            continue
        if below + above > upper - lower:
            raise InputError(
                'soft_limits.margin',
                f'joint {name!r}: zones of {below:g} and {above:g} are wider than the range from '
                f'{lower:g} to {upper:g}',
            )
        if below > 0.0 and lower > -np.inf:
            zones.lower[k], zones.lower_margin[k] = lower + below, below
        if above > 0.0 and upper < np.inf:
            zones.upper[k], zones.upper_margin[k] = upper - above, above
        zones.stiffness[k], damping = _gains(settings, k, name, given)
        least = MIN_DAMPING_PERIODS * period * zones.stiffness[k]
        zones.damping[k] = max(damping, least)
    return zones


def _margins(
    margin: float, given: SafetyController | None, lower: float, upper: float
) -> tuple[float, float]:
    """Return the widths of the zones before the lower and the upper limit, rad or m."""
    if margin >= 0.0:
        return margin, margin
    if given is None:
        return 0.0, 0.0
    return max(given.soft_lower_limit - lower, 0.0), max(upper - given.soft_upper_limit, 0.0)


def _gains(
    settings: SoftLimitSettings, k: int, name: str, given: SafetyController | None
) -> tuple[float, float]:
    """Return stiffness and damping of joint k."""
    stiffness, damping = settings.stiffness[k], settings.damping[k]
    if stiffness < 0.0:
        if given is None:
            raise InputError(
                'soft_limits.stiffness',
                f'joint {name!r}: set it, as the URDF has no <safety_controller> for this joint',
            )
        stiffness = given.k_position * given.k_velocity
    if damping < 0.0:
        damping = DAMPING_TIME * stiffness if given is None else given.k_velocity
    return stiffness, damping
