# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The parameters of trajectory_effort agree with its document, and bad values are rejected."""

from types import SimpleNamespace
from typing import Any

import pytest

from rnea_ros.errors import InputError
from support.models.robots import ROOT
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rnea_ros.node.parameters import table
from rnea_ros.trajectory_effort.motion_efforts import EFFORT_LIMIT
from rnea_ros.trajectory_effort.parameters import PARAMETERS, values_of
from rnea_ros.trajectory_effort.planner import TOO_MANY_POINTS

TEXT = (ROOT / 'docs/trajectory_controllers.md').read_text(encoding='utf-8')


class Node:
    """A node with every parameter at its default, or at what is given."""

    def __init__(self, **given: Any) -> None:
        self._values = {name: declared.default for name, declared in PARAMETERS.items()} | given

    def get_parameter(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(value=self._values[name])


def test_parameters_shared_with_the_control_have_its_defaults() -> None:
    shared = (PARAMETERS.keys() & table.PARAMETERS.keys()) - {'joint_states_timeout'}
    assert shared
    for name in shared:
        assert PARAMETERS[name].default == table.PARAMETERS[name].default


def test_the_document_explains_every_reason_for_which_efforts_are_rejected() -> None:
    assert all(f'`{word}`' in TEXT for word in (EFFORT_LIMIT, TOO_MANY_POINTS))


def test_the_defaults_are_accepted_and_stand_beside_those_of_the_control() -> None:
    values = values_of(Node())
    assert values['resample'] == 0.02
    assert values['mode'] == 'gravity'


@pytest.mark.parametrize(('name', 'value'), [
    ('resample', float('nan')), ('resample', 5e-4), ('joint_states_timeout', float('inf')),
    ('start_tolerance', float('nan')), ('friction.model', 'stribeck'), ('gravity', [0.0, 0.0]),
    ('payload.mass', [-1.0]), ('hardware_compensates', ['weight']),
])
def test_a_value_that_cannot_be_used_is_rejected_by_name(name: str, value: Any) -> None:
    given = {name: value}
    if name == 'payload.mass':
        given['payload.link'] = ['hand']
    with pytest.raises(InputError) as caught:
        values_of(Node(**given))
    assert caught.value.argument.startswith(name.partition('.')[0])
