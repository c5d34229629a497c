# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Answers to requests for parameters: whatever is asked for, a sentence, and never an end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.node import Node
from rclpy.parameter import Parameter

from ..errors import brief, clipped, one_line

INTEGERS_FOR_DOUBLES = (
    (Parameter.Type.DOUBLE, Parameter.Type.INTEGER),
    (Parameter.Type.DOUBLE_ARRAY, Parameter.Type.INTEGER_ARRAY),
)


class ParameterServices(Node):
    """
    A node that refuses what it cannot take, of any parameter, with a reason.

    What rclpy raises in these services, over an unknown type for one, would end the process; what
    it quotes may be as long as the request.
    """

    _afterwards: Callable[[Sequence[Parameter]], None] | None = None

    def add_post_set_parameters_callback(
        self, callback: Callable[[Sequence[Parameter]], None]
    ) -> None:
        """Have what is set told once it is; the rclpy of Humble has no such callbacks."""
        if hasattr(Node, 'add_post_set_parameters_callback'):
            super().add_post_set_parameters_callback(callback)
        else:
            self._afterwards = callback

    def create_service(
        self, srv_type: Any, srv_name: str, callback: Callable[..., Any], **options: Any
    ) -> Any:
        """Offer a service; those that set parameters are answered here."""
        own = {SetParameters: self._set_each, SetParametersAtomically: self._set_all}
        return super().create_service(
            srv_type, srv_name, own.get(srv_type, callback), **options
        )

    def set_parameters_atomically(self, parameter_list: list[Parameter]) -> SetParametersResult:
        """Set all parameters, or none and say why."""
        return self._answer(parameter_list, lambda parameter: parameter)

    def _set_each(self, request: Any, response: Any) -> Any:
        response.results = [
            self._answer([message], Parameter.from_parameter_msg)
            for message in request.parameters
        ]
        return response

    def _set_all(self, request: Any, response: Any) -> Any:
        response.result = self._answer(request.parameters, Parameter.from_parameter_msg)
        return response

    def _answer(
        self, asked: Sequence[Any], read: Callable[[Any], Parameter]
    ) -> SetParametersResult:
        try:
            changes = [read(change) for change in asked]
            reason = self._mistake(changes)
            if not reason:
                result = super().set_parameters_atomically(changes)
                if result.successful:
                    if self._afterwards is not None:
                        self._afterwards(changes)
                    return result
                reason = result.reason
        except Exception as error:  # whatever it is, the control goes on without the change
            self.get_logger().error(
                f'parameters refused: {type(error).__name__}: {clipped(one_line(error))}',
                throttle_duration_sec=1.0,
            )
            reason = f'{type(error).__name__}: {one_line(error)}'
        named = self.has_parameter(reason.partition(':')[0])
        if len(asked) == 1 and not (named or reason.startswith(clipped(asked[0].name, 60))):
            reason = f'{clipped(asked[0].name, 60)}: {reason}'
        return SetParametersResult(successful=False, reason=clipped(reason))

    def _mistake(self, changes: Sequence[Parameter]) -> str:
        """Return which parameter is unknown, or has another type than it is declared with."""
        for change in changes:
            if not self.has_parameter(change.name):
                return f'{clipped(change.name, 60)}: no such parameter'
            declared = self.describe_parameter(change.name)
            wanted, given = Parameter.Type(declared.type), change.type_
            if given is wanted or declared.dynamic_typing:
                continue
            if given is Parameter.Type.NOT_SET:
                return f'{change.name}: a parameter cannot be unset'
            hint = '; write 1.0, not 1' if (wanted, given) in INTEGERS_FOR_DOUBLES else ''
            return (
                f'{change.name}: {brief(change.value)} is of type {_word(given)}, '
                f'not {_word(wanted)}{hint}'
            )
        return ''


def _word(kind: Parameter.Type) -> str:
    return str(kind.name).lower().replace('_array', '[]')
