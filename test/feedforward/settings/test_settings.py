# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Settings: what is rejected by parameter and value, defaults, no effort that is not finite."""

import math
from typing import Any

import pytest

from rnea_ros import RneaError, RobotModel
from rnea_ros.errors import InputError, brief
from rnea_ros.feedforward import check_efforts
from rnea_ros.feedforward.law import Gravity
from rnea_ros.feedforward.settings import ResolvedSettings, Settings, StaleAction, resolve
from rnea_ros.node.parameters import PARAMETERS
from rnea_ros.robot import Payload
from support.control.control_rig import mixed_arm, panda_arm, two_joint_arm
from support.models.robots import joint, link, load, robot

JOINTS = panda_arm().joint_names
N = len(JOINTS)
NAN, INF = math.nan, math.inf


def resolved(**changes: Any) -> ResolvedSettings:
    return resolve(Settings(**({'joints': JOINTS} | changes)), panda_arm())


def test_the_defaults_are_those_that_the_documentation_states() -> None:
    settings = Settings(joints=JOINTS)
    assert settings.rate == 500.0
    assert settings.period == 0.002
    assert settings.mode is Gravity
    assert settings.stale_action is StaleAction.RAMP_DOWN
    assert settings.start_from_measured_effort
    assert not settings.compensate_coriolis
    assert (settings.ramp_duration, settings.hold_duration) == (1.0, 1.0)
    assert settings.reference_timeout == 0.2


@pytest.mark.parametrize(('rate', 'timeout'), [(1000.0, 0.1), (500.0, 0.1), (100.0, 0.2)])
def test_joint_states_timeout_is_20_periods_at_least_0_1_s(rate: float, timeout: float) -> None:
    assert resolved(rate=rate).joint_states_timeout == pytest.approx(timeout)
    assert resolved(rate=rate, joint_states_timeout=0.5).joint_states_timeout == 0.5


def test_effort_limits_are_those_of_the_urdf_by_default_joint_by_joint() -> None:
    limits = [87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0]
    assert resolved().effort_limits.tolist() == limits
    some = (0.0, 50.0, 0.0, 0.0, 0.0, 5.0, 0.0)
    assert resolved(effort_limits=some).effort_limits.tolist() == [
        own or from_urdf for own, from_urdf in zip(some, limits, strict=True)
    ]
    assert resolved(effort_limits=(10.0,)).effort_limits.tolist() == [10.0] * N


def test_the_full_effort_takes_a_tenth_of_a_second_by_default() -> None:
    assert resolved().effort_rate_limit.tolist() == pytest.approx(
        [870.0, 870.0, 870.0, 870.0, 120.0, 120.0, 120.0]
    )
    # The effort limit that counts is the one in force.
    assert resolved(effort_limits=(10.0,)).effort_rate_limit.tolist() == pytest.approx([100.0] * N)
    some = (5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 7.0)
    assert resolved(effort_rate_limit=some).effort_rate_limit.tolist() == pytest.approx(
        [5.0, 870.0, 870.0, 870.0, 120.0, 120.0, 7.0]
    )


def test_one_value_is_for_all_joints_and_several_are_in_their_order() -> None:
    settings = resolved(kp=(3.0,), kd=tuple(range(N)))
    assert settings.parameters.kp == (3.0,) * N
    assert settings.parameters.kd == tuple(range(N))


def test_joints_keep_the_order_of_the_controller() -> None:
    joints = (JOINTS[5], JOINTS[0], JOINTS[3])
    settings = resolved(joints=joints)
    assert settings.joints == joints
    assert settings.joint_indices.tolist() == [5, 0, 3]
    assert settings.effort_limits.tolist() == [12.0, 87.0, 87.0]


def rejection(parameter: str, **changes: Any) -> str:
    """Return why settings are rejected; see that the parameter is named."""
    with pytest.raises(InputError) as caught:
        resolved(**changes)
    error = caught.value
    assert isinstance(error, RneaError)
    assert error.argument == parameter
    assert str(error) == f'{parameter}: {error.reason}'
    return error.reason


@pytest.mark.parametrize(('parameter', 'ends', 'values'), [
    ('rate', '1 and 10000', (0.0, 0.99, 10_001.0, -500.0)),
    ('ramp_duration', '0 and 3600', (-1e-9, 3600.1)),
    ('hold_duration', '0 and 3600', (-1e-9, 3600.1)),
    ('joint_states_timeout', '0.002 and 3600', (-1.0, 1e-9, 0.0019, 3600.1)),
    ('reference_timeout', '0.002 and 3600', (-1.0, 0.0, 1e-9, 0.0019, 3600.1)),
])
def test_a_number_out_of_its_range_is_rejected_with_the_range(
    parameter: str, ends: str, values: tuple[float, ...]
) -> None:
    for value in (*values, NAN, INF, -INF):
        reason = rejection(parameter, **{parameter: value})
        assert reason == f'{value} is not between {ends}'


@pytest.mark.parametrize('value', [1.0, 10_000.0])
def test_the_ends_of_a_range_belong_to_it(value: float) -> None:
    assert resolved(rate=value, reference_timeout=3600.0).parameters.rate == value
    assert resolved(joint_states_timeout=0.002).joint_states_timeout == 0.002
    assert resolved(ramp_duration=0.0, hold_duration=0.0).parameters.ramp_duration == 0.0


@pytest.mark.parametrize(('parameter', 'field'), [
    ('gains.kp', 'kp'), ('gains.kd', 'kd'), ('effort_limits', 'effort_limits'),
    ('effort_rate_limit', 'effort_rate_limit'),
])
def test_values_per_joint_must_be_finite_and_not_negative(parameter: str, field: str) -> None:
    for bad in (-1.0, NAN, INF, -INF):
        values = (1.0,) * (N - 1) + (bad,)
        reason = rejection(parameter, **{field: values})
        assert reason.startswith(f'value {N} of {N}, {bad} is not between 0 and ')
        assert rejection(parameter, **{field: (bad,)}).startswith(f'{bad} is not between 0 and ')
    for size in (0, 2, N - 1, N + 1):
        values = (1.0,) * size
        reason = rejection(parameter, **{field: values})
        assert reason.endswith(f' has {size} values, not 1 or one for each of {N} joints')


def test_no_joints_are_rejected() -> None:
    assert rejection('joints', joints=()) == 'no joint to command'


def test_a_joint_that_is_listed_twice_is_rejected_by_name() -> None:
    joints = (*JOINTS, JOINTS[2])
    assert rejection('joints', joints=joints) == f'joint {JOINTS[2]!r} is listed 2 times'


@pytest.mark.parametrize('name', ['elbow', 'fer_joint8', ''])
def test_a_dependent_joint_is_rejected_with_a_list_of_the_others(name: str) -> None:
    reason = rejection('joints', joints=(JOINTS[0], name))
    assert reason.startswith(f'joint {name!r} is not a moving, independent joint of robot')
    assert all(known in reason for known in JOINTS)


def cart() -> RobotModel:
    """Return a robot with a wheel, which has no effort limit, and a hinge."""
    return load(robot(
        link('base'), link('rim', 1.0), link('tip', 1.0),
        joint('wheel', 'continuous', 'base', 'rim'), joint('hinge', 'revolute', 'base', 'tip'),
    ))


def test_a_joint_without_effort_limit_is_rejected_unless_one_is_set() -> None:
    both = ('hinge', 'wheel')
    with pytest.raises(InputError, match=r"^effort_limits: joint 'wheel': the URDF has limit"):
        resolve(Settings(joints=both), cart())
    settings = resolve(Settings(joints=both, effort_limits=(0.0, 2.0)), cart())
    assert settings.effort_limits.tolist() == [100.0, 2.0]


def test_only_commanded_joints_need_an_effort_limit() -> None:
    assert resolve(Settings(joints=('hinge',)), cart()).effort_limits.tolist() == [100.0]


def test_a_joint_with_a_limit_of_zero_is_rejected_unless_one_is_set() -> None:
    text = robot(
        link('base'), link('tip', 1.0),
        joint('hinge', 'revolute', 'base', 'tip').replace('effort="100"', 'effort="0"'),
    )
    with pytest.raises(InputError, match="joint 'hinge': the URDF has limit 0"):
        resolve(Settings(joints=('hinge',)), load(text))


def test_resolving_neither_changes_nor_shares_what_was_set() -> None:
    settings = Settings(joints=JOINTS, kp=(1.0,) * N)
    before = Settings(**vars(settings))
    result = resolve(settings, panda_arm())
    result.armature[:] = 9.0
    result.effort_limits[:] = 9.0
    assert settings == before
    assert resolve(settings, panda_arm()).effort_limits[0] == 87.0


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
        model.with_gravity((ends('gravity')[0],) * 3), kp=(ends('gains.kp')[1],),
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


def test_what_is_long_is_quoted_by_its_beginning() -> None:
    assert brief((1.0,) * 100_000) == '[1.0, 1.0, 1.0, 1.0, ...]'
    assert len(brief('w' * 100_000)) <= 60
    assert brief([1.0, 2.0]) == '[1.0, 2.0]'


@pytest.mark.parametrize(('parameter', 'settings'), [
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
])
def test_what_no_robot_has_is_rejected_by_name(parameter: str, settings: Any) -> None:
    with pytest.raises(InputError) as caught:
        tried(two_joint_arm(), **settings)
    assert caught.value.argument == parameter
