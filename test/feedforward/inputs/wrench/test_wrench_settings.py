# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What is set for a sensor is used as it is, or rejected by name and value."""

from __future__ import annotations

import math
from typing import Any

import pytest

from rnea_ros.errors import InputError
from rnea_ros.feedforward.inputs.wrench import WrenchInputs
from rnea_ros.feedforward.settings import WrenchInputSettings, check_wrench_inputs
from support.control.wrench_rig import CONTACT, INLINE, PLAIN, arm


def check(*sensors: dict[str, Any]) -> None:
    check_wrench_inputs([WrenchInputSettings(**(PLAIN | sensor)) for sensor in sensors], arm())


def test_defaults_can_be_used() -> None:
    check_wrench_inputs([WrenchInputSettings('wrist', '/wrist')], arm())


def test_an_unknown_link_is_named_with_the_nearest_known_ones() -> None:
    with pytest.raises(InputError, match="no link 'toool'; nearest are tool") as caught:
        check({'link': 'toool'})
    assert caught.value.argument == 'wrench_inputs.wrist.link'


@pytest.mark.parametrize('link', ['base', 'post'])
def test_a_link_that_no_joint_moves_is_rejected(link: str) -> None:
    with pytest.raises(InputError, match=f"no joint moves link '{link}'"):
        check({'link': link})


@pytest.mark.parametrize(
    ('parameter', 'value'),
    [
        ('max_force', 0.0), ('max_torque', -1.0), ('cutoff', 0.0), ('cutoff', math.inf),
        ('deadband_force', -1.0), ('deadband_torque', 21.0), ('gain', 1.01), ('gain', -0.01),
        ('gain', math.nan), ('timeout', 0.0), ('fade', 0.0), ('tare_duration', 100.0),
    ],
)
def test_a_number_out_of_its_range_is_named_with_its_value(parameter: str, value: float) -> None:
    with pytest.raises(InputError, match=f'{value} is not between') as caught:
        check({parameter: value})
    assert caught.value.argument == f'wrench_inputs.wrist.{parameter}'


def test_a_tare_is_at_least_as_long_as_the_timeout() -> None:
    check({'timeout': 0.2, 'tare_duration': 0.2})
    with pytest.raises(InputError, match='is less than the timeout'):
        check({'timeout': 0.2, 'tare_duration': 0.1})


@pytest.mark.parametrize('name', ['', 'wrist'])
def test_names_are_given_and_different(name: str) -> None:
    with pytest.raises(InputError, match='is empty or taken'):
        check({}, {'name': name, 'topic': '/other'})


@pytest.mark.parametrize('topic', ['', '/wrist'])
def test_topics_are_given_and_different(topic: str) -> None:
    with pytest.raises(InputError, match='is empty or taken'):
        check({}, {'name': 'other', 'topic': topic})


@pytest.mark.parametrize('placement', [CONTACT, INLINE])
@pytest.mark.parametrize('link', ['tool', 'tip', 'lower'])
def test_an_inline_sensor_carries_no_other_sensor(link: str, placement: Any) -> None:
    carrier = {'link': 'lower', 'placement': INLINE}
    other = {'name': 'other', 'topic': '/other', 'link': link, 'placement': placement}
    for order in ((carrier, other), (other, carrier)):
        with pytest.raises(InputError, match='it would count twice'):
            check(*order)


def test_a_sensor_nearer_to_the_base_is_not_carried() -> None:
    check({'placement': INLINE}, {'name': 'other', 'topic': '/other', 'link': 'lower'})
    check({'placement': INLINE}, {'name': 'other', 'topic': '/other', 'link': ''})


def test_no_sensors_are_made_of_settings_that_are_rejected() -> None:
    with pytest.raises(InputError):
        WrenchInputs(arm(), [WrenchInputSettings('wrist', '/wrist', gain=2.0)])
