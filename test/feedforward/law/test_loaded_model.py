# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The robot with what it carries, on a base that tilts, and what its hardware does."""

from collections.abc import Sequence

import numpy as np

from rnea_ros import RobotModel
from rnea_ros.feedforward.law import HardwareCompensation, LoadedModel
from rnea_ros.robot import Payload
from support.cases import each
from support.control.control_rig import Array, panda_arm

BOX = Payload('fer_link8', 3.0, (0.02, -0.03, 0.1), (0.02, 0.0, 0.001, 0.02, 0.0, 0.01))
CABLE = Payload('fer_link4', 0.5)
Q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.6, 0.7])
QD, QDD = np.random.default_rng(0).normal(size=(2, 7))


def with_payloads(model: RobotModel, payloads: Sequence[Payload]) -> RobotModel:
    for load in payloads:
        model = model.with_payload(load.link, load.mass, load.com, load.inertia)
    return model


def assert_close(actual: Array | None, expected: Array) -> None:
    assert actual is not None
    np.testing.assert_allclose(actual, expected, atol=1e-12)


@each('payloads', [(), (BOX,), (BOX, CABLE), (BOX, BOX)])
@each('gravity', [(0.0, 0.0, -9.81), (3.0, -2.0, -9.0)])
def test_dynamics_are_those_of_the_model_with_the_payloads(
    gravity: tuple[float, ...], payloads: Sequence[Payload]
) -> None:
    robot = LoadedModel(panda_arm())
    robot.set_payloads(payloads)
    robot.set_base(np.array(gravity), np.zeros(6), np.zeros(6))
    model = with_payloads(panda_arm(), payloads).with_gravity(gravity)
    assert_close(robot.gravity(Q), model.gravity_torques(Q))
    assert_close(robot.bias(Q, QD), model.bias_torques(Q, QD))
    assert_close(robot.inverse_dynamics(Q, QD, QDD), model.inverse_dynamics(Q, QD, QDD))


GRAVITY, FRICTION, PAYLOAD = HardwareCompensation
UPRIGHT, TILTED = (0.0, 0.0, -9.81), np.array([6.9, 0.0, -6.9])


@each('hardware', [(), (FRICTION,), (GRAVITY,), (PAYLOAD,), (GRAVITY, PAYLOAD)])
@each('tilted', [False, True])
def test_hardware_compensates_under_its_own_gravity_however_the_base_moves(
    tilted: bool, hardware: tuple[HardwareCompensation, ...]
) -> None:
    model = panda_arm().with_gravity(UPRIGHT)
    robot = LoadedModel(model.with_gravity(TILTED) if tilted else model, hardware, UPRIGHT)
    robot.set_payloads([BOX])
    if tilted:
        robot.set_base(TILTED, *np.random.default_rng(1).normal(size=(2, 6)))
    before = robot.gravity(Q).copy()
    compensated = robot.compensated(Q, before)
    if not {GRAVITY, PAYLOAD} & {*hardware}:
        assert compensated is None
        return
    arm, both = model.gravity_torques(Q), with_payloads(model, [BOX]).gravity_torques(Q)
    expected = (GRAVITY in hardware) * arm + (PAYLOAD in hardware) * (both - arm)
    assert_close(compensated, expected)
    np.testing.assert_array_equal(robot.gravity(Q), before)
