# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Checks of settings: what a value must be, and the error that names the parameter."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import RneaError, brief
from .ranges import RANGES


class SettingsError(RneaError):
    """
    A parameter's value cannot be used.

    :param parameter: its name
    :param reason: what is wrong, with the value
    """

    def __init__(self, parameter: str, reason: str) -> None:
        super().__init__(f'{parameter}: {reason}')
        self.parameter = parameter
        self.reason = reason


def in_range(parameter: str, value: Any, lowest: float, highest: float) -> None:
    """
    Check a number, or every number of a list.

    :raises SettingsError: one is not between lowest and highest
    """
    values = value if isinstance(value, Sequence | array) else (value,)
    for k, number in enumerate(values):
        if not lowest <= number <= highest:
            which = f'value {k + 1} of {len(values)}, ' if len(values) > 1 else ''
            raise SettingsError(
                parameter,
                f'{which}{brief(number)} is not between {lowest:g} and {highest:g}',
            )


def per_joint(parameter: str, values: Sequence[float], joints: Sequence[str]) -> Array:
    """
    Return one value for each joint, within the parameter's range.

    :param parameter: its name, in :data:`.ranges.RANGES`
    :param values: one for all joints, or one for each
    :param joints: names
    :raises SettingsError: another number of values, or one beyond the range
    """
    if len(values) not in (1, len(joints)):
        raise SettingsError(
            parameter,
            f'{brief(values)} has {len(values)} values, '
            f'not 1 or one for each of {len(joints)} joints',
        )
    in_range(parameter, values, *RANGES[parameter])
    return np.broadcast_to(np.array(values, dtype=np.float64), (len(joints),)).copy()
