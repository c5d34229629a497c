# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A node's parameters, declared from a table; requests to set them always get one sentence."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor, SetParametersResult
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.node import Node
from rclpy.parameter import Parameter

from ..errors import InputError, brief, clipped, one_line
from ..parameters import Declaration, declarations_of, from_values
from .rclpy_internals import parameter_overrides

T = TypeVar('T')

INTEGERS_FOR_DOUBLES = (
    (Parameter.Type.DOUBLE, Parameter.Type.INTEGER),
    (Parameter.Type.DOUBLE_ARRAY, Parameter.Type.INTEGER_ARRAY),
)


class ParameterServices(Node):
    """
    A node that answers every request to set parameters; a rejection names parameter and reason.

    rclpy raises an exception for some requests, for example for an unknown type; the client then
    waits without end. Other rejections of rclpy quote the whole request. A value that is in force
    already is accepted for every parameter, so that a whole file can be loaded.
    """

    _post_set_callback: Callable[[Sequence[Parameter]], None] | None = None  # Humble only

    def add_post_set_parameters_callback(
        self, callback: Callable[[Sequence[Parameter]], None]
    ) -> None:
        """Call a callback after parameters were set; Humble's rclpy lacks this method."""
        if hasattr(Node, 'add_post_set_parameters_callback'):
            super().add_post_set_parameters_callback(callback)
        else:
            self._post_set_callback = callback

    def create_service(
        self, srv_type: Any, srv_name: str, callback: Callable[..., Any], **options: Any
    ) -> Any:
        """Create a service; those that set parameters are answered by this class."""
        replaced = {SetParameters: self._set_each, SetParametersAtomically: self._set_all}
        answer = replaced.get(srv_type, callback)
        return super().create_service(srv_type, srv_name, answer, **options)

    def _set_each(self, request: Any, response: Any) -> Any:
        response.results = [self.set_parameters_atomically([each]) for each in request.parameters]
        return response

    def _set_all(self, request: Any, response: Any) -> Any:
        response.result = self.set_parameters_atomically(request.parameters)
        return response

    def set_parameters_atomically(self, parameter_list: list[Any]) -> SetParametersResult:
        """Set all parameters, or those of messages; on a rejection none, with the reason."""
        try:
            changes = self._differing([
                each if isinstance(each, Parameter) else Parameter.from_parameter_msg(each)
                for each in parameter_list
            ])
            if not changes:
                return SetParametersResult(successful=True)
            reason = self._type_error(changes)
            if not reason:
                result = super().set_parameters_atomically(changes)
                if result.successful:
                    if self._post_set_callback is not None:
                        self._post_set_callback(changes)
                    return result
                reason = result.reason
        except Exception as error:  # of rclpy or a callback: the client gets it as the reason
            self.get_logger().error(
                f'parameters rejected: {type(error).__name__}: {clipped(one_line(error))}',
                throttle_duration_sec=1.0,
            )
            reason = f'{type(error).__name__}: {one_line(error)}'
        named = self.has_parameter(reason.partition(':')[0])
        if len(parameter_list) == 1 and not named:
            name = clipped(parameter_list[0].name, 60)
            reason = reason if reason.startswith(name) else f'{name}: {reason}'
        return SetParametersResult(successful=False, reason=clipped(reason))

    def _differing(self, requested: list[Parameter]) -> list[Parameter]:
        """Return the parameters whose values differ from those in force."""
        number = Counter(change.name for change in requested)
        return [x for x in requested if number[x.name] > 1 or not self._is_in_force(x)]

    def _is_in_force(self, change: Parameter) -> bool:
        if not self.has_parameter(change.name):
            return False
        own = self.get_parameter(change.name)
        types = own.type_, change.type_
        alike = own.type_ is change.type_ or types in INTEGERS_FOR_DOUBLES
        return alike and _same(own.value, change.value)

    def _type_error(self, changes: Sequence[Parameter]) -> str:
        """Return why a parameter's name or type is rejected; empty if all are right."""
        for change in changes:
            if not self.has_parameter(change.name):
                return f'{clipped(change.name, 60)}: no such parameter'
            declared = self.describe_parameter(change.name)
            if not declared.dynamic_typing:
                reason = _wrong_type(change, Parameter.Type(declared.type))
                if reason:
                    return f'{change.name}: {reason}'
        return ''


def _wrong_type(given: Parameter, expected: Parameter.Type) -> str:
    """Return why a value does not have the expected type; empty if it has."""
    if given.type_ is expected:
        return ''
    if given.type_ is Parameter.Type.NOT_SET:
        return 'a parameter cannot be unset'
    hint = '; write 1.0, not 1' if (expected, given.type_) in INTEGERS_FOR_DOUBLES else ''
    words = (str(kind.name).lower().replace('_array', '[]') for kind in (given.type_, expected))
    return f'{brief(given.value)} is of type {", not ".join(words)}{hint}'


def _same(a: Any, b: Any) -> bool:
    """Return whether two values, or all values of two lists, are equal or both NaN."""
    if isinstance(a, list | tuple | array):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(a == b or (a != a and b != b))


def read_settings(node: Any, settings: type[T]) -> T:
    """
    Declare all parameters of a node that reads them once, at the start; return their values.

    :raises InputError: as in :func:`declare_all`, or a value that the settings reject
    """
    table = declarations_of(settings, read_only=True)
    declare_all(node, table)
    return from_values(settings, {name: node.get_parameter_or(name).value for name in table})


def declare_all(node: Any, table: Mapping[str, Declaration]) -> None:
    """Declare a table as in :func:`declare`; any other value at the start is an InputError."""
    declare(node, table)
    for name in sorted(parameter_overrides(node)):
        if not (node.has_parameter(name) or name.startswith('qos_overrides.')):
            raise InputError(name, f'no such parameter; known are {", ".join(table)}')


def declare(node: Any, table: Mapping[str, Declaration]) -> None:
    """Declare what a node lacks; a start value of wrong type or range is an InputError."""
    for name, declaration in table.items():
        if node.has_parameter(name):
            continue
        descriptor = ParameterDescriptor(
            description=declaration.description, read_only=declaration.read_only
        )
        if declaration.span is not None and isinstance(declaration.default, float):
            low, high = declaration.span
            descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
        try:
            node.declare_parameter(name, declaration.default, descriptor)
        except Exception as error:  # rclpy has an error class for each kind of rejection
            given, expected = parameter_overrides(node).get(name), declaration.default
            if not declaration.unset:
                expected = Parameter.Type.from_parameter_value(expected)
            reason = '' if given is None else _wrong_type(given, expected)
            raise InputError(name, clipped(reason or str(error))) from error
