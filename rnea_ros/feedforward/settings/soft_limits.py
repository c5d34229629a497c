# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The zones of the soft limits, and the bounds of damping.

The URDF's ``<safety_controller>`` bounds the effort near a position limit: with the soft upper
limit x+, the velocity is at most v+ = -k_position (x - x+), and the effort at most
-k_velocity (v - v+). Beyond x+ this is a spring of k_position k_velocity and a damper of
k_velocity. Here both have this size at the position limit, and rise from zero at the soft limit.

Too much damping adds energy, because the efforts of a sampled control act late. With mass matrix
M, damping D, period T and one period of delay, v[k+1] = v[k] - T M^-1 D v[k-1]. The velocities
decay if T times the largest eigenvalue of M^-1 D is below 1. Zones are judged joint by joint, with
the joint's damping: joints are seldom in their zones at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...errors import InputError
from ...robot import RobotModel
from .settings import Settings, SoftLimitSettings

DAMPING_TIME = 0.05  # default damping as a multiple of the stiffness, s

# Minimum damping as a multiple of the stiffness, in periods of the control. A spring whose effort
# comes a time T late gives back more energy than it took, like a damper of -2 stiffness T at the
# limit. Efforts of a sampled control come one to two periods late.
MIN_DAMPING_PERIODS = 4.0

POSITIONS = 8  # at which the inertia is computed: middle and ends of the ranges, and random ones
MIN_INERTIA = 1e-9  # added to every joint, kg m^2 or kg: a link may have none
MARGIN = 0.995  # for rounding


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
        urdf = described[name].safety_controller if name in described else None
        below = above = settings.margin[k]
        if below < 0.0:
            below = 0.0 if urdf is None else max(urdf.soft_lower_limit - lower, 0.0)
            above = 0.0 if urdf is None else max(upper - urdf.soft_upper_limit, 0.0)
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
        stiffness, damping = settings.stiffness[k], settings.damping[k]
        if stiffness < 0.0:
            if urdf is None:
                raise InputError(
                    'soft_limits.stiffness',
                    f'joint {name!r}: set it, as the URDF has no <safety_controller> for this '
                    'joint',
                )
            stiffness = urdf.k_position * urdf.k_velocity
        if damping < 0.0:
            damping = DAMPING_TIME * stiffness if urdf is None else urdf.k_velocity
        zones.stiffness[k] = stiffness
        zones.damping[k] = max(damping, MIN_DAMPING_PERIODS * period * stiffness)
    return zones


def finite_range(model: RobotModel) -> tuple[Array, Array]:
    """Return the position limits of all joints, rad or m; pi in place of a missing one."""
    lower, upper = model.position_lower, model.position_upper
    return np.where(np.isfinite(lower), lower, -np.pi), np.where(np.isfinite(upper), upper, np.pi)


def bound_damping(
    settings: Settings, zones: SoftLimitZones, armature: Array, model: RobotModel
) -> None:
    """Reject damping that adds energy; lower values of the zones that the user has not set."""
    in_zone, damping = zones.present, settings.damping
    if not (any(damping) or in_zone.any()):
        return
    lower, upper = finite_range(model)
    shares = np.random.default_rng(0).uniform(size=(POSITIONS, model.nv))
    shares[:3] = [[0.0], [0.5], [1.0]]
    joints = [model.joint_names.index(name) for name in settings.joints]
    rotors = np.diag(armature + MIN_INERTIA)
    with np.errstate(all='ignore'):
        inertia = np.array([model.mass_matrix(lower + s * (upper - lower)) for s in shares])
        mobility = np.linalg.inv(inertia + rotors)[:, joints][:, :, joints]
    if not np.isfinite(mobility).all():
        return  # the check of the efforts names the cause
    root, period, stated = np.sqrt(damping), settings.period, settings.soft_limits
    alone = 1.0 / (period * mobility.diagonal(axis1=1, axis2=2).max(axis=0))
    by_period = MIN_DAMPING_PERIODS * period
    left = MARGIN * np.maximum(alone - damping, 0.5 * alone)
    stiffness = np.minimum(zones.stiffness, left / by_period)
    np.copyto(zones.stiffness, stiffness, where=np.array(stated.stiffness) < 0.0)
    lowered = np.minimum(zones.damping, np.maximum(left, by_period * zones.stiffness))
    np.copyto(zones.damping, lowered, where=np.array(stated.damping) < 0.0)
    excess = period * np.linalg.eigvalsh(root[:, np.newaxis] * mobility * root).max()
    of_zones = in_zone * (zones.damping + damping)
    for name, values, factor in (
        ('damping', np.array(damping), excess),
        ('soft_limits.damping', of_zones, (of_zones / alone).max()),
    ):
        if factor >= 1.0:
            k = int((values / alone).argmax())
            raise InputError(
                name,
                f'joint {settings.joints[k]!r}: {values[k]:.6g} N m s/rad or N s/m adds energy '
                f'at {settings.rate:g} Hz; at most {MARGIN * values[k] / factor:.3g}. Lower it, '
                'the other joints and the stiffness of zones in proportion, or raise rate. If the '
                'URDF has no rotors, set armature',
            )
