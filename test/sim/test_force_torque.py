# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What a force-torque sensor in the simulated robot reads, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from rnea_ros import Wrench
from support.models.robots import PENDULUM, ROTOR

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from rnea_ros.sim.physics import SimulatedRobot


def test_a_hanging_tool_pulls_the_sensor_down_by_its_weight() -> None:
    force, torque = SimulatedRobot(ROTOR).wrench('tool')
    np.testing.assert_allclose(force, [0.0, 0.0, -2.0 * 9.81], atol=1e-10)
    np.testing.assert_allclose(torque, [0.0, 0.3 * 2.0 * 9.81, 0.0], atol=1e-10)


def test_the_sensor_reads_in_the_axes_of_its_link() -> None:
    simulated = SimulatedRobot(PENDULUM, initial_positions=[np.pi / 2])
    force, torque = simulated.wrench('arm')
    np.testing.assert_allclose(force, [9.81, 0.0, 0.0], atol=1e-10)
    np.testing.assert_allclose(torque, [0.0, 0.0, 0.0], atol=1e-10)


def test_the_sensor_reads_a_push_on_what_it_carries_as_it_is() -> None:
    simulated = SimulatedRobot(ROTOR, gravity=(0.0, 0.0, 0.0))
    simulated.apply_push('tool', Wrench((1.0, 2.0, 3.0), (0.4, 0.5, 0.6)))
    simulated.step()
    force, torque = simulated.wrench('tool')
    np.testing.assert_allclose(force, [1.0, 2.0, 3.0], atol=1e-10)
    np.testing.assert_allclose(torque, [0.4, 0.5, 0.6], atol=1e-10)


def test_a_turning_tool_pulls_the_sensor_outwards() -> None:
    simulated = SimulatedRobot(ROTOR)
    simulated.step([2.0])
    for _ in range(500):
        simulated.step()
    speed = simulated.state().velocities[0]
    simulated.step([0.0])
    force, _ = simulated.wrench('tool')
    assert speed > 1.0
    np.testing.assert_allclose(force, [2.0 * 0.5 * speed**2, 0.0, -2.0 * 9.81], atol=1e-9)
