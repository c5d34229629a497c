# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Gravity mode on a palletising arm: mimic joints in the node's model, loops in the robot."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from rnea_ros.feedforward.law import Gravity
from rnea_ros.sim.physics import JointStates
from support.control.closed_loop import Array, ClosedLoop
from support.models.linkages import MOTORS, PALLETISER_LOOPS, palletiser, palletiser_with_loops
from support.models.robots import link

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

POSES = np.random.default_rng(4).uniform(-0.5, 0.5, (2, 4))


class LoopedRobot:
    """
    The arm in MuJoCo without mimic joints: its rods close the loops by points that coincide.

    It has the part of :class:`rnea_ros.sim.physics.SimulatedRobot` that a control needs; brakes
    hold it until the first command.
    """

    joint_names = reported_joints = MOTORS

    def __init__(self, y: Array, timestep: float = 0.001) -> None:
        import mujoco

        self._mujoco: Any = mujoco
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
        self._model = spec.compile()
        self._data = mujoco.MjData(self._model)
        loops = palletiser_with_loops()
        for name, position in zip(loops.model.joint_names, loops.positions(y), strict=True):
            self._data.qpos[self._model.joint(name).qposadr] = position
        self._at = np.array([int(self._model.joint(name).dofadr[0]) for name in MOTORS])
        mujoco.mj_forward(self._model, self._data)

    def state(self) -> JointStates:
        data = self._data
        efforts = data.qfrc_applied[self._at]
        return JointStates(data.qpos[self._at].copy(), data.qvel[self._at].copy(), efforts.copy())

    def step(self, command: Array | None) -> None:
        if command is not None:
            self._data.qfrc_applied[self._at] = command
            self._mujoco.mj_step(self._model, self._data)

    def gap(self) -> float:
        """Return the widest gap of a loop, m."""
        return float(np.abs(self._data.efc_pos).max())


def controlled(tmp_path: Path, pose: Array, urdf: str) -> tuple[ClosedLoop, LoopedRobot]:
    path = tmp_path / 'palletiser.urdf'
    path.write_text(urdf, encoding='utf-8')
    robot = LoopedRobot(pose)
    return ClosedLoop(
        path, pose, simulated=robot, mode=Gravity, ramp_duration=0.0,
        start_from_measured_effort=False, effort_limits=(5000.0,), effort_rate_limit=(1e7,),
    ), robot


@pytest.mark.parametrize('pose', POSES, ids=['0', '1'])
def test_gravity_mode_with_mimic_joints_holds_the_arm_still(tmp_path: Path, pose: Array) -> None:
    loop, robot = controlled(tmp_path, pose, palletiser(loops=False))
    loop.run(10.0)
    assert loop.active()
    drift = np.abs(np.array(loop.positions) - pose).max()
    print(f'drift {1e3 * drift:.4f} mrad in 10 s, gap {1e6 * robot.gap():.2f} um, commands up to '
          f'{np.abs(loop.commands[-1]).max():.0f} N m')
    assert drift < 0.5e-3
    assert robot.gap() < 1e-5


def test_the_simulated_robot_with_mimic_joints_is_held_as_well(tmp_path: Path) -> None:
    pin = link('pin', 0.01, inertia=(1e-5, 0.0, 0.0, 1e-5, 0.0, 1e-5))  # MuJoCo needs a mass
    path = tmp_path / 'palletiser.urdf'
    path.write_text(palletiser(loops=False).replace('<link name="pin"/>', pin), encoding='utf-8')
    loop = ClosedLoop(path, POSES[0], mode=Gravity, effort_limits=(5000.0,))
    loop.run(10.0)
    assert loop.active()
    drift = np.abs(np.array(loop.positions) - loop.positions[0]).max()
    print(f'drift {1e3 * drift:.4f} mrad in 10 s')
    assert drift < 5e-3


def test_an_arm_whose_tool_is_a_kilogram_lighter_in_the_model_sags(tmp_path: Path) -> None:
    urdf = palletiser(loops=False).replace('<mass value="40.0"/>', '<mass value="39.0"/>')
    loop, _ = controlled(tmp_path, POSES[0], urdf)
    loop.run(1.0)
    assert np.abs(loop.q - POSES[0]).max() > 5e-3
