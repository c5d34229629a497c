# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Settings are tried on the robot: none is taken that makes an effort which is not finite."""

from __future__ import annotations

import math
from typing import Any

import pytest

from rnea_ros import RobotModel
from rnea_ros.errors import InputError, brief
from rnea_ros.feedforward import check_efforts
from rnea_ros.feedforward.settings import Settings, resolve
from rnea_ros.node.parameters import PARAMETERS
from rnea_ros.robot import Payload
from support.control.control_rig import mixed_arm, panda_arm, two_joint_arm
from support.models.robots import joint, link, load, robot


def ends(parameter: str) -> tuple[float, float]:
    """Return smallest and largest value of a parameter."""
    span = PARAMETERS[parameter].span
    assert span is not None
    return span


def tried(model: RobotModel, **settings: Any) -> None:
    check_efforts(model, resolve(Settings(joints=model.joint_names, **settings), model))


@pytest.mark.parametrize('arm', [panda_arm, two_joint_arm, mixed_arm])
def test_the_ends_of_every_range_together_make_finite_efforts(arm: Any) -> None:
    model = arm()
    _, mass = ends('payload.mass')
    far = (ends('payload.com')[1],) * 3
    tried(
        model.with_gravity((ends('gravity')[0],) * 3),
        kp=(ends('gains.kp')[1],),
        kd=(ends('gains.kd')[1],),
        payloads=(Payload(model.link_names[-1], mass, far, (1e6, 0.0, 0.0, 1e6, 0.0, 1e6)),) * 16,
    )


def test_a_description_whose_efforts_overflow_is_rejected_by_joint() -> None:
    model = load(robot(
        link('base'), link('tip', 1e305, com=(10.0, 0.0, 0.0)),
        joint('hinge', 'revolute', 'base', 'tip', axis=(0, 1, 0)),
    ))
    with pytest.raises(InputError, match=r"^robot_description: .* not finite, .*'hinge'"):
        tried(model)


@pytest.mark.parametrize('value', [math.nan, math.inf, -math.inf, 1e308, -1e-9])
def test_a_number_beyond_a_range_is_named_with_its_place_and_the_range(value: float) -> None:
    with pytest.raises(InputError) as caught:
        tried(panda_arm(), kp=(1.0,) * 99_999 + (value,))
    assert str(caught.value) == (
        f'gains.kp: value 100000 of 100000, {value} is not between 0 and 1e+06'
    )


def test_what_is_long_is_quoted_by_its_beginning() -> None:
    assert brief((1.0,) * 100_000) == '[1.0, 1.0, 1.0, 1.0, ...]'
    assert len(brief('w' * 100_000)) <= 60
    assert brief([1.0, 2.0]) == '[1.0, 2.0]'


@pytest.mark.parametrize(
    ('parameter', 'settings'),
    [
        ('payload.mass', {'payloads': (Payload('lower', 1e308),)}),
        ('payload.com', {'payloads': (Payload('lower', 1.0, (0.0, 1e9, 0.0)),)}),
        (
            'payload.inertia',
            {'payloads': (Payload('lower', 1.0, (0, 0, 0), (9e6, 0, 0, 9e6, 0, 9e6)),)},
        ),
        ('payload.link', {'payloads': (Payload('lower', 1.0),) * 17}),
        ('gains.kp', {'kp': (1e7,)}),
        ('gains.kd', {'kd': (0.0, 1e300)}),
        ('effort_limits', {'effort_limits': (1e9,)}),
        ('effort_rate_limit', {'effort_rate_limit': (1e-6,)}),
    ],
)
def test_what_no_robot_has_is_rejected_by_name(parameter: str, settings: Any) -> None:
    with pytest.raises(InputError) as caught:
        tried(two_joint_arm(), **settings)
    assert caught.value.argument == parameter
