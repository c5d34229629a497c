# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters for drivers with another unit of effort: currents, shares of the greatest effort."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...errors import InputError, brief
from ...parameters import EACH, parameter

MAX_SCALE = 1e6  # largest factor between two units of effort


@dataclass(frozen=True)
class EffortUnits:
    """
    Parameters ``command_scale`` and ``effort_scale``; neither may be 0.

    Everything between measured efforts and sent commands is in N m or N.
    """

    command_scale: tuple[float, ...] = parameter(
        (1.0,),
        f"unit of the effort controller's commands per N m or N, {EACH}, as A/(N m); "
        'negative: inverted sign; not 0',
        span=(-MAX_SCALE, MAX_SCALE),
    )
    effort_scale: tuple[float, ...] = parameter(
        (1.0,),
        f'N m or N per unit of the measured efforts, {EACH}, as N m/A; '
        'negative: inverted sign; not 0',
        span=(-MAX_SCALE, MAX_SCALE),
    )

    def __post_init__(self) -> None:
        for name in ('command_scale', 'effort_scale'):
            values = getattr(self, name)
            if 0.0 in values:
                raise InputError(
                    name, f'{brief(list(values))} has a 0; 1.0 is for efforts in N m or N'
                )


def resolve_effort_scale(
    values: tuple[float, ...], joints: tuple[str, ...], all_joints: tuple[str, ...]
) -> Array:
    """
    Return N m or N per unit of the measured effort of every joint of the robot, shape (n,).

    One value is for all joints; of several, joints that are not commanded have none: 1.
    """
    others = values[0] if len(values) == 1 else 1.0
    given = {} if len(values) == 1 else dict(zip(joints, values, strict=True))
    return np.array([given.get(name, others) for name in all_joints])
