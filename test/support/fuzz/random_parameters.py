# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Random parameters: of every type and length, tiny, huge, not a number."""

from collections.abc import Callable, Sequence
import math
from typing import Any

import numpy as np
from rclpy.parameter import Parameter

from rnea_ros.node.parameters import PARAMETERS

Type: Any = Parameter.Type
NAMES = (*PARAMETERS, 'use_sim_time', 'no.such.parameter', '', 'x' * 10_000)

WHILE_ACTIVE = tuple(name for name, entry in PARAMETERS.items() if entry.while_active)

FLOATS = (
    0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 100.0, 9.81, 1e-3, 1e4, 1e6, 1e-12, 5e-324, 2.2e-308, 1e150,
    1e308, -1e308, -5e-324, 1.7976931348623157e308, math.nan, math.inf, -math.inf,
)  # fmt: skip
INTEGERS = (0, 1, -1, 2, 98, 500, 2**31, 2**63 - 1, -(2**63))
WORDS = (
    '', ' ', 'none', 'gravity', 'friction', 'payload', 'computed_torque', 'feedback', 'parameters',
    'urdf', 'percent', 'measured', 'reference', 'hold', 'joint_states', 'timer', 'fer_joint1',
    'fer_link7', 'fer_link8', 'imu', '/a/b', 'a b', '~', 'ä\n"\'', '<robot name="r"/>',
    'w' * 100_000,
)  # fmt: skip
LENGTHS = (0, 1, 2, 3, 6, 7, 8, 12, 1000)


class RandomParameters:
    """Draws parameters; those that the node declares have the right type half of the time."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def draw(self) -> 'list[Parameter[Any]]':
        """Return one parameter, or now and then up to four together."""
        count = 1 if self._rng.random() < 0.8 else int(self._rng.integers(2, 5))
        return [self._parameter() for _ in range(count)]

    def _parameter(self) -> 'Parameter[Any]':
        name = str(self._one(NAMES if self._rng.random() < 0.5 else WHILE_ACTIVE))
        kind = self._one(list(Type))
        if name in PARAMETERS and self._rng.random() < 0.5:
            kind = Type.from_parameter_value(PARAMETERS[name].default)
        return Parameter(name, kind, self._value(kind, name))

    def _value(self, kind: Any, name: str) -> Any:
        scalars: dict[Any, Callable[[], Any]] = {
            Type.NOT_SET: lambda: None, Type.BOOL: self._bool, Type.DOUBLE: self._float,
            Type.INTEGER: lambda: int(self._one(INTEGERS)),
            Type.STRING: lambda: str(self._one(WORDS)),
        }
        if kind in scalars:
            return scalars[kind]()
        elements = {
            Type.BYTE_ARRAY: lambda: bytes([int(self._rng.integers(256))]),
            Type.BOOL_ARRAY: self._bool, Type.INTEGER_ARRAY: scalars[Type.INTEGER],
            Type.DOUBLE_ARRAY: self._float, Type.STRING_ARRAY: scalars[Type.STRING],
        }
        element = elements[kind]
        length = 100_000 if self._rng.random() < 0.002 else int(self._one(LENGTHS))
        declared = PARAMETERS[name].default if name in PARAMETERS else None
        if isinstance(declared, list) and self._rng.random() < 0.5:
            length = len(declared)
        if length > 12 or self._rng.random() < 0.5:
            return [element()] * length
        return [element() for _ in range(length)]

    def _bool(self) -> bool:
        return bool(self._rng.random() < 0.5)

    def _float(self) -> float:
        if self._rng.random() < 0.3:
            return float(self._rng.uniform(-2.0, 5.0))
        return float(self._one(FLOATS))

    def _one(self, choices: Sequence[Any]) -> Any:
        return choices[int(self._rng.integers(len(choices)))]
