# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The robot with what it carries, on a base that tilts, and what its hardware does."""

from collections.abc import Sequence

import numpy as np

from rnea_ros import RobotModel
from rnea_ros.feedforward.law import HardwareCompensation, LoadedModel
from rnea_ros.robot import Payload
from support.cases import each
from support.control.control_rig import panda_arm

BOX = Payload('fer_link8', 3.0, (0.02, -0.03, 0.1), (0.02, 0.0, 0.001, 0.02, 0.0, 0.01))
CABLE = Payload('fer_link4', 0.5)
Q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.6, 0.7])
QD, QDD = np.random.default_rng(0).normal(size=(2, 7))


def with_payloads(model: RobotModel, payloads: Sequence[Payload]) -> RobotModel:
    for load in payloads:
        model = model.with_payload(load.link, load.mass, load.com, load.inertia)
    return model


def loaded(
    payloads: Sequence[Payload], hardware: Sequence[HardwareCompensation] = ()
) -> LoadedModel:
    robot = LoadedModel(panda_arm(), hardware)
    robot.set_payloads(payloads)
    return robot


def assert_is(robot: LoadedModel, model: RobotModel) -> None:
    np.testing.assert_allclose(robot.gravity(Q), model.gravity_torques(Q), atol=1e-12)
    np.testing.assert_allclose(robot.bias(Q, QD), model.bias_torques(Q, QD), atol=1e-12)
    expected = model.inverse_dynamics(Q, QD, QDD)
    np.testing.assert_allclose(robot.inverse_dynamics(Q, QD, QDD), expected, atol=1e-12)


@each('payloads', [(), (BOX,), (BOX, CABLE), (BOX, BOX)])
@each('gravity', [(0.0, 0.0, -9.81), (3.0, -2.0, -9.0)])
def test_dynamics_are_those_of_the_model_with_the_payloads(
    gravity: tuple[float, ...], payloads: Sequence[Payload]
) -> None:
    robot = loaded(payloads)
    robot.set_base(np.array(gravity), np.zeros(6), np.zeros(6))
    assert_is(robot, with_payloads(panda_arm(), payloads).with_gravity(gravity))


GRAVITY, FRICTION, PAYLOAD = HardwareCompensation
OF_GRAVITY = [(GRAVITY,), (PAYLOAD,), (GRAVITY, PAYLOAD)]


@each('hardware', [(), (FRICTION,), *OF_GRAVITY])
def test_hardware_and_command_together_hold_the_robot_and_its_payload(
    hardware: tuple[HardwareCompensation, ...]
) -> None:
    robot = loaded([BOX], hardware)
    arm, both = (with_payloads(panda_arm(), load).gravity_torques(Q) for load in ([], [BOX]))
    compensated = robot.compensated(Q, robot.gravity(Q))
    if not {GRAVITY, PAYLOAD} & {*hardware}:
        assert compensated is None
        return
    expected = (GRAVITY in hardware) * arm + (PAYLOAD in hardware) * (both - arm)
    assert compensated is not None
    np.testing.assert_allclose(compensated, expected, atol=1e-12)


@each('hardware', OF_GRAVITY)
def test_hardware_compensates_under_its_own_gravity_however_the_base_moves(
    hardware: tuple[HardwareCompensation, ...]
) -> None:
    upright, tilted = (0.0, 0.0, -9.81), np.array([6.9, 0.0, -6.9])
    model = panda_arm().with_gravity(upright)
    robot = LoadedModel(panda_arm().with_gravity(tilted), hardware, upright)
    robot.set_payloads([BOX])
    robot.set_base(tilted, *np.random.default_rng(1).normal(size=(2, 6)))
    before = robot.gravity(Q).copy()
    arm, both = model.gravity_torques(Q), with_payloads(model, [BOX]).gravity_torques(Q)
    compensated = robot.compensated(Q, before)
    assert compensated is not None
    expected = (GRAVITY in hardware) * arm + (PAYLOAD in hardware) * (both - arm)
    np.testing.assert_allclose(compensated, expected, atol=1e-12)
    np.testing.assert_array_equal(robot.gravity(Q), before)
