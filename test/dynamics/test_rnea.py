# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What the two passes leave in each body: its velocity, its acceleration, the force it takes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rnea_ros import RobotModel
from rnea_ros.dynamics.kernels.rnea import inverse_dynamics
from support.cases import each
from support.models.oracles import Array, random_state

pytest_plugins = ('support.models.model_fixtures',)

SEEDS = range(3)
STEP = 1e-6


def after_a_run(model: RobotModel, q: Array, qd: Array, qdd: Array) -> NDArray[np.void]:
    """Return the bodies after two runs, so that what a run leaves behind would show."""
    bodies, tau = model.tree.bodies.copy(), np.empty(model.nv)
    bodies[0]['a'][3:] = -model.gravity
    for _ in range(2):
        inverse_dynamics(bodies, q, qd, qdd, tau)
    np.testing.assert_allclose(tau, model.inverse_dynamics(q, qd, qdd), rtol=1e-9, atol=1e-10)
    return bodies


def poses(model: RobotModel, q: Array) -> list[Array]:
    """Return where the bodies stand in the base, homogeneous, from the public link poses."""
    found = {0: np.eye(4)}
    for name, frame in model.tree.frames.items():
        in_body = frame.placement.matrix()
        found[frame.body] = model.forward_kinematics(q, name) @ np.linalg.inv(in_body)
    return [found[body] for body in range(len(model.tree.bodies))]


def velocities(model: RobotModel, q: Array, qd: Array) -> Array:
    """Return each body's spatial velocity in its own coordinates, by central differences."""
    now, ahead, behind = (poses(model, q + h * qd) for h in (0.0, STEP, -STEP))
    result = []
    for pose, after, before in zip(now, ahead, behind, strict=True):
        twist = np.linalg.inv(pose) @ (after - before) / (2.0 * STEP)
        result.append([twist[2, 1], twist[0, 2], twist[1, 0], *twist[:3, 3]])
    return np.array(result)


@each('seed', SEEDS)
def test_each_body_has_the_velocity_of_its_pose(model: RobotModel, seed: int) -> None:
    q, qd, qdd = random_state(seed, model.nv)
    np.testing.assert_allclose(
        after_a_run(model, q, qd, qdd)['v'], velocities(model, q, qd), rtol=1e-6, atol=1e-6
    )


@each('seed', SEEDS)
def test_each_body_has_the_acceleration_of_its_velocity(model: RobotModel, seed: int) -> None:
    q, qd, qdd = random_state(seed, model.nv)
    weightless = model.with_gravity(np.zeros(3))
    ahead, behind = (
        after_a_run(model, q + h * qd + 0.5 * h**2 * qdd, qd + h * qdd, qdd)['v']
        for h in (STEP, -STEP)
    )
    np.testing.assert_allclose(
        after_a_run(weightless, q, qd, qdd)['a'], (ahead - behind) / (2.0 * STEP),
        rtol=1e-6, atol=1e-6,
    )


@each('seed', SEEDS)
def test_at_rest_the_base_carries_the_weight_of_all_that_moves(
    model: RobotModel, seed: int
) -> None:
    q, _, _ = random_state(seed, model.nv)
    rest = np.zeros(model.nv)
    bodies = after_a_run(model, q, rest, rest)
    moment, force = np.zeros(3), np.zeros(3)
    for body, pose in zip(bodies[1:], poses(model, q)[1:], strict=True):
        first_moment = pose[:3, :3] @ body['h'] + body['mass'] * pose[:3, 3]
        force -= body['mass'] * model.gravity
        moment -= np.cross(first_moment, model.gravity)
    np.testing.assert_allclose(
        bodies[0]['f'], np.concatenate([moment, force]), rtol=1e-9, atol=1e-10
    )
