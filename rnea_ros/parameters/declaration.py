# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters of a node, declared from one table and checked at the start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InputError, clipped


@dataclass(frozen=True)
class Declaration:
    """
    One parameter.

    :param default: its default, which gives its type too
    :param description: what ``ros2 param describe`` shows
    :param span: least and greatest value, of a number or of each number of a list
    :param while_active: whether it may be changed while the node is active
    :param read_only: whether it may only be set at the start
    """

    default: Any
    description: str
    span: tuple[float, float] | None = None
    while_active: bool = False
    read_only: bool = False


def described(table: Mapping[str, Declaration]) -> dict[str, tuple[Any, str]]:
    """Return default and description of each parameter of a table."""
    return {name: (entry.default, entry.description) for name, entry in table.items()}


def declare_all(node: Any, table: Mapping[str, Declaration]) -> None:
    """
    Declare every parameter of a table on a node, and refuse what was given beside them.

    :param node: has no parameters of its own yet
    :param table: declarations by name
    :raises InputError: a value of the wrong type or out of its range was given at the start, or
        one for a parameter that does not exist
    """
    declare(node, table)
    refuse_unknown(node, table)


def declare(node: Any, table: Mapping[str, Declaration]) -> None:
    """
    Declare every parameter of a table on a node.

    :raises InputError: a value of the wrong type or out of its range was given at the start
    """
    # Here, so that a table can be read where there is no ROS.
    from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor

    for name, declaration in table.items():
        descriptor = ParameterDescriptor(
            description=declaration.description, read_only=declaration.read_only
        )
        if declaration.span is not None and isinstance(declaration.default, float):
            low, high = declaration.span
            descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
        try:
            node.declare_parameter(name, declaration.default, descriptor)
        except Exception as error:  # rclpy has a class of its own for each kind of refusal
            raise InputError(name, clipped(str(error))) from error


def refuse_unknown(node: Any, table: Mapping[str, Declaration]) -> None:
    """
    Refuse what was given at the start for a parameter that does not exist.

    :raises InputError: the first such parameter
    """
    for name in sorted(node._parameter_overrides):
        if not (node.has_parameter(name) or name.startswith('qos_overrides.')):
            raise InputError(name, f'no such parameter; known are {", ".join(table)}')
