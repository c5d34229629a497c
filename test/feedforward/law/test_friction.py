# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Joint friction: in both directions, through zero velocity, under load."""

import math
from typing import Any

from hypothesis import given, strategies
import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.errors import InputError
from rnea_ros.feedforward.law import FrictionModel, HardwareCompensation, JointFriction
from rnea_ros.feedforward.settings import FrictionSettings, Settings, resolve
from support.control.control_rig import Array
from support.models.robots import joint, link, load, robot

DYNAMICS = '<dynamics damping="0.7" friction="1.5"/>'


def two_joints() -> RobotModel:
    return load(robot(
        link('base'), link('one', 1.0), link('two', 1.0),
        joint('first', 'revolute', 'base', 'one', more=DYNAMICS),
        joint('second', 'revolute', 'one', 'two'),
    ))


def resolved(
    joints: tuple[str, ...] = ('first', 'second'), *, compensated: bool = False, **settings: Any
) -> JointFriction:
    hardware = (HardwareCompensation.FRICTION,) if compensated else ()
    friction = FrictionSettings(**({'model': FrictionModel.PARAMETERS} | settings))
    given = Settings(joints=joints, friction=friction, hardware_compensates=hardware)
    return resolve(given, two_joints()).friction


def friction(joints: JointFriction, qd: float, load_of_joint: float = 0.0) -> Array:
    n = joints.load.size
    return joints.friction(np.full(n, qd), np.full(n, load_of_joint))


# The law


def test_far_from_zero_friction_is_viscous_and_coulomb() -> None:
    joints = resolved(viscous=(2.0, 3.0), coulomb=(5.0, 7.0))
    np.testing.assert_allclose(friction(joints, 4.0), [2.0 * 4.0 + 5.0, 3.0 * 4.0 + 7.0])
    np.testing.assert_allclose(friction(joints, -4.0), [-2.0 * 4.0 - 5.0, -3.0 * 4.0 - 7.0])


def test_the_directions_may_differ() -> None:
    joints = resolved(
        viscous=(2.0,), viscous_negative=(1.0,), coulomb=(5.0,), coulomb_negative=(0.0,)
    )
    np.testing.assert_allclose(friction(joints, 4.0), 2 * [13.0])
    np.testing.assert_allclose(friction(joints, -4.0), 2 * [-4.0])


def test_friction_is_zero_at_rest_with_a_slope_near_it() -> None:
    joints = resolved(coulomb=(5.0,), smoothing_velocity=(0.1,))
    assert not friction(joints, 0.0).any()
    np.testing.assert_allclose(friction(joints, 0.1), 2 * [5.0 * math.tanh(1.0)])
    np.testing.assert_allclose(friction(joints, 1e-6), 2 * [5.0 * 1e-5], rtol=1e-6)


def test_the_offset_is_the_same_at_any_velocity() -> None:
    joints = resolved(offset=(3.0, -4.0))
    for speed in (0.0, 2.0, -2.0):
        np.testing.assert_allclose(friction(joints, speed), [3.0, -4.0])
    assert not resolved(offset=(3.0,), compensated=True).has_friction


def test_the_load_of_a_joint_adds_to_its_coulomb_friction() -> None:
    joints = resolved(coulomb=(5.0,), load=(0.1, 0.0))
    for carried in (30.0, -30.0):
        np.testing.assert_allclose(friction(joints, 4.0, carried), [8.0, 5.0])
        np.testing.assert_allclose(friction(joints, -4.0, carried), [-8.0, -5.0])


numbers = strategies.floats(0.0, 100.0)
speeds = strategies.floats(-10.0, 10.0)


@given(numbers, numbers, numbers, numbers, strategies.floats(0.0, 1.0), speeds, speeds)
def test_friction_is_continuous_never_decreases_and_never_drives(
    viscous: float, back: float, coulomb: float, coulomb_back: float, load_share: float,
    one: float, other: float,
) -> None:
    joints = resolved(
        viscous=(viscous,), viscous_negative=(back,), coulomb=(coulomb,),
        coulomb_negative=(coulomb_back,), load=(load_share,),
    )
    low, high = (friction(joints, speed, 20.0) for speed in sorted((one, other)))
    steepest = max(viscous, back) + (max(coulomb, coulomb_back) + 20.0 * load_share) / 0.05
    assert (high - low >= -1e-9).all()
    assert (high - low <= steepest * abs(one - other) + 1e-9).all()
    assert (friction(joints, one, 20.0) * one >= 0.0).all()


# Where it is known from


def test_of_the_urdf_the_dynamics_count_and_no_parameters() -> None:
    joints = resolved(model=FrictionModel.URDF, viscous=(9.0,), coulomb=(9.0,), load=(0.5,))
    np.testing.assert_allclose(friction(joints, 2.0, 10.0), [0.7 * 2.0 + 1.5, 0.0])


@pytest.mark.parametrize('model', FrictionModel)
def test_what_the_hardware_compensates_is_not_compensated_twice(model: FrictionModel) -> None:
    joints = resolved(model=model, viscous=(1.0,), coulomb=(1.0,), load=(1.0,), compensated=True)
    assert not joints.has_friction


def test_joints_that_are_not_commanded_lose_nothing() -> None:
    joints = resolved(joints=('second',), viscous=(3.0,))
    np.testing.assert_allclose(friction(joints, 1.0), [0.0, 3.0])


def test_values_stand_in_the_order_of_the_controllers_joints() -> None:
    joints = resolved(joints=('second', 'first'), viscous=(3.0, 4.0))
    np.testing.assert_allclose(friction(joints, 1.0), [4.0, 3.0])


# What is rejected


@pytest.mark.parametrize(('settings', 'parameter'), [
    ({'viscous': (-1.0,)}, 'friction.viscous'), ({'coulomb': (math.nan,)}, 'friction.coulomb'),
    ({'viscous_negative': (-2.0,)}, 'friction.viscous_negative'),
    ({'coulomb_negative': (-1.0, -1.0)}, 'friction.coulomb_negative'),
    ({'load': (math.inf,)}, 'friction.load'),
    ({'smoothing_velocity': (0.0,)}, 'friction.smoothing_velocity'),
    ({'smoothing_velocity': (0.1, 0.1, 0.1)}, 'friction.smoothing_velocity'),
    ({'viscous': ()}, 'friction.viscous'),
])
def test_impossible_friction_is_rejected_by_name(settings: dict[str, Any], parameter: str) -> None:
    with pytest.raises(InputError) as caught:
        resolved(**settings)
    assert caught.value.argument == parameter
