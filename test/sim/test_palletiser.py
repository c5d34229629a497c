# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Gravity mode on a palletising arm: mimic joints in the node's model, loops in the robot."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from rnea_ros.feedforward.law import Gravity

mujoco = pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from rnea_ros.sim.physics import JointStates  # noqa: E402
from support.control.closed_loop import Array, ClosedLoop  # noqa: E402
from support.models.linkages import (  # noqa: E402
    MOTORS,
    PALLETISER_LOOPS,
    palletiser,
    palletiser_with_loops,
)
from support.models.robots import link  # noqa: E402

POSES = np.random.default_rng(4).uniform(-0.5, 0.5, (2, 4))


class LoopedRobot:
    """The arm in MuJoCo without mimic joints: its rods close the loops; brakes hold it first."""

    joint_names = reported_joints = MOTORS

    def __init__(self, y: Array, timestep: float = 0.001) -> None:
        root = ElementTree.fromstring(palletiser(loops=True))
        extension = ElementTree.SubElement(root, 'mujoco')
        ElementTree.SubElement(extension, 'compiler', fusestatic='false')
        spec = mujoco.MjSpec.from_string(ElementTree.tostring(root, 'unicode'))
        spec.option.timestep = timestep
        for loop in PALLETISER_LOOPS:
            places = ((loop.link_1, loop.placement_1), (loop.link_2, loop.placement_2))
            for i, (body, frame) in enumerate(places):
                spec.body(body).add_site(name=f'{loop.name}_{i}', pos=frame.translation)
            equality = spec.add_equality(
                type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_SITE,
                name1=f'{loop.name}_0', name2=f'{loop.name}_1',
            )
            # As stiff as MuJoCo permits: rods that give way move the arm.
            equality.solref, equality.solimp[:2] = [2.0 * timestep, 1.0], [0.9999, 0.9999]
        self._model: Any = spec.compile()
        self._data: Any = mujoco.MjData(self._model)
        loops = palletiser_with_loops()
        for name, position in zip(loops.model.joint_names, loops.positions(y), strict=True):
            self._data.qpos[self._model.joint(name).qposadr] = position
        self._at = np.array([int(self._model.joint(name).dofadr[0]) for name in MOTORS])
        mujoco.mj_forward(self._model, self._data)

    def state(self) -> JointStates:
        data, at = self._data, self._at
        return JointStates(data.qpos[at], data.qvel[at], data.qfrc_applied[at])

    def step(self, command: Array | None) -> None:
        if command is not None:
            self._data.qfrc_applied[self._at] = command
            mujoco.mj_step(self._model, self._data)


@pytest.mark.parametrize('lighter', [0.0, 1.0])
@pytest.mark.parametrize('pose', POSES, ids=['0', '1'])
def test_gravity_mode_with_mimic_joints_holds_the_arm_still(
    tmp_path: Path, pose: Array, lighter: float
) -> None:
    path = tmp_path / 'palletiser.urdf'
    tool = f'<mass value="{40.0 - lighter}"/>'
    path.write_text(palletiser(loops=False).replace('<mass value="40.0"/>', tool))
    loop = ClosedLoop(
        path, pose, simulated=LoopedRobot(pose), mode=Gravity, ramp_duration=0.0,
        start_from_measured_effort=False, effort_limits=(5000.0,), effort_rate_limit=(1e7,),
    )
    loop.run(1.0 if lighter else 5.0)
    assert loop.active()
    drift = np.abs(np.array(loop.positions) - pose).max()
    print(f'drift {1e3 * drift:.4f} mrad')
    assert (drift > 5e-3) if lighter else (drift < 0.5e-3)


def test_the_simulated_robot_with_mimic_joints_is_held_as_well(tmp_path: Path) -> None:
    pin = link('pin', 0.01, inertia=(1e-5, 0.0, 0.0, 1e-5, 0.0, 1e-5))  # MuJoCo needs a mass
    path = tmp_path / 'palletiser.urdf'
    path.write_text(palletiser(loops=False).replace('<link name="pin"/>', pin))
    loop = ClosedLoop(path, POSES[0], mode=Gravity, effort_limits=(5000.0,))
    loop.run(10.0)
    assert np.abs(np.array(loop.positions) - loop.positions[0]).max() < 5e-3
