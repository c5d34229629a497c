# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A field of a settings class is all that declares a parameter."""

from dataclasses import dataclass
import enum
from typing import Any
from unittest.mock import Mock

import pytest

from rnea_ros.errors import InputError
from rnea_ros.parameters import (
    EACH,
    check_ranges,
    declarations_of,
    described,
    from_values,
    group,
    parameter,
    with_value_per_joint,
)


class Shape(enum.Enum):
    ROUND = 'round'
    SQUARE = 'square'


@dataclass(frozen=True)
class SpringSettings:
    stiffness: tuple[float, ...] = parameter(
        (2.0,), f'stiffness, {EACH}, N m/rad', span=(0.0, 9.0), while_active=True
    )
    shape: Shape = parameter(Shape.ROUND, 'section of the wire')


@dataclass(frozen=True)
class ArmSettings:
    joints: tuple[str, ...]
    rate: float = parameter(100.0, 'ticks per second, Hz', span=(1.0, 1000.0), name='loop.rate')
    label: str | None = parameter(None, 'text on the arm', read_only=True, unset='a type of rclpy')
    spring: SpringSettings = group(SpringSettings())


VALUES = {'loop.rate': 50.0, 'label': None, 'spring.stiffness': [1.0], 'spring.shape': 'square'}
JOINTS = ('a', 'b')


def arm(**values: Any) -> ArmSettings:
    given = {name.replace('__', '.'): value for name, value in values.items()}
    return from_values(ArmSettings, VALUES | given, joints=JOINTS)


def test_a_field_gives_default_text_range_and_time_of_change() -> None:
    table = declarations_of(ArmSettings)
    assert [*table] == ['loop.rate', 'label', 'spring.stiffness', 'spring.shape']
    stiffness = table['spring.stiffness']
    assert (stiffness.default, stiffness.span, stiffness.while_active) == ([2.0], (0.0, 9.0), True)
    assert table['label'].read_only
    assert described(table)['label'] == (None, 'text on the arm')
    assert table['spring.shape'].description == 'section of the wire: round | square'


def test_values_by_name_give_the_settings_and_their_groups() -> None:
    settings = arm()
    assert (settings.rate, settings.label, settings.joints) == (50.0, None, JOINTS)
    assert settings.spring == SpringSettings((1.0,), Shape.SQUARE)


def test_a_word_or_a_number_out_of_its_range_is_rejected_by_name() -> None:
    with pytest.raises(InputError, match=r'^spring\.shape: .oval. is none of round, square$'):
        arm(spring__shape='oval')
    check_ranges(arm())
    for name, value in (('loop__rate', 0.5), ('spring__stiffness', [1.0, 10.0])):
        with pytest.raises(InputError, match=f'^{name.replace("__", ".")}: '):
            check_ranges(arm(**{name: value}))


def test_a_list_per_joint_gets_one_value_for_each_joint() -> None:
    settings = with_value_per_joint(arm(), JOINTS)
    assert settings.spring.stiffness == (1.0, 1.0)
    assert with_value_per_joint(settings, JOINTS) == settings
    with pytest.raises(InputError, match=r'^spring\.stiffness: .* has 3 values, not 1 or one for'):
        with_value_per_joint(arm(spring__stiffness=[1.0, 2.0, 3.0]), JOINTS)


@pytest.mark.parametrize(('name', 'given', 'reason'), [
    ('spring.stiffness', 2.0, '2.0 is of type double, not double[]'),
    ('spring.stiffness', [2, 3], '[2, 3] is of type integer[], not double[]; write 1.0, not 1'),
    ('loop.rate', 500, '500 is of type integer, not double; write 1.0, not 1'),
    ('loop.rate', 5000.0, 'by rclpy'),
])
def test_a_start_value_of_another_type_is_rejected_in_the_words_of_a_change(
    name: str, given: Any, reason: str
) -> None:
    parameters = pytest.importorskip('rclpy.parameter', reason='ROS 2 is not installed')
    node = Mock(_parameter_overrides={name: parameters.Parameter(name, value=given)})
    node.has_parameter.return_value = False
    node.declare_parameter.side_effect = TypeError('by rclpy')
    from rnea_ros.ros import declare

    with pytest.raises(InputError) as caught:
        declare(node, {name: declarations_of(ArmSettings)[name]})
    assert caught.value.reason == reason
