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
    'flag': True, 'text': 'one', 'texts': ['', 'two'], 'gains': [2.0, 0.0],
}
OTHERS: tuple[tuple[str, Any], ...] = (
    ('number', 1.0), ('numbers', [1.0, math.nan]), ('numbers', [math.nan, 1.0, math.inf]),
    ('count', True), ('count', 1.0), ('flag', 1), ('counts', [1.0, 2.0]), ('text', 'One'),
    ('texts', ['two', '']), ('gains', [2, 1]),
)


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> Iterator[ParameterServices]:
    """A node with read-only parameters that accepts no change of any other but mode."""
    domain_id = new_domain_id()
    for name, value in isolated(domain_id).items():
        monkeypatch.setenv(name, value)
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain_id)
    node = ParameterServices('services', context=context, enable_rosout=False)
    node.declare_parameter('mode', 'a')
    for name, value in VALUES.items():
        node.declare_parameter(name, value)
        node.declare_parameter(f'fixed.{name}', value, ParameterDescriptor(read_only=True))
    node.add_on_set_parameters_callback(lambda changes: SetParametersResult(
        successful=all(change.name == 'mode' for change in changes), reason='no'
    ))
    yield node
    node.destroy_node()
    context.try_shutdown()


def test_the_value_in_force_is_accepted_and_every_other_checked(node: ParameterServices) -> None:
    def is_accepted(*changes: tuple[str, Any]) -> bool:
        parameters = [Parameter(name, value=value) for name, value in changes]
        return bool(node.set_parameters_atomically(parameters).successful)

    for prefix in ('', 'fixed.'):
        for name, value in VALUES.items():
            assert is_accepted((f'{prefix}{name}', value))
        assert is_accepted(*((f'{prefix}{name}', value) for name, value in VALUES.items()))
        for name, value in OTHERS:
            assert not is_accepted((f'{prefix}{name}', value)), (name, value)
    assert is_accepted(('gains', [2, 0])), 'integers for doubles'
    assert is_accepted(('mode', 'b'), ('mode', 'a'))
    assert node.get_parameter('mode').value == 'a', 'the last one counts'
