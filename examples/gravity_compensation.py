# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Gravity compensation in MuJoCo: the torques of the URDF hold an arm where it is."""

import mujoco
import numpy as np

import rnea_ros
from rnea_ros.resources import share_path


def main() -> float:
    """Return how far the arm has moved 2 s after the start, and print it, rad."""
    urdf = share_path('urdf/panda_arm.urdf')
    model = rnea_ros.RobotModel.from_urdf(urdf)
    robot = mujoco.MjModel.from_xml_path(str(urdf))
    state = mujoco.MjData(robot)
    state.qpos[:] = pose = np.array([0.0, -0.8, 0.0, -2.2, 0.0, 1.6, 0.8])
    while state.time < 2.0:
        state.qfrc_applied[:] = model.gravity_torques(state.qpos)
        mujoco.mj_step(robot, state)
    moved = float(np.abs(state.qpos - pose).max())
    print(f'moved by {moved:.1e} rad in {state.time:.0f} s; without torques it falls')
    return moved


if __name__ == '__main__':
    main()
