# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Range checks of settings; errors name the parameter."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import InputError, brief
from .ranges import RANGES


def in_range(parameter: str, value: Any, lowest: float, highest: float) -> None:
    """
    Check a number, or every number of a list.

    :raises InputError: one is not between lowest and highest
    """
    values = value if isinstance(value, Sequence | array) else (value,)
    for k, number in enumerate(values):
        if not lowest <= number <= highest:
            which = f'value {k + 1} of {len(values)}, ' if len(values) > 1 else ''
            raise InputError(
                parameter,
                f'{which}{brief(number)} is not between {lowest:g} and {highest:g}',
            )


def per_joint(parameter: str, values: Sequence[float], joints: Sequence[str]) -> Array:
    """
    Return one value for each joint, within the parameter's range.

    :param parameter: its name, in :data:`.ranges.RANGES`
    :param values: one for all joints, or one for each
    :param joints: names
    :raises InputError: another number of values, or one beyond the range
    """
    if len(values) not in (1, len(joints)):
        raise InputError(
            parameter,
            f'{brief(values)} has {len(values)} values, '
            f'not 1 or one for each of {len(joints)} joints',
        )
    in_range(parameter, values, *RANGES[parameter])
    return np.broadcast_to(np.array(values, dtype=np.float64), (len(joints),)).copy()
