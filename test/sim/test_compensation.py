# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Payloads, friction and rotors in closed loop: what their compensation is worth."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.feedforward.law import ComputedTorque, FrictionModel, VelocitySource
from rnea_ros.feedforward.settings import FrictionSettings
from rnea_ros.robot import Payload

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from support.control.closed_loop import PANDA, POSES, TOOLS, UR5E, ClosedLoop, swing

LOADS = {
    path: Payload(TOOLS[path], 3.0, (0.0, 0.0, 0.1), (0.01, 0.0, 0.0, 0.01, 0.0, 0.005))
    for path in POSES
}
ROTOR = 0.1
"""What geared drives of this size have, kg m^2; without it a wrist weighs next to nothing."""
TRACKING: dict[str, Any] = {'mode': ComputedTorque, 'kp': (100.0,), 'kd': (20.0,)}


def error(path: Path, desired: Any, **options: Any) -> float:
    """Return the RMS error of a motion of 1.5 s, rad."""
    loop = ClosedLoop(path, POSES[path], **TRACKING, **options)
    loop.hold(POSES[path], 0.5)
    since = len(loop.positions)
    loop.run(1.5, desired)
    errors = [q - desired(0.001 * (k + 1))[0] for k, q in enumerate(loop.positions[since:])]
    return float(np.sqrt(np.mean(np.square(errors))))


@pytest.mark.parametrize('path', [PANDA, UR5E], ids=lambda path: path.stem)
def test_gravity_mode_holds_an_arm_with_a_known_payload_where_it_is(path: Path) -> None:
    loop = ClosedLoop(
        path, POSES[path], simulation={'payload': LOADS[path]}, payloads=(LOADS[path],),
        ramp_duration=0.0,
    )
    loop.run(2.0)
    assert loop.active()
    assert np.abs(np.array(loop.positions) - POSES[path]).max() < 5e-3


@pytest.mark.parametrize(('path', 'source'), [*zip(POSES, VelocitySource, strict=True)])
def test_friction_and_rotors_that_are_known_are_compensated(
    path: Path, source: VelocitySource
) -> None:
    desired: Any = partial(swing, POSES[path], 0.3, 0.5)
    rotors = np.full(len(POSES[path]), ROTOR)
    # Large joints lose more: a sixtieth of what they can do.
    losses = RobotModel.from_urdf(path).effort_limits / 60.0
    # A measured velocity is a step old: too steep a slope would ring.
    smoothing = {VelocitySource.DESIRED: 0.01, VelocitySource.MEASURED: 0.2}[source]
    friction = FrictionSettings(
        FrictionModel.PARAMETERS, tuple(losses), tuple(losses), velocity=source,
        smoothing_velocity=(smoothing,),
    )
    ignored, known = (
        error(path, desired, simulation={'armature': rotors}, armature=(value,))
        for value in (0.0, ROTOR)
    )
    assert known < 0.05 * ignored
    robot = {'armature': rotors, 'extra_damping': losses, 'extra_friction': losses}
    plain = error(path, desired, simulation=robot, armature=(ROTOR,))
    compensated = error(path, desired, simulation=robot, armature=(ROTOR,), friction=friction)
    assert compensated < plain / 3.0
