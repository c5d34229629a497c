# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Checks of settings: what a value must be, and the error that names the parameter."""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import RneaError

Array: TypeAlias = NDArray[np.float64]


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


def in_range(parameter: str, value: float, lowest: float, highest: float) -> None:
    """
    Check one number.

    :raises SettingsError: it is not between lowest and highest
    """
    if not lowest <= value <= highest:
        raise SettingsError(parameter, f'{value} is not between {lowest} and {highest}')


def positive_or_zero(parameter: str, values: Sequence[float], joints: Sequence[str]) -> Array:
    """
    Return one finite value that is not negative for each joint.

    :param parameter: its name
    :param values: one for all joints, or one for each
    :param joints: names
    :raises SettingsError: another number of values, or one that is negative or not finite
    """
    if len(values) not in (1, len(joints)):
        raise SettingsError(
            parameter,
            f'{list(values)} has {len(values)} values, '
            f'not 1 or one for each of {len(joints)} joints',
        )
    array = np.broadcast_to(np.array(values, dtype=np.float64), (len(joints),)).copy()
    if not ((array >= 0.0) & (array < math.inf)).all():
        raise SettingsError(parameter, f'{list(values)} has a negative or non-finite value')
    return array
