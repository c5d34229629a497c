# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The robot with what it carries, on a base that tilts, and what its hardware does."""

from collections.abc import Sequence

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.feedforward.law import HardwareCompensation, LoadedModel
from rnea_ros.robot import Payload
from support.control.control_rig import Array, panda_arm

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


# Payloads


@pytest.mark.parametrize('payloads', [(), (BOX,), (BOX, CABLE), (BOX, BOX)])
def test_dynamics_are_those_of_the_model_with_the_payloads(payloads: Sequence[Payload]) -> None:
    assert_is(loaded(payloads), with_payloads(panda_arm(), payloads))


def test_a_share_of_a_payload_weighs_its_share() -> None:
    robot = loaded([])
    empty, full = robot.gravity(Q).copy(), loaded([BOX]).gravity(Q)
    robot.loaded_bodies.change(robot.loaded_bodies.parameters([BOX]))
    robot.loaded_bodies.blend(0.3)
    np.testing.assert_allclose(robot.gravity(Q), 0.7 * empty + 0.3 * full, atol=1e-12)


def test_what_is_put_down_is_gone() -> None:
    robot = loaded([BOX, CABLE])
    robot.set_payloads([])
    assert_is(robot, panda_arm())


# The hardware's own compensation


def compensations() -> list[tuple[HardwareCompensation, ...]]:
    gravity, friction, payload = (
        HardwareCompensation.GRAVITY, HardwareCompensation.FRICTION, HardwareCompensation.PAYLOAD
    )
    return [(), (gravity,), (payload,), (gravity, payload), (friction,)]


@pytest.mark.parametrize('hardware', compensations(), ids=lambda found: [h.value for h in found])
def test_hardware_and_command_together_hold_the_robot_and_its_payload(
    hardware: tuple[HardwareCompensation, ...]
) -> None:
    model = panda_arm()
    robot = loaded([BOX], hardware)
    robot_torques = model.gravity_torques(Q)
    payload_torques = with_payloads(model, [BOX]).gravity_torques(Q) - robot_torques
    added: Array = np.zeros(7)
    if HardwareCompensation.GRAVITY in hardware:
        added = added + robot_torques
    if HardwareCompensation.PAYLOAD in hardware:
        added = added + payload_torques
    compensated = robot.compensated(Q, robot.gravity(Q))
    if added.any():
        assert compensated is not None
        np.testing.assert_allclose(compensated, added, atol=1e-12)
    else:
        assert compensated is None


@pytest.mark.parametrize('hardware', compensations()[1:4])
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
    of_arm, of_payload = (
        float(part in hardware)
        for part in (HardwareCompensation.GRAVITY, HardwareCompensation.PAYLOAD)
    )
    compensated = robot.compensated(Q, before)
    assert compensated is not None
    expected = of_arm * arm + of_payload * (both - arm)
    np.testing.assert_allclose(compensated, expected, atol=1e-12)
    np.testing.assert_array_equal(robot.gravity(Q), before)


# The base


def test_a_tilted_base_tilts_gravity() -> None:
    model, tilted = panda_arm(), np.array([3.0, -2.0, -9.0])
    robot = loaded([BOX])
    robot.set_base(tilted, np.zeros(6), np.zeros(6))
    assert_is(robot, with_payloads(model, [BOX]).with_gravity(tilted))
