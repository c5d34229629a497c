# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters that preflight writes: what it found beyond doubt, as the node reads it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward.settings import ResolvedSettings, resolve
from rnea_ros.node.parameters import complete_values, listed_joints, settings_from
from rnea_ros.preflight import check, found_parameters
from rnea_ros.recordings import Kind
from support.recorded.synthetic_recordings import ARM, Robot, record


def found(robot: Robot, kind: Kind = Kind.MOTION) -> dict[str, Any]:
    return dict(found_parameters(check(ARM, record(robot, kind, 3), kind=kind)))


def resolved(values: dict[str, Any]) -> ResolvedSettings:
    """Return what the node makes of the values."""
    complete = complete_values(values)
    return resolve(settings_from(complete, listed_joints(complete)), ARM)


def test_friction_is_found_and_taken_by_the_node() -> None:
    robot = Robot(ARM, noise=0.02)
    friction = resolved(found(robot)).friction
    recorded = record(robot, Kind.MOTION, 3)
    rest = np.zeros_like(recorded.position)
    load = np.sqrt(np.mean(robot.rigid(recorded.position, rest, rest) ** 2, axis=0))
    np.testing.assert_allclose(friction.coulomb[0], 0.1 + 0.02 * load, rtol=0.3, atol=0.05)
    np.testing.assert_array_equal(friction.coulomb[0], friction.coulomb[1])


def test_a_missing_tool_becomes_a_payload() -> None:
    robot = Robot(ARM, mass=1.2, com=(0.02, -0.03, 0.15), noise=0.05)
    for kind in Kind:
        (payload,) = resolved(found(robot, kind)).parameters.payloads
        assert payload.link == 'fer_link7'
        assert payload.mass == pytest.approx(1.2, abs=0.1)
        np.testing.assert_allclose(np.asarray(payload.com), np.array(robot.com), atol=0.03)


def test_efforts_without_gravity_are_stated() -> None:
    values = found(Robot(ARM, compensated=True), Kind.STILL)
    assert values['hardware_compensates'] == ['gravity']
    assert 'friction.model' not in values


def test_poses_at_rest_without_a_fault_give_no_parameter() -> None:
    assert found(Robot(ARM), Kind.STILL) == {}


def test_friction_of_efforts_in_another_unit_is_not_written() -> None:
    values = found(Robot(ARM, factor=np.array(0.1), noise=0.002))
    assert values == {}
    factor = np.ones(7)
    factor[3] = -1.0
    coulomb = found(Robot(ARM, factor=factor, noise=0.02))['friction.coulomb']
    assert coulomb[3] == 0.0
    assert coulomb[1] > 0.1
