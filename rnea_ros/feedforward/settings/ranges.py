# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The physical range of each parameter that is a number, or a list of numbers.

Each is wider than any arm needs. A number beyond it is a mistake, of a unit or of a digit, and its
products might not be finite.
"""

from __future__ import annotations

from collections.abc import Mapping
import math

LONGEST = 3600.0
"""Of any duration, s."""

_STIFFEST = 1e6
"""Of gains and friction, N m, N m/rad, N m s/rad, 1/s or 1/s^2."""

RANGES: Mapping[str, tuple[float, float]] = {
    'rate': (1.0, 10_000.0),
    'gains.kp': (0.0, _STIFFEST),
    'gains.kd': (0.0, _STIFFEST),
    'gravity': (-100.0, 100.0),
    'friction.viscous': (0.0, _STIFFEST),
    'friction.coulomb': (0.0, _STIFFEST),
    # -1 stands for the value of the positive direction.
    'friction.viscous_negative': (-1.0, _STIFFEST),
    'friction.coulomb_negative': (-1.0, _STIFFEST),
    'friction.load': (0.0, 10.0),
    'friction.smoothing_velocity': (1e-6, 1000.0),
    'armature': (0.0, 1e4),
    'rotor_inertia': (0.0, 1e3),
    'gear_ratio': (0.0, 1e4),
    'payload.mass': (0.0, 1e4),
    'payload.com': (-100.0, 100.0),
    'payload.inertia': (-1e6, 1e6),
    'payload.blend_duration': (0.0, LONGEST),
    'effort_limits': (0.0, 1e6),
    'effort_rate_limit': (0.0, 1e9),
    'ramp_duration': (0.0, LONGEST),
    'hold_duration': (0.0, LONGEST),
    'joint_states_timeout': (0.0, LONGEST),
    'uncommanded_timeout': (0.0, LONGEST),
    'velocity_limit_factor': (0.0, 1000.0),
    'reference_timeout': (1e-4, LONGEST),
    'start_tolerance': (0.0, math.tau),
}
