# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Random parameters: of every type and length, tiny, huge, not a number; one strategy for all."""

import math
from typing import Any

from hypothesis import strategies as st
from rclpy.parameter import Parameter

from rnea_ros.node.parameters import PARAMETERS

Type: Any = Parameter.Type

FLOATS = st.floats(-2.0, 5.0) | st.floats() | st.sampled_from(
    (0.0, -0.0, 0.5, 1.0, 2.0, 100.0, 9.81, 1e-3, 1e4, 5e-324, -1e308, math.nan, math.inf)
)
INTEGERS = st.sampled_from((0, 1, -1, 2, 98, 500, 2**31, 2**63 - 1, -(2**63)))
WORDS = st.sampled_from((
    '', ' ', 'none', 'gravity', 'friction', 'payload', 'computed_torque', 'feedback',
    'parameters', 'urdf', 'percent', 'measured', 'reference', 'hold', 'joint_states', 'timer',
    'fer_joint1', 'fer_link7', 'fer_link8', 'imu', '/a/b', 'a b', '~', 'ä\n"\'',
    '<robot name="r"/>', 'w' * 100_000,
))  # fmt: skip
SCALARS = {
    Type.BOOL: st.booleans(), Type.INTEGER: INTEGERS, Type.DOUBLE: FLOATS, Type.STRING: WORDS,
}
ELEMENTS = {
    Type.BOOL_ARRAY: st.booleans(), Type.INTEGER_ARRAY: INTEGERS, Type.DOUBLE_ARRAY: FLOATS,
    Type.STRING_ARRAY: WORDS, Type.BYTE_ARRAY: st.binary(min_size=1, max_size=1),
}


def lists(element: Any, length: int) -> Any:
    """Return lists: of a length, of others, of one value repeated."""
    return (
        st.lists(element, min_size=length, max_size=length) | st.lists(element, max_size=8)
        | st.builds(lambda value, n: [value] * n, element, st.sampled_from((1, 6, 7, 12, 10_000)))
    )


def of_type(kind: Any, length: int = 1) -> Any:
    """Return values of a type; ``length``: of the declared list."""
    if kind is Type.NOT_SET:
        return st.none()
    return SCALARS[kind] if kind in SCALARS else lists(ELEMENTS[kind], length)


def parameter(name: str) -> Any:
    """Return random parameters of a name; those that the node declares mostly of their type."""
    any_type = st.sampled_from(list(Type)).flatmap(
        lambda kind: st.builds(Parameter, st.just(name), st.just(kind), of_type(kind))
    )
    if name not in PARAMETERS:
        return any_type
    default = PARAMETERS[name].default
    kind = Type.from_parameter_value(default)
    length = len(default) if isinstance(default, list) else 1
    right = st.builds(Parameter, st.just(name), st.just(kind), of_type(kind, length))
    return right | right | right | any_type


def requests() -> Any:
    """Return lists of one to four parameters."""
    active = [name for name, entry in PARAMETERS.items() if entry.while_active]
    names = st.sampled_from((*PARAMETERS, 'use_sim_time', 'no.such.parameter', '', 'x' * 10_000))
    one = (st.sampled_from(active) | names).flatmap(parameter)
    return st.lists(one, min_size=1, max_size=1) | st.lists(one, min_size=2, max_size=4)
