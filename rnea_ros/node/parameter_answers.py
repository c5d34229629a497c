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

from ..errors import clipped, one_line


class AnsweredParameters(Node):
    """
    A node that refuses what it cannot take, of any parameter, with a reason.

    What rclpy raises in these services, over an unknown type for one, would end the process; what
    it quotes may be as long as the request.
    """

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
            unknown = [change.name for change in asked if not self.has_parameter(change.name)]
            if unknown:
                reason = f'{clipped(unknown[0], 60)}: no such parameter'
            else:
                result = super().set_parameters_atomically([read(change) for change in asked])
                if result.successful:
                    return result
                reason = result.reason
                if len(asked) == 1 and asked[0].name not in reason:
                    reason = f'{asked[0].name}: {reason}'
        except Exception as error:  # whatever it is, the control goes on without the change
            self.get_logger().error(
                f'parameters refused: {type(error).__name__}: {clipped(one_line(error))}',
                throttle_duration_sec=1.0,
            )
            reason = f'{type(error).__name__}: {one_line(error)}'
        return SetParametersResult(successful=False, reason=clipped(reason))
