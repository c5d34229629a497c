# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters declared on a node. A new one is a field of a settings class: CONTRIBUTING.md."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any, TypeVar

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor

from ..errors import InputError, clipped
from ..parameters import Declaration, declarations_of, from_values
from .rclpy_internals import parameter_overrides

T = TypeVar('T')


def read_settings(node: Any, settings: type[T]) -> T:
    """
    Declare all parameters of a node that reads them once, at the start; return their values.

    :raises InputError: as in :func:`declare_all`, or a value that the settings reject
    """
    table = declarations_of(settings, read_only=True)
    declare_all(node, table)
    return from_values(settings, {name: node.get_parameter_or(name).value for name in table})


def declare_all(node: Any, table: Mapping[str, Declaration]) -> None:
    """Declare a table as in :func:`declare`, and reject other values as :func:`reject_unknown`."""
    declare(node, table)
    reject_unknown(node, table)


def reject_unknown(node: Any, table: Mapping[str, Declaration]) -> None:
    """Raise an InputError for the first value at the start without such a parameter."""
    for name in sorted(parameter_overrides(node)):
        if not (node.has_parameter(name) or name.startswith('qos_overrides.')):
            raise InputError(name, f'no such parameter; known are {", ".join(table)}')


def declare(node: Any, table: Mapping[str, Declaration]) -> None:
    """Declare a table on a node; a start value of wrong type or range is an InputError."""
    for name, declaration in table.items():
        descriptor = ParameterDescriptor(
            description=declaration.description, read_only=declaration.read_only
        )
        if declaration.span is not None and isinstance(declaration.default, float):
            low, high = declaration.span
            descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
        try:
            node.declare_parameter(name, declaration.default, descriptor)
        except Exception as error:  # rclpy has an error class for each kind of rejection
            value = getattr(parameter_overrides(node).get(name), 'value', None)
            form = _right_form(value, declaration.default)
            reason = str(error) if form is None else f'expected {form}, got {value}'
            raise InputError(name, clipped(reason)) from error


def _right_form(value: Any, default: Any) -> Any:
    """Return a value as a list, or with decimal points, if its parameter needs that; else None."""
    is_list = isinstance(value, list | tuple | array)
    elements = list(value) if is_list else [value]
    needs_list = isinstance(default, list) or str(default).endswith('_ARRAY')
    sample = default[0] if isinstance(default, list) and default else default
    if isinstance(sample, float) or 'DOUBLE' in str(sample):
        elements = [float(element) if type(element) is int else element for element in elements]
        kind: type = float
    else:
        kind = str if 'STRING' in str(sample) else type(sample)
    if {*map(type, elements)} != {kind} or (is_list and not needs_list):
        return None
    form = elements if needs_list else elements[0]
    return form if str(form) != str(list(value) if is_list else value) else None
