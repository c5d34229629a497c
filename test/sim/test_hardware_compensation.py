# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Robots whose own controller adds gravity and friction, under the parameter files for them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward.law import FrictionModel, HardwareCompensation
from rnea_ros.feedforward.settings import FrictionSettings
from rnea_ros.robot import Payload, Wrench
from support.control.closed_loop import Array, ClosedLoop
from support.models.robots import ROOT, load

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')
yaml = pytest.importorskip('yaml', reason='PyYAML is not installed')

PANDA, UR5E = ROOT / 'urdf/panda_arm.urdf', ROOT / 'urdf/ur5e.urdf'
ROBOTS = pytest.mark.parametrize(
    ('preset', 'path'), [('franka', PANDA), ('universal_robots', UR5E)]
)
POSES = {
    PANDA: np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785]),
    UR5E: np.array([0.0, -1.2, 1.5, -1.9, -1.57, 0.3]),
}
LOADS = {
    PANDA: Payload('fer_link8', 2.0, (0.0, 0.0, 0.1)), UR5E: Payload('tool0', 2.0, (0.0, 0.0, 0.1))
}
VISCOUS, COULOMB = 3.0, 1.0
"""Of every joint, N m s/rad and N m."""


def settings_of(preset: str) -> dict[str, Any]:
    """Return what a parameter file says of the control."""
    text = (ROOT / 'config/presets' / f'{preset}.yaml').read_text(encoding='utf-8')
    values = yaml.safe_load(text)['/**']['ros__parameters']
    return {
        'hardware_compensates': tuple(map(HardwareCompensation, values['hardware_compensates'])),
    }


def robot(path: Path, configured: bool = True, **settings: Any) -> ClosedLoop:
    """
    Return a robot with a load and with friction, both of which are in the control's settings too.

    :param configured: whether the robot's own controller has the load
    """
    carried = LOADS[path]
    model = load(path)
    if configured:
        model = model.with_payload(carried.link, carried.mass, carried.com, carried.inertia)
    n = model.nv

    def hardware(q: Array, qd: Array) -> Array:
        return model.gravity_torques(q) + VISCOUS * qd + COULOMB * np.tanh(qd / 0.02)

    return ClosedLoop(
        path,
        POSES[path],
        simulation={
            'payload': carried, 'extra_damping': np.full(n, VISCOUS),
            'extra_friction': np.full(n, COULOMB), 'armature': np.full(n, 0.1),
        },
        hardware=hardware,
        payloads=(carried,),
        friction=FrictionSettings(
            model=FrictionModel.PARAMETERS, viscous=(VISCOUS,), coulomb=(COULOMB,)
        ),
        **settings,
    )


def drift(loop: ClosedLoop) -> float:
    """Return how far the furthest joint has come, rad."""
    return float(np.abs(np.array(loop.positions) - loop.positions[0]).max())


@ROBOTS
def test_a_robot_that_holds_itself_is_commanded_nothing_and_stays(preset: str, path: Path) -> None:
    loop = robot(path, **settings_of(preset))
    loop.run(3.0)
    assert loop.active()
    assert not np.array(loop.commands).any()
    assert drift(loop) < 1e-6


@ROBOTS
def test_moved_by_hand_it_is_commanded_nothing_either(preset: str, path: Path) -> None:
    loop = robot(path, **settings_of(preset))
    link = LOADS[path].link
    loop.simulated.apply_push(link, Wrench((0.0, 20.0, 0.0), (0.0, 0.0, 0.0)))
    loop.run(0.5)
    assert drift(loop) > 0.05
    assert not np.array(loop.commands).any()


@ROBOTS
def test_a_load_unknown_to_the_robot_is_commanded(preset: str, path: Path) -> None:
    settings = settings_of(preset)
    named = settings['hardware_compensates']
    settings['hardware_compensates'] = tuple(
        part for part in named if part is not HardwareCompensation.PAYLOAD
    )
    loop = robot(path, configured=False, ramp_duration=0.0, **settings)
    loop.run(3.0)
    assert np.abs(loop.commands[-1]).max() > 1.0
    assert drift(loop) < 5e-3


@pytest.mark.parametrize('stated', [True, False])
def test_an_inclined_arm_whose_robot_compensates_for_an_upright_one(stated: bool) -> None:
    upright, inclined = (0.0, 0.0, -9.81), (4.9, 0.0, -8.5)
    upright_arm = load(PANDA)
    loop = ClosedLoop(
        PANDA, POSES[PANDA], gravity=inclined, simulation={'gravity': np.array(inclined)},
        hardware=lambda q, qd: upright_arm.gravity_torques(q), ramp_duration=0.0,
        effort_rate_limit=(1e6,), hardware_compensates=(HardwareCompensation.GRAVITY,),
        hardware_gravity=upright if stated else (0.0,),
    )
    loop.run(1.0)
    assert (drift(loop) < 5e-3) is stated


@ROBOTS
@pytest.mark.parametrize('part', HardwareCompensation)
def test_what_the_file_leaves_out_is_commanded_twice(
    preset: str, path: Path, part: HardwareCompensation
) -> None:
    settings = settings_of(preset)
    named = settings['hardware_compensates']
    assert part in named
    settings['hardware_compensates'] = tuple(other for other in named if other is not part)
    loop = robot(path, **settings)
    if part is HardwareCompensation.FRICTION:  # it takes a motion
        push = Wrench((0.0, 20.0, 0.0), (0.0, 0.0, 0.0))
        loop.simulated.apply_push(LOADS[path].link, push)
    loop.run(0.5)
    assert np.abs(np.array(loop.commands)).max() > 0.5
