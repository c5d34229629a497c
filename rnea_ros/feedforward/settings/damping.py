# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Bounds of damping: too much of it adds energy, because the efforts of a sampled control act late.

With mass matrix M, damping D, period T and one period of delay, the velocities are
v[k+1] = v[k] - T M^-1 D v[k-1]. They decay if T times the largest eigenvalue of M^-1 D is below 1.
Zones of soft limits are judged joint by joint, with the joint's damping: joints are seldom in
their zones at once.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...robot import RobotModel
from .settings import Settings
from .soft_limits import MIN_DAMPING_PERIODS, SoftLimitZones

POSITIONS = 8  # at which the inertia is computed: middle and ends of the ranges, and random ones
MIN_INERTIA = 1e-9  # added to every joint, kg m^2 or kg: a link may have none
MARGIN = 0.995  # for rounding


def bound_damping(
    settings: Settings, zones: SoftLimitZones, armature: Array, model: RobotModel
) -> None:
    """Reject damping that adds energy; lower values of the zones that the user has not set."""
    in_zone, damping = np.isfinite(zones.lower) | np.isfinite(zones.upper), settings.damping
    if not (any(damping) or in_zone.any()):
        return
    lower = np.where(np.isfinite(model.position_lower), model.position_lower, -np.pi)
    upper = np.where(np.isfinite(model.position_upper), model.position_upper, np.pi)
    shares = np.random.default_rng(0).uniform(size=(POSITIONS, model.nv))
    shares[:3] = [[0.0], [0.5], [1.0]]
    joints = [model.joint_names.index(name) for name in settings.joints]
    rotors = np.diag(armature + MIN_INERTIA)
    with np.errstate(all='ignore'):
        inertia = np.array([model.mass_matrix(lower + s * (upper - lower)) for s in shares])
        mobility = np.linalg.inv(inertia + rotors)[:, joints][:, :, joints]
    if not np.isfinite(mobility).all():
        return  # the check of the efforts names the cause
    root, period = np.sqrt(damping), settings.period
    alone = 1.0 / (period * mobility.diagonal(axis1=1, axis2=2).max(axis=0))
    by_period, given = MIN_DAMPING_PERIODS * period, settings.soft_limits
    left = MARGIN * np.maximum(alone - damping, 0.5 * alone)
    stiffness = np.minimum(zones.stiffness, left / by_period)
    np.copyto(zones.stiffness, stiffness, where=np.array(given.stiffness) < 0.0)
    lowered = np.minimum(zones.damping, np.maximum(left, by_period * zones.stiffness))
    np.copyto(zones.damping, lowered, where=np.array(given.damping) < 0.0)
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
