# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A linear-quadratic regulator about a trajectory, from the derivatives of the dynamics.

``python examples/trajectory_lqr.py`` simulates a Panda arm that starts beside its trajectory, and
prints its error with and without the regulator. Needs MuJoCo. Simulated only: the regulator knows
neither limits nor faults.
"""

from __future__ import annotations

import numpy as np

from rnea_ros import RobotModel
from rnea_ros.arrays import Array
from rnea_ros.resources import share_path
from rnea_ros.sim.physics import SimulatedRobot

URDF = share_path('urdf/panda_arm.urdf')
START = np.array([0.0, -0.8, 0.0, -2.2, 0.0, 1.6, 0.8])
END = np.array([1.2, 0.2, -0.6, -1.2, 0.8, 2.2, -0.4])
DURATION, PERIOD = 1.5, 0.002
OFFSET = np.array([0.05, -0.05, 0.05, -0.05, 0.05, -0.05, 0.05])
"""Error of the position at the start, rad."""

POSITION_COST, VELOCITY_COST, EFFORT_COST = 100.0, 1.0, 1e-3


def trajectory(times: Array) -> tuple[Array, Array, Array]:
    """Return positions, velocities and accelerations, shape (N, 7): a polynomial of order 5."""
    s = times[:, np.newaxis] / DURATION
    way = END - START
    q = START + way * (10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5)
    qd = way / DURATION * (30.0 * s**2 - 60.0 * s**3 + 30.0 * s**4)
    qdd = way / DURATION**2 * (60.0 * s - 180.0 * s**2 + 120.0 * s**3)
    return q, qd, qdd


def gains(model: RobotModel, q: Array, qd: Array, tau: Array) -> Array:
    """
    Return gains K of each period, shape (N, 7, 14): the effort is tau - K [q error; qd error].

    The error x follows dx/dt = A x + B u, with the derivatives of the forward dynamics at the
    trajectory. Riccati's equation, from the end to the start, gives the K of least cost.
    """
    by_q, by_qd, by_tau = model.forward_dynamics_derivatives_batch(q, qd, tau)
    n, h = model.nv, PERIOD
    Q = h * np.diag([POSITION_COST] * n + [VELOCITY_COST] * n)
    R = h * EFFORT_COST * np.eye(n)
    K, P = np.empty((len(q), n, 2 * n)), Q / h
    for k in range(len(q) - 1, -1, -1):
        A = np.block([[np.zeros((n, n)), np.eye(n)], [by_q[k], by_qd[k]]])
        B = np.vstack([np.zeros((n, n)), by_tau[k]])
        # One period: x + h dx/dt + h^2/2 d2x/dt2
        step = h * np.eye(2 * n) + 0.5 * h * h * A
        A, B = np.eye(2 * n) + step @ A, step @ B
        K[k] = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
        P = Q + A.T @ P @ (A - B @ K[k])
        P = 0.5 * (P + P.T)
    return K


def errors(*, regulated: bool) -> Array:
    """Return the largest error of all joints at each period, shape (N,), rad."""
    urdf = URDF.read_text(encoding='utf-8')
    model = RobotModel.from_urdf(urdf)
    q, qd, qdd = trajectory(np.arange(0.0, DURATION, PERIOD))
    tau = model.inverse_dynamics_batch(q, qd, qdd)
    K = gains(model, q, qd, tau) if regulated else np.zeros((len(q), model.nv, 2 * model.nv))
    robot = SimulatedRobot(urdf, initial_positions=START + OFFSET, timestep=0.5 * PERIOD)
    largest = np.empty(len(q))
    for k in range(len(q)):
        state = robot.state()
        error = np.concatenate([state.positions - q[k], state.velocities - qd[k]])
        largest[k] = np.abs(error[: model.nv]).max()
        for _ in range(2):
            robot.step(tau[k] - K[k] @ error)
    return largest


if __name__ == '__main__':
    for regulated in (False, True):
        found = errors(regulated=regulated)
        name = 'with the regulator' if regulated else 'feedforward alone'
        print(f'{name}: {found[0]:.3f} rad at the start, {found[-1]:.4f} rad at the end')
