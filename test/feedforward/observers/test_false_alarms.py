# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Fast motion of an arm whose model is wrong by 5 % is no contact at the shipped thresholds."""

from __future__ import annotations

import os

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.feedforward.law import LoadedModel
from rnea_ros.feedforward.observers import MomentumObserver
from rnea_ros.feedforward.settings import Settings, resolve
from support.control.control_rig import Array
from support.models.robots import ROOT, load

RATE = 500.0

MINUTES = 'RNEA_ROS_TEST_MINUTES'
"""Environment variable with the length of the motion, min; 60 takes some minutes."""

MINUTE = 60.0
ERROR = 0.05
VELOCITY_NOISE = 0.002
"""Of an encoder of 17 bits that is differentiated and filtered, rad/s."""


def wrong(model: RobotModel, rng: np.random.Generator) -> RobotModel:
    """Return the arm: every mass, centre of mass and moment of inertia 5 % more or less."""
    factor = 1.0 + ERROR * rng.choice([-1.0, 1.0], size=(len(model.body_names), 5))
    bodies = []
    for body, (mass, *com, moment) in zip(
        model.inertial_parameters.reshape(-1, 10), factor, strict=True
    ):
        m, c, J = body[0], body[1:4] / body[0], matrix(body[4:])
        about_com = moment * (J - m * (c @ c * np.eye(3) - np.outer(c, c)))
        m, c = mass * m, c * com
        J = about_com + m * (c @ c * np.eye(3) - np.outer(c, c))
        bodies.append([m, *(m * c), J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]])
    return model.with_inertial_parameters(np.ravel(bodies))


def matrix(moments: Array) -> Array:
    xx, xy, yy, xz, yz, zz = moments
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def fast_motion(
    model: RobotModel, rng: np.random.Generator, t: Array
) -> tuple[Array, Array, Array]:
    """Return q, qd and qdd of five sines a joint, up to 95 % of the velocity limits."""
    n = model.nv
    lower, upper = np.maximum(model.position_lower, -2.5), np.minimum(model.position_upper, 2.5)
    w = 2.0 * np.pi * np.array([[0.11], [0.23], [0.37], [0.53], [0.71]])
    w = w * rng.uniform(0.9, 1.1, (5, n))
    size = rng.uniform(0.5, 1.0, (5, n)) / np.array([[1.0], [1.2], [1.5], [2.0], [3.0]])
    size *= 0.5 * (upper - lower) / size.sum(axis=0)
    size *= np.minimum(1.0, 0.95 * model.velocity_limits / (size * w).sum(axis=0))
    phase = w * t[:, None, None] + rng.uniform(0.0, 2.0 * np.pi, (5, n))
    q = 0.5 * (lower + upper) + (size * np.sin(phase)).sum(axis=1)
    qd = (size * w * np.cos(phase)).sum(axis=1)
    return q, qd, -(size * w * w * np.sin(phase)).sum(axis=1)


def largest(model: RobotModel, seed: int, seconds: float) -> float:
    """Return the largest external effort of a motion, as a share of its threshold."""
    rng = np.random.default_rng(seed)
    settings = resolve(Settings(joints=model.joint_names, rate=RATE), model)
    observer = MomentumObserver(LoadedModel(model).bodies, settings)
    t = np.arange(0.0, seconds, 1.0 / RATE)
    q, qd, qdd = fast_motion(model, rng, t)
    effort = wrong(model, rng).inverse_dynamics_batch(q, qd, qdd)
    qd = qd + VELOCITY_NOISE * rng.normal(size=qd.shape)
    command, found = np.zeros(model.nv), 0.0
    for k in range(len(t)):
        dt = 1.0 / RATE if k else -1.0
        found = max(found, observer.observe(q[k], qd[k], effort[k], command, None, None, dt))
    return found


@pytest.mark.parametrize('name', ['panda_arm', 'ur5e'])
def test_fast_motion_with_a_model_error_of_5_percent_is_not_a_contact(name: str) -> None:
    minutes = int(os.environ.get(MINUTES, 1))
    model = load(ROOT / f'urdf/{name}.urdf')
    shares = [largest(model, seed, MINUTE) for seed in range(minutes)]
    print(f'{name}, {minutes} min: largest external effort {max(shares):.2f} of its threshold')
    assert max(shares) < 1.0
