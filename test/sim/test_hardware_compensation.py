# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Robots whose own controller adds gravity and friction: what is stated is not commanded."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward.law import FrictionModel, HardwareCompensation
from rnea_ros.feedforward.settings import FrictionSettings
from rnea_ros.robot import Payload, Wrench

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from support.control.closed_loop import PANDA, POSES, TOOLS, Array, ClosedLoop
from support.models.robots import load

POSE = POSES[PANDA]
ALL = [*HardwareCompensation]
VISCOUS, COULOMB = 3.0, 1.0
"""Of every joint, N m s/rad and N m."""


def robot(stated: Sequence[Any]) -> ClosedLoop:
    """Return a robot with a load, which its own controller knows, and with friction."""
    carried = Payload(TOOLS[PANDA], 2.0, (0.0, 0.0, 0.1))
    model = load(PANDA).with_payload(carried.link, carried.mass, carried.com)

    def hardware(q: Array, qd: Array) -> Array:
        return model.gravity_torques(q) + VISCOUS * qd + COULOMB * np.tanh(qd / 0.02)

    simulation: dict[str, Any] = {
        'payload': carried, 'extra_damping': np.full(7, VISCOUS),
        'extra_friction': np.full(7, COULOMB), 'armature': np.full(7, 0.1),
    }
    return ClosedLoop(
        PANDA, POSE, simulation=simulation, hardware=hardware, payloads=(carried,),
        ramp_duration=0.0, hardware_compensates=tuple(stated),
        friction=FrictionSettings(FrictionModel.PARAMETERS, (VISCOUS,), (COULOMB,)),
    )


def drift(loop: ClosedLoop) -> float:
    """Return how far the furthest joint has come, rad."""
    return float(np.abs(np.array(loop.positions) - loop.positions[0]).max())


@pytest.mark.parametrize('left_out', [None, *ALL])
def test_only_what_the_robot_compensates_unstated_is_commanded_twice(
    left_out: HardwareCompensation | None
) -> None:
    loop = robot([part for part in ALL if part is not left_out])
    loop.run(0.3)
    assert left_out or drift(loop) < 1e-6
    # Friction takes a motion.
    loop.simulated.apply_push(TOOLS[PANDA], Wrench((0.0, 20.0, 0.0), (0.0, 0.0, 0.0)))
    loop.run(0.5)
    assert drift(loop) > 0.03
    assert (np.abs(np.array(loop.commands)).max() > 0.5) == bool(left_out)


@pytest.mark.parametrize('stated', [True, False])
def test_an_inclined_arm_whose_robot_compensates_for_an_upright_one(stated: bool) -> None:
    upright, inclined = (0.0, 0.0, -9.81), (4.9, 0.0, -8.5)
    upright_arm = load(PANDA)
    loop = ClosedLoop(
        PANDA, POSE, gravity=inclined, simulation={'gravity': np.array(inclined)},
        hardware=lambda q, qd: upright_arm.gravity_torques(q), ramp_duration=0.0,
        effort_rate_limit=(1e6,), hardware_compensates=(HardwareCompensation.GRAVITY,),
        hardware_gravity=upright if stated else (0.0,),
    )
    loop.run(1.0)
    assert (drift(loop) < 5e-3) is stated
