# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Gravity compensation in MuJoCo: the same arm without torques, and with those of the URDF."""

from pathlib import Path

import mujoco
import numpy as np

import rnea_ros
from rnea_ros.drawing import add_grid, new_figure, save
from rnea_ros.resources import share_path

POSE = np.array([0.0, -0.8, 0.0, -2.2, 0.0, 1.6, 0.8])
SHOWN = np.arange(0.0, 0.7, 0.15)  # times of the drawn poses, s


def main() -> float:
    """Simulate and draw both; return how far the arm with torques has moved in 2 s, rad."""
    urdf = share_path('urdf/panda_arm.urdf')
    model = rnea_ros.RobotModel.from_urdf(urdf)
    robot = mujoco.MjModel.from_xml_path(str(urdf))
    figure = new_figure(9.0, 4.5)
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    for axis, held in zip(axes, (False, True), strict=True):
        state = mujoco.MjData(robot)
        state.qpos[:] = POSE
        drawn = 0
        while state.time < 2.0:
            if drawn < len(SHOWN) and state.time >= SHOWN[drawn]:
                places = [np.zeros(3)] + [model.forward_kinematics(state.qpos, name)[:3, 3]
                                         for name in model.body_names]
                x, _, z = np.transpose(places)
                shade = 0.25 + 0.75 * drawn / len(SHOWN)
                axis.plot(x, z, 'o-', color='C0', alpha=shade, label=f'{state.time:.2f} s')
                drawn += 1
            if held:
                state.qfrc_applied[:] = model.gravity_torques(state.qpos)
            mujoco.mj_step(robot, state)
        moved = float(np.abs(state.qpos - POSE).max())
        title = 'torques against gravity' if held else 'no torques'
        print(f'{title}: moved by {moved:.2g} rad in 2 s')
        axis.set(title=title, xlabel='x, m', ylabel='z, m', aspect='equal')
        add_grid(axis)
    axis.legend(fontsize='small')
    save(figure, Path('gravity_compensation.png'))
    print('picture: gravity_compensation.png')
    return moved


if __name__ == '__main__':
    main()
