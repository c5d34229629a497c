# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Computed torque in MuJoCo: the same gains, with and without the model, on a motion of sines."""

import mujoco
import numpy as np

import rnea_ros
from rnea_ros.resources import share_path

POSE = np.array([0.0, -0.8, 0.0, -2.2, 0.0, 1.6, 0.8])
OMEGA = np.array([1.0, 1.3, 1.6, 1.9, 2.2, 2.5, 2.8])
"""Frequencies of the sines, rad/s."""

KP, KD = 100.0, 20.0
"""Gains, 1/s^2 and 1/s: errors fade at 10 rad/s, critically damped."""


def tracking_error(*, with_model: bool) -> float:
    """Return the RMS of the position error over 5 s, rad."""
    urdf = share_path('urdf/panda_arm.urdf')
    dynamics = rnea_ros.RobotModel.from_urdf(urdf).workspace()  # fast: no checks, no allocation
    robot = mujoco.MjModel.from_xml_path(str(urdf))
    robot.body_mass[-1] += 0.3  # a payload that the model does not know, kg
    state = mujoco.MjData(robot)
    state.qpos[:], state.qvel[:] = POSE, 0.3 * OMEGA
    squares = []
    while state.time < 5.0:
        s, c = np.sin(OMEGA * state.time), np.cos(OMEGA * state.time)
        error = POSE + 0.3 * s - state.qpos
        correction = KP * error + KD * (0.3 * OMEGA * c - state.qvel)
        q, qd = state.qpos.copy(), state.qvel.copy()
        if with_model:
            wanted = -0.3 * OMEGA**2 * s + correction  # rad/s^2
            state.qfrc_applied[:] = dynamics.inverse_dynamics(q, qd, wanted)
        else:
            state.qfrc_applied[:] = np.diag(dynamics.mass_matrix(q)) * correction
        mujoco.mj_step(robot, state)
        squares.append(np.mean(error**2))
    return float(np.sqrt(np.mean(squares)))


def main() -> tuple[float, float]:
    """Return the errors of feedback alone and of computed torque, and print them, rad."""
    errors = tracking_error(with_model=False), tracking_error(with_model=True)
    print(f'RMS error: feedback alone {errors[0]:.4f} rad, computed torque {errors[1]:.4f} rad')
    return errors


if __name__ == '__main__':
    main()
