# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Payloads, friction and pushes in closed loop: what compensation is worth, on both robots."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.feedforward.law import ComputedTorque, FrictionModel, VelocitySource
from rnea_ros.feedforward.settings import FrictionSettings
from rnea_ros.robot import Payload
from support.control.closed_loop import ClosedLoop, swing
from support.models.robots import ROOT

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

PANDA, UR5E = ROOT / 'urdf/panda_arm.urdf', ROOT / 'urdf/ur5e.urdf'
POSES = {
    PANDA: np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785]),
    UR5E: np.array([0.0, -1.2, 1.5, -1.9, -1.57, 0.3]),
}
TOOLS = {PANDA: 'fer_link8', UR5E: 'tool0'}
ROTOR = 0.1
"""What geared drives of this size have, kg m^2; without it a wrist weighs next to nothing."""
SMOOTHING = {VelocitySource.DESIRED: 0.01, VelocitySource.MEASURED: 0.2}
"""A measured velocity is a step old: too steep a slope would ring."""
ROBOTS = pytest.mark.parametrize('path', [PANDA, UR5E], ids=lambda path: path.stem)


@ROBOTS
def test_a_payload_that_is_not_known_sags_and_one_that_is_set_is_held(path: Path) -> None:
    load = Payload(TOOLS[path], 3.0, (0.0, 0.0, 0.1))
    loop = ClosedLoop(
        path, POSES[path], simulation={'payload': load}, kd=(1.0,),
        # The weight is there from the start: a start from the measured effort would hold it.
        start_from_measured_effort=False, ramp_duration=0.0,
    )
    loop.run(0.5)
    sagged = np.abs(loop.q - POSES[path]).max()
    assert sagged > 0.05
    assert loop.active()

    held = ClosedLoop(
        path, POSES[path], simulation={'payload': load}, payloads=(load,), ramp_duration=0.0,
    )
    held.run(2.0)
    print(f'{path.stem}: sagged {sagged:.3f} rad in 0.5 s; held {1e3 * held_drift(held):.3f} mrad')
    assert held_drift(held) < 5e-3


def held_drift(loop: ClosedLoop) -> float:
    return float(np.abs(np.array(loop.positions) - loop.positions[0]).max())


@ROBOTS
def test_a_payload_set_during_a_hold_removes_the_sag_without_a_step(path: Path) -> None:
    load = Payload(TOOLS[path], 3.0, (0.0, 0.0, 0.1), (0.01, 0.0, 0.0, 0.01, 0.0, 0.005))
    pose = POSES[path]
    loop = ClosedLoop(
        path, pose, simulation={'payload': load}, mode=ComputedTorque, kp=(100.0,), kd=(20.0,),
    )
    loop.hold(pose, 2.0)
    sagged = np.abs(loop.q - pose).max()
    assert sagged > 0.02

    since = len(loop.commands)
    loop.change(payloads=(load,), payload_blend_duration=1.0)
    loop.hold(pose, 2.5)
    error = np.abs(loop.q - pose).max()
    step = np.abs(np.diff(np.array(loop.commands[since - 1 :]), axis=0)).max()
    print(f'{path.stem}: {1e3 * sagged:.1f} mrad before, {1e3 * error:.3f} mrad after, '
          f'largest step {step:.3f} N m')
    assert error < 5e-3
    # A thousandth of what 3 kg need at most, in the thousand ticks of the blend, and feedback.
    assert step < 0.3


@ROBOTS
def test_friction_compensation_tracks_at_least_three_times_better(path: Path) -> None:
    pose, n = POSES[path], len(POSES[path])
    # Large joints lose more: a sixtieth of what they can do.
    viscous = coulomb = RobotModel.from_urdf(path).effort_limits / 60.0

    desired = partial(swing, pose, 0.3, 0.5)

    def error(friction: FrictionSettings) -> float:
        loop = ClosedLoop(
            path, pose,
            simulation={
                'extra_damping': viscous, 'extra_friction': coulomb, 'armature': np.full(n, ROTOR)
            },
            mode=ComputedTorque, kp=(100.0,), kd=(20.0,), friction=friction,
            armature=(ROTOR,),
        )
        loop.hold(pose, 1.0)
        since = len(loop.positions)
        loop.run(2.0, desired)
        moved = np.array(loop.positions[since:])
        times = 0.001 * np.arange(1, len(moved) + 1)
        errors = moved - np.array([desired(t)[0] for t in times])
        assert loop.active()
        return float(np.sqrt((errors**2).mean()))

    plain = error(FrictionSettings())
    compensated = {
        source: error(FrictionSettings(
            model=FrictionModel.PARAMETERS, viscous=tuple(viscous), coulomb=tuple(coulomb),
            velocity=source, smoothing_velocity=(SMOOTHING[source],),
        ))
        for source in VelocitySource
    }
    for source, found in compensated.items():
        print(f'{path.stem}, {source.value} velocity: {1e3 * plain:.2f} mrad without, '
              f'{1e3 * found:.2f} mrad with friction compensated, {plain / found:.1f} times less')
    assert all(plain / found > 3.0 for found in compensated.values())


@ROBOTS
def test_rotors_that_are_known_are_moved_as_links_are(path: Path) -> None:
    pose, n = POSES[path], len(POSES[path])
    desired = partial(swing, pose, 0.2, 0.5)

    def error(armature: float) -> float:
        loop = ClosedLoop(
            path, pose, simulation={'armature': np.full(n, ROTOR)},
            mode=ComputedTorque, kp=(100.0,), kd=(20.0,), armature=(armature,),
        )
        loop.hold(pose, 1.0)
        loop.run(2.0, desired)
        return float(np.abs(loop.q - desired(2.0)[0]).max())

    ignored, known = error(0.0), error(ROTOR)
    print(f'{path.stem}: {1e3 * ignored:.2f} mrad, {1e3 * known:.2f} with rotors')
    assert known < 0.05 * ignored
