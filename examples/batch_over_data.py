# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Torques of a whole data set at once: which joint needs how much of its limit, and when."""

import time

import numpy as np

import rnea_ros
from rnea_ros.arrays import Array
from rnea_ros.resources import share_path

SAMPLES = 50_000


def data_set(joints: int) -> Array:
    """Return positions, velocities and accelerations, shape (3, SAMPLES, joints)."""
    random = np.random.default_rng(0)
    scale = np.array([1.0, 1.5, 4.0])[:, np.newaxis, np.newaxis]
    return scale * random.uniform(-1.0, 1.0, size=(3, SAMPLES, joints))


def main() -> Array:
    """Return the largest torque of each joint, shape (n,), and print the report, N m."""
    model = rnea_ros.RobotModel.from_urdf(share_path('urdf/ur5e.urdf'))
    q, qd, qdd = data_set(model.nv)
    model.inverse_dynamics_batch(q[:2], qd[:2], qdd[:2])  # compiles, if this machine never did
    start = time.perf_counter()
    tau = model.inverse_dynamics_batch(q, qd, qdd)
    needed = time.perf_counter() - start
    largest: Array = np.abs(tau).max(axis=0)
    for joint, torque, limit in zip(model.joint_names, largest, model.effort_limits, strict=True):
        print(f'{joint:20} {torque:6.1f} N m, {torque / limit:4.0%} of the limit')
    print(f'{SAMPLES} samples in {1e3 * needed:.0f} ms')
    regressor = model.regressor_batch(q[:100], qd[:100], qdd[:100])
    assert np.allclose(regressor @ model.inertial_parameters, tau[:100])
    return largest


if __name__ == '__main__':
    main()
