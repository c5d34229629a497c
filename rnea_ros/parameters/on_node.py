# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters declared on a node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InputError, clipped
from .declaration import Declaration


def declare_all(node: Any, table: Mapping[str, Declaration]) -> None:
    """
    Declare every parameter of a table on a node, and reject values for any others.

    :param node: a node without parameters of its own
    :param table: declarations by name
    :raises InputError: a value at the start has the wrong type, is out of range, or is for a
        parameter that does not exist
    """
    declare(node, table)
    reject_unknown(node, table)


def declare(node: Any, table: Mapping[str, Declaration]) -> None:
    """
    Declare every parameter of a table on a node.

    :param node: the node
    :param table: declarations by name
    :raises InputError: a value at the start has the wrong type or is out of range
    """
    # Imported here: tables are also read without ROS.
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
        except Exception as error:  # rclpy has an error class for each kind of rejection
            raise InputError(name, clipped(str(error))) from error


def reject_unknown(node: Any, table: Mapping[str, Declaration]) -> None:
    """
    Reject values at the start for parameters that do not exist.

    :param node: a node with its declared parameters
    :param table: declarations by name
    :raises InputError: the first such parameter
    """
    for name in sorted(node._parameter_overrides):
        if not (node.has_parameter(name) or name.startswith('qos_overrides.')):
            raise InputError(name, f'no such parameter; known are {", ".join(table)}')
