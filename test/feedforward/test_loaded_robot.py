# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The robot with what it carries: payloads that blend, pushes, and what the hardware does."""

from __future__ import annotations

from collections.abc import Sequence

from control_rig import Array, panda_arm
import numpy as np
import pytest

from rnea_ros import RobotModel, Wrench
from rnea_ros.feedforward.loaded_robot import HardwareCompensation, LoadedRobot
from rnea_ros.robot import Payload

BOX = Payload('fer_link8', 3.0, (0.02, -0.03, 0.1), (0.02, 0.0, 0.001, 0.02, 0.0, 0.01))
CABLE = Payload('fer_link4', 0.5)
Q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.6, 0.7])
QD, QDD = np.random.default_rng(0).normal(size=(2, 7))
PERIOD = 0.01


def with_payloads(model: RobotModel, payloads: Sequence[Payload]) -> RobotModel:
    for load in payloads:
        model = model.with_payload(load.link, load.mass, load.com, load.inertia)
    return model


def assert_is(robot: LoadedRobot, model: RobotModel) -> None:
    np.testing.assert_allclose(robot.gravity(Q), model.gravity_torques(Q), atol=1e-12)
    np.testing.assert_allclose(robot.bias(Q, QD), model.bias_torques(Q, QD), atol=1e-12)
    expected = model.inverse_dynamics(Q, QD, QDD)
    np.testing.assert_allclose(robot.inverse_dynamics(Q, QD, QDD), expected, atol=1e-12)


# Payloads


@pytest.mark.parametrize('payloads', [(), (BOX,), (BOX, CABLE), (BOX, BOX)])
def test_dynamics_are_those_of_the_model_with_the_payloads(payloads: Sequence[Payload]) -> None:
    model = panda_arm()
    assert_is(LoadedRobot(model, payloads), with_payloads(model, payloads))
    later = LoadedRobot(model)
    later.set_payloads(payloads, 0.0)
    later.advance(PERIOD)
    assert_is(later, with_payloads(model, payloads))


def test_a_payload_grows_evenly_over_its_time_and_stays() -> None:
    robot = LoadedRobot(panda_arm())
    empty, full = robot.gravity(Q).copy(), LoadedRobot(panda_arm(), [BOX]).gravity(Q)
    robot.set_payloads([BOX], 1.0)
    for k in range(1, 150):
        robot.advance(PERIOD)
        share = min(k * PERIOD, 1.0)
        np.testing.assert_allclose(robot.gravity(Q), empty + share * (full - empty), atol=1e-9)
        assert robot.blending == (k * PERIOD < 1.0 - 1e-9)


def test_a_payload_that_is_changed_on_its_way_goes_on_from_there() -> None:
    robot = LoadedRobot(panda_arm())
    robot.set_payloads([BOX], 1.0)
    for _ in range(40):
        robot.advance(PERIOD)
    before = robot.gravity(Q).copy()
    robot.set_payloads([CABLE], 1.0)
    np.testing.assert_array_equal(robot.gravity(Q), before)
    robot.advance(PERIOD)
    largest = np.abs(robot.gravity(Q) - before).max()
    assert 0.0 < largest < 0.05 * np.abs(before).max()
    for _ in range(100):
        robot.advance(PERIOD)
    assert_is(robot, with_payloads(panda_arm(), [CABLE]))


def test_what_is_put_down_is_gone() -> None:
    robot = LoadedRobot(panda_arm(), [BOX, CABLE])
    robot.set_payloads((), 0.5)
    for _ in range(60):
        robot.advance(PERIOD)
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
    robot = LoadedRobot(model, [BOX], hardware)
    of_robot = model.gravity_torques(Q)
    of_payload = with_payloads(model, [BOX]).gravity_torques(Q) - of_robot
    added: Array = np.zeros(7)
    if HardwareCompensation.GRAVITY in hardware:
        added = added + of_robot
    if HardwareCompensation.PAYLOAD in hardware:
        added = added + of_payload
    compensated = robot.compensated(Q)
    if added.any():
        assert compensated is not None
        np.testing.assert_allclose(compensated, added, atol=1e-12)
    else:
        assert compensated is None


# Pushes


@pytest.mark.parametrize('link', ['fer_link3', 'fer_link8'])
def test_what_pushes_is_held_by_minus_jacobian_times_wrench(link: str) -> None:
    model = panda_arm()
    robot = LoadedRobot(model, [BOX])
    force_at_link, torque_at_link = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])
    wrench = Wrench(force=force_at_link, torque=torque_at_link)
    frame = model.tree.frames[link]
    R = frame.placement.rotation
    force, torque = R @ force_at_link, R @ torque_at_link
    pushed = [robot.pushed]
    robot.add_wrench(frame.body, torque + np.cross(frame.placement.translation, force), force)
    pushed.append(robot.pushed)
    expected = -model.jacobian(Q, link).T @ np.concatenate([torque_at_link, force_at_link])
    np.testing.assert_allclose(robot.external(Q), expected, atol=1e-12)
    whole = model.inverse_dynamics(Q, QD, QDD, {link: wrench})
    bare = model.inverse_dynamics(Q, QD, QDD)
    np.testing.assert_allclose(robot.external(Q), whole - bare, atol=1e-11)
    robot.clear_wrenches()
    assert [*pushed, robot.pushed] == [False, True, False]
    assert not robot.external(Q).any()


def test_a_push_does_not_change_the_dynamics_themselves() -> None:
    robot = LoadedRobot(panda_arm(), [BOX])
    robot.add_wrench(3, np.ones(3), np.ones(3))
    assert_is(robot, with_payloads(panda_arm(), [BOX]))


# The base


def test_a_tilted_base_tilts_gravity_and_not_pushes() -> None:
    model, tilted = panda_arm(), np.array([3.0, -2.0, -9.0])
    robot = LoadedRobot(model, [BOX])
    robot.set_base(tilted, np.zeros(6), np.zeros(6))
    assert_is(robot, with_payloads(model, [BOX]).with_gravity(tilted))
    assert not robot.external(Q).any()
