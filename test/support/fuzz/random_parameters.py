# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Random parameters: of every type and length, tiny, huge, not a number; one strategy for all."""

import math
from typing import Any

from hypothesis import strategies as st
from rclpy.parameter import Parameter

from rnea_ros.feedforward.settings import PARAMETERS
from rnea_ros.parameters import Declaration

Type: Any = Parameter.Type

FLOATS = st.floats(-2.0, 5.0) | st.floats() | st.sampled_from(
    (0.0, -0.0, 0.5, 1.0, 2.0, 100.0, 9.81, 1e-3, 1e4, 5e-324, -1e308, math.nan, math.inf)
)
INTEGERS = st.sampled_from((0, 1, -1, 2, 98, 500, 2**31, 2**63 - 1, -(2**63)))
WORDS = st.sampled_from((
    '', ' ', 'none', 'gravity', 'friction', 'payload', 'computed_torque', 'feedback',
    'parameters', 'urdf', 'percent', 'measured', 'reference', 'hold', 'joint_states', 'timer',
    'fer_joint1', 'fer_link7', 'fer_link8', 'imu', '/a/b', 'a b', '~', 'ä\n"\'',
    '<robot name="r"/>', 'w' * 10_000,
))  # fmt: skip
SCALARS = {
    Type.BOOL: st.booleans(), Type.INTEGER: INTEGERS, Type.DOUBLE: FLOATS, Type.STRING: WORDS,
}
ELEMENTS = {
    Type.BOOL_ARRAY: st.booleans(), Type.INTEGER_ARRAY: INTEGERS, Type.DOUBLE_ARRAY: FLOATS,
    Type.STRING_ARRAY: WORDS, Type.BYTE_ARRAY: st.binary(min_size=1, max_size=1),
}


def of_type(kind: Any) -> Any:
    """Return values of a type."""
    if kind is Type.NOT_SET:
        return st.none()
    if kind in SCALARS:
        return SCALARS[kind]
    repeated = st.builds(
        lambda value, n: [value] * n, ELEMENTS[kind], st.sampled_from((0, 1, 6, 7, 12, 10_000))
    )
    return repeated | st.lists(ELEMENTS[kind], max_size=8)


def of_declaration(entry: Declaration) -> Any:
    """Return values within the range and words of a declaration, in lists of its length or 7."""
    if entry.choices:
        return st.sampled_from(list(entry.choices))
    many = isinstance(entry.default, list)
    kind = Type.from_parameter_value(entry.default)
    element = ELEMENTS[kind] if many else SCALARS[kind]
    if entry.span is not None:
        low, high = entry.span
        whole = kind in (Type.INTEGER, Type.INTEGER_ARRAY)
        element = st.integers(int(low), int(high)) if whole else st.floats(low, high)
    if not many:
        return element
    return st.builds(lambda value, n: [value] * n, element, st.sampled_from((1, 7, len(
        entry.default))))


def parameter(name: str) -> Any:
    """Return random parameters of a name; those that the node declares mostly of their type."""
    any_type = st.sampled_from(list(Type)).flatmap(
        lambda kind: st.builds(Parameter, st.just(name), st.just(kind), of_type(kind))
    )
    if name not in PARAMETERS:
        return any_type
    kind = Type.from_parameter_value(PARAMETERS[name].default)
    fitting = of_declaration(PARAMETERS[name])
    return st.one_of(any_type, *(
        st.builds(Parameter, st.just(name), st.just(kind), values)
        for values in (fitting, fitting, fitting, of_type(kind))
    ))


def requests() -> Any:
    """Return lists of one to four parameters."""
    active = [parameter(name) for name, entry in PARAMETERS.items() if entry.while_active]
    others = [parameter(name) for name in (
        *PARAMETERS, 'use_sim_time', 'no.such.parameter', '', 'x' * 10_000,
    )]
    one = st.one_of(st.one_of(active), st.one_of(others))
    return st.one_of(*(st.lists(one, min_size=1, max_size=n) for n in (1, 1, 4)))
