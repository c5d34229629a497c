# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The parameters of the node: declared, read and checked together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rclpy.parameter import Parameter

from ..errors import InputError
from ..parameters import declare, parameter_overrides, reject_unknown
from ..ros import check_topic
from .parameters import PARAMETERS, all_declarations, check_without_robot, sensor_names

SIMULATED_TIME = 'use_sim_time'  # a parameter that ROS itself declares


class NodeParameters:
    """
    The parameters of a node, declared by this object; all have valid values.

    :raises InputError: a value at the start cannot be used, or is for an unknown parameter
    """

    def __init__(self, node: Any) -> None:
        self._node = node
        declare(node, PARAMETERS)
        self._table = all_declarations(
            node.get_parameter('wrench_inputs.names').value, parameter_overrides(node)
        )
        declare(node, {
            name: entry for name, entry in self._table.items() if name not in PARAMETERS
        })
        reject_unknown(node, self._table)
        check_without_robot(self.values())
        self.check_topics(self.values())
        for name in sensor_names(self.values()['wrench_inputs.names']):
            check_topic(node, 'wrench_inputs.names', f'~/wrench/{name}')

    def values(self, changes: Iterable[Parameter] = ()) -> dict[str, Any]:
        """Return all values by name; those of changed parameters replace those in force."""
        values = {
            name: self._node.get_parameter(name).value for name in (*self._table, SIMULATED_TIME)
        }
        values.update({change.name: change.value for change in changes if change.name in values})
        return values

    def check_topics(self, values: Mapping[str, Any]) -> None:
        """Raise an InputError for the first topic that is not a valid name."""
        for name, value in values.items():
            if name.endswith('topic') and value:
                check_topic(self._node, name, value)

    def check_while_active(self, changes: Iterable[Parameter]) -> None:
        """Raise an InputError for a parameter that cannot be changed while the node is active."""
        for change in changes:
            declaration = self._table.get(change.name)
            fixed = declaration is not None and not declaration.while_active
            if fixed or change.name == SIMULATED_TIME:
                reason = 'cannot be changed while active; deactivate first'
                raise InputError(change.name, reason)
