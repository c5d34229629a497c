# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters that are set to the value in force: nothing changes, and nothing is rejected."""

from collections.abc import Iterator
import math
from typing import Any

import pytest

from support.ros.ros_process import NO_ROS, isolated, new_domain_id

pytest.importorskip('rclpy', reason=NO_ROS)

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
import rclpy
from rclpy.parameter import Parameter

from rnea_ros.ros import ParameterServices

pytestmark = pytest.mark.ros

VALUES: dict[str, Any] = {
    'number': math.nan, 'numbers': [1.0, math.nan, math.inf], 'count': 1, 'counts': [1, 2],
    'flag': True, 'text': 'one', 'texts': ['', 'two'],
}


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> Iterator[ParameterServices]:
    """A node with read-only parameters that accepts no change of any other."""
    domain_id = new_domain_id()
    for name, value in isolated(domain_id).items():
        monkeypatch.setenv(name, value)
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain_id)
    node = ParameterServices('services', context=context, enable_rosout=False)
    for name, value in VALUES.items():
        node.declare_parameter(name, value)
        node.declare_parameter(f'fixed.{name}', value, ParameterDescriptor(read_only=True))
    node.declare_parameter('mode', 'a')
    node.declare_parameter('gains', [2.0, 0.0])
    node.add_on_set_parameters_callback(lambda changes: SetParametersResult(
        successful=all(change.name == 'mode' for change in changes), reason='no'
    ))
    yield node
    node.destroy_node()
    context.try_shutdown()


def is_accepted(node: ParameterServices, *changes: tuple[str, Any]) -> bool:
    parameters = [Parameter(name, value=value) for name, value in changes]
    return bool(node.set_parameters_atomically(parameters).successful)


@pytest.mark.parametrize('prefix', ['', 'fixed.'])
def test_the_value_in_force_is_always_accepted(node: ParameterServices, prefix: str) -> None:
    for name, value in VALUES.items():
        assert is_accepted(node, (f'{prefix}{name}', value))
    assert is_accepted(node, *((f'{prefix}{name}', value) for name, value in VALUES.items()))


@pytest.mark.parametrize(('name', 'value'), [
    ('number', 1.0), ('numbers', [1.0, math.nan]), ('numbers', [math.nan, 1.0, math.inf]),
    ('count', True), ('count', 1.0), ('flag', 1), ('counts', [1.0, 2.0]), ('text', 'One'),
    ('texts', ['two', '']),
])
def test_every_other_value_and_type_is_checked(
    node: ParameterServices, name: str, value: Any
) -> None:
    assert not is_accepted(node, (name, value))
    assert not is_accepted(node, (f'fixed.{name}', value))


def test_integers_for_doubles_are_the_value_in_force(node: ParameterServices) -> None:
    assert is_accepted(node, ('gains', [2, 0]))
    assert not is_accepted(node, ('gains', [2, 1]))


def test_of_one_parameter_set_twice_the_last_value_counts(node: ParameterServices) -> None:
    assert is_accepted(node, ('mode', 'b'), ('mode', 'a'))
    assert node.get_parameter('mode').value == 'a'
