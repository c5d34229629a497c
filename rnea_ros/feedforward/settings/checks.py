# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Bounds that several settings share, and values per joint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from ...errors import InputError, brief

# Each range is wider than any arm needs: a number beyond it is a mistake of a unit or a digit,
# and products of such numbers might not be finite.

MAX_DURATION = 3600.0
"""Longest duration, s."""

MAX_GAIN = 1e6
"""Largest gain or friction, N m, N m/rad, N m s/rad, 1/s or 1/s^2."""

EACH = 'one value or one per joint'
"""Part of the description of a parameter with values per joint."""


def per_joint(parameter: str, values: Sequence[float], joints: Sequence[str]) -> Array:
    """
    Return one value per joint.

    :param parameter: name of the parameter
    :param values: one value for all joints, or one per joint
    :param joints: names of the joints
    :raises InputError: another number of values
    """
    if len(values) not in (1, len(joints)):
        raise InputError(
            parameter,
            f'{brief(values)} has {len(values)} values, '
            f'not 1 or one for each of {len(joints)} joints',
        )
    return np.broadcast_to(np.array(values, dtype=np.float64), (len(joints),)).copy()
