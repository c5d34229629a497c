# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Joint friction, and payloads on a base that tilts, with and without what hardware adds."""

from collections.abc import Sequence
import math
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.errors import InputError
from rnea_ros.feedforward.laws import FrictionModel, JointFriction
from rnea_ros.feedforward.loaded_model import HardwareCompensation, JointSpring, LoadedModel
from rnea_ros.feedforward.settings import FrictionSettings, Settings, resolve
from rnea_ros.robot import Payload
from support.cases import each
from support.control.control_rig import Array, panda_arm
from support.models.robots import joint, link, load, robot

TWO_JOINTS = load(robot(
    link('base'), link('one', 1.0), link('two', 1.0),
    joint('first', 'revolute', 'base', 'one', more='<dynamics damping="0.7" friction="1.5"/>'),
    joint('second', 'revolute', 'one', 'two'),
))


def resolved(
    joints: tuple[str, ...] = ('first', 'second'), hardware: Any = (), **settings: Any
) -> JointFriction:
    friction = FrictionSettings(**({'model': FrictionModel.PARAMETERS} | settings))
    given = Settings(joints=joints, friction=friction, hardware_compensates=hardware)
    return resolve(given, TWO_JOINTS).joint_friction


VISCOUS_BACK = {'viscous': (2.0,), 'viscous_negative': (1.0,)}
COULOMB_BACK = {'coulomb': (5.0,), 'coulomb_negative': (0.0,)}
SMOOTH = {'coulomb': (5.0,), 'smoothing_velocity': (0.1,)}
LOADED = {'coulomb': (5.0,), 'load': (0.1, 0.0)}
SHARED = {'shared_joints': ('second', 'first'), 'shared_ratio': -0.5, 'shared_viscous': 0.3,
          'shared_coulomb': 0.4, 'smoothing_velocity': (0.1,)}
URDF = {'model': FrictionModel.URDF, 'viscous': (9.0,), 'coulomb': (9.0,), 'load': (0.5,),
        'offset': (3.0,)}


@each('parameters, qd, carried, expected', [
    ({'viscous': (2.0, 3.0), 'coulomb': (5.0, 7.0)}, 4.0, 0.0, (13.0, 19.0)),
    ({'viscous': (2.0, 3.0), 'coulomb': (5.0, 7.0)}, -4.0, 0.0, (-13.0, -19.0)),
    (VISCOUS_BACK | COULOMB_BACK, 4.0, 0.0, (13.0, 13.0)),
    (VISCOUS_BACK | COULOMB_BACK, -4.0, 0.0, (-4.0, -4.0)),
    (SMOOTH, 0.0, 0.0, (0.0, 0.0)),
    (SMOOTH, 0.1, 0.0, (5.0 * math.tanh(1.0),) * 2), (SMOOTH, -1e-6, 0.0, (-5e-5, -5e-5)),
    ({'coulomb': (5.0,)}, 0.05, 0.0, (5.0 * math.tanh(1.0),) * 2),
    ({'offset': (3.0, -4.0)}, 0.0, 0.0, (3.0, -4.0)),
    ({'offset': (3.0, -4.0)}, -2.0, 9.0, (3.0, -4.0)),
    (LOADED, 4.0, 30.0, (8.0, 5.0)), (LOADED, 4.0, -30.0, (8.0, 5.0)),
    (LOADED, -4.0, 30.0, (-8.0, -5.0)), (LOADED, -4.0, -30.0, (-8.0, -5.0)),
    # w = qd_second - 0.5 qd_first = 1; it acts on second, and times -0.5 on first.
    (SHARED, 2.0, 0.0, (-0.5 * (0.3 + 0.4), 0.3 + 0.4)),
    (SHARED | {'shared_ratio': 1.0}, -2.0, 0.0, 2 * (-0.3 * 4.0 - 0.4,)),
    (URDF, 2.0, 10.0, (0.7 * 2.0 + 1.5, 0.0)),
    ({'joints': ('second',), 'viscous': (3.0,)}, 1.0, 0.0, (0.0, 3.0)),
    ({'joints': ('second', 'first'), 'viscous': (3.0, 4.0)}, 1.0, 0.0, (4.0, 3.0)),
    ({'model': FrictionModel.NONE, 'viscous': (1.0,), 'offset': (1.0,)}, 1.0, 1.0, (0.0, 0.0)),
])
def test_friction_is_its_formula(
    parameters: dict[str, Any], qd: float, carried: float, expected: tuple[float, float]
) -> None:
    tau = resolved(**parameters).friction(np.full(2, qd), np.full(2, carried))
    np.testing.assert_allclose(tau, expected, rtol=1e-6)


@each('model', FrictionModel)
def test_what_the_hardware_compensates_is_not_compensated_twice(model: FrictionModel) -> None:
    for name in ('viscous', 'coulomb', 'load', 'offset'):
        given: dict[str, Any] = {name: (1.0,)}
        compensated = resolved(hardware=(HardwareCompensation.FRICTION,), model=model, **given)
        assert not compensated.has_friction
        assert resolved(**given).has_friction


@each('name, values', [
    ('viscous', (-1.0,)), ('viscous', ()), ('coulomb', (math.nan,)), ('viscous_negative', (-2.0,)),
    ('shared_joints', ('first',)), ('shared_joints', ('first', 'first')),
    ('shared_joints', ('first', 'hand')), ('load', (math.inf,)), ('smoothing_velocity', (0.0,)),
])
def test_impossible_friction_is_rejected_by_name(name: str, values: tuple[Any, ...]) -> None:
    given: dict[str, Any] = {name: values}
    with pytest.raises(InputError, match=rf'^friction\.{name}: '):
        resolved(**given)


BOX = Payload('fer_link8', 3.0, (0.02, -0.03, 0.1), (0.02, 0.0, 0.001, 0.02, 0.0, 0.01))
CABLE = Payload('fer_link4', 0.5)
Q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.6, 0.7])
SPRING = JointSpring(10.0 * np.arange(7.0), np.linspace(-1.0, 1.0, 7))
HELD = SPRING.stiffness * (Q - SPRING.rest_position)
QD, QDD = np.random.default_rng(0).normal(size=(2, 7))


def with_payloads(model: RobotModel, payloads: Sequence[Payload]) -> RobotModel:
    for payload in payloads:
        model = model.with_payload(payload.link, payload.mass, payload.com, payload.inertia)
    return model


def assert_close(actual: Array | None, expected: Array) -> None:
    assert actual is not None
    np.testing.assert_allclose(actual, expected, atol=1e-12)


@each('payloads', [(), (BOX,), (BOX, CABLE), (BOX, BOX)])
@each('gravity', [(0.0, 0.0, -9.81), (3.0, -2.0, -9.0)])
def test_dynamics_are_those_of_the_model_with_the_payloads(
    gravity: tuple[float, ...], payloads: Sequence[Payload]
) -> None:
    """A factor applies to the gravity of the URDF, not to payloads, nor to springs."""
    robot = LoadedModel(panda_arm())
    robot.set_payloads(payloads)
    robot.set_base(np.array(gravity), np.zeros(6), np.zeros(6))
    model = with_payloads(panda_arm(), payloads).with_gravity(gravity)
    arm = panda_arm().with_gravity(gravity).gravity_torques(Q)
    for factor in (FACTOR, 0.0 * FACTOR, 0.0 * FACTOR + 1.0):
        robot.set_corrections(factor, SPRING)
        added = (factor - 1.0) * arm + HELD
        assert_close(robot.gravity(Q), model.gravity_torques(Q) + added)
        assert_close(robot.bias(Q, QD), model.bias_torques(Q, QD) + added)
        rigid = model.inverse_dynamics(Q, QD, QDD) + added
        assert_close(robot.inverse_dynamics(Q, QD, QDD), rigid)


def test_factors_of_1_without_springs_leave_every_bit() -> None:
    robot, plain = (LoadedModel(panda_arm(), [GRAVITY], UPRIGHT) for _ in range(2))
    robot.set_corrections(FACTOR, SPRING)
    robot.set_corrections(np.ones(7), JointSpring.none(7))
    for name, motion in (('gravity', (Q,)), ('bias', (Q, QD)), ('inverse_dynamics', (Q, QD, QDD))):
        assert getattr(robot, name)(*motion).tobytes() == getattr(plain, name)(*motion).tobytes()
    held, expected = (robot.compensated(Q, Q) for robot in (robot, plain))
    assert held is not None
    assert expected is not None
    assert held.tobytes() == expected.tobytes()


GRAVITY, FRICTION, PAYLOAD = HardwareCompensation
UPRIGHT, TILTED = (0.0, 0.0, -9.81), np.array([6.9, 0.0, -6.9])
FACTOR = np.array([1.0, 0.8, 1.3, 2.0, 0.0, 0.5, 1.0])


@each('hardware', [(), (FRICTION,), (GRAVITY,), (PAYLOAD,), (GRAVITY, PAYLOAD)])
@each('tilted, own', [(False, None), (False, UPRIGHT), (True, UPRIGHT)])
@each('factor', [np.ones(7), FACTOR])
def test_hardware_compensates_under_its_own_gravity_however_the_base_moves(
    factor: Array, tilted: bool, own: Sequence[float] | None,
    hardware: tuple[HardwareCompensation, ...],
) -> None:
    model = panda_arm().with_gravity(UPRIGHT)
    robot = LoadedModel(model.with_gravity(TILTED) if tilted else model, hardware, own)
    robot.set_payloads([BOX])
    robot.set_corrections(factor, SPRING)
    if tilted:
        robot.set_base(TILTED, *np.random.default_rng(1).normal(size=(2, 6)))
    before = robot.gravity(Q).copy()
    compensated = robot.compensated(Q, before)
    if not {GRAVITY, PAYLOAD} & {*hardware}:
        assert compensated is None
        return
    arm, both = model.gravity_torques(Q), with_payloads(model, [BOX]).gravity_torques(Q)
    # The hardware's own model holds the arm: it takes factor * arm, and the effort of the springs.
    expected = (GRAVITY in hardware) * (factor * arm + HELD) + (PAYLOAD in hardware) * (both - arm)
    assert_close(compensated, expected)
    np.testing.assert_array_equal(robot.gravity(Q), before)
