# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Recordings of a robot that is known exactly: poses at rest, or a motion with friction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rnea_ros import RobotModel
from rnea_ros.recordings import Kind, Recording, Sample
from support.models.robots import SHIPPED, load

Array = NDArray[np.float64]

PANDA, PANDA_ARM, UR5E = SHIPPED
ARM, HAND, UR = (load(path) for path in (PANDA_ARM, PANDA, UR5E))


@dataclass(frozen=True)
class Robot:
    """The robot as it is, which a model may be wrong about."""

    model: RobotModel
    factor: ArrayLike = 1.0  # of the reported effort, shape (n,) or ()
    flipped: tuple[int, ...] = ()  # joints whose position and effort are the other way round
    compensated: ArrayLike = False  # which joints' reported effort lacks gravity
    coulomb: ArrayLike = 0.02  # dry friction as a share of the load, beside 0.1 N m
    noise: float = 0.1  # standard deviation of the effort, N m
    mass: float = 0.0  # kg, of a point at the last link
    com: tuple[float, float, float] = (0.0, 0.0, 0.1)  # its place there, m

    def rigid(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the efforts that a motion needs without friction."""
        tip = self.model.body_names[-1]
        loaded = self.model.with_payload(tip, self.mass, self.com) if self.mass else self.model
        tau: Array = loaded.inverse_dynamics_batch(q, qd, qdd)
        tau = tau - np.asarray(self.compensated) * self.model.gravity_torques_batch(q)
        return tau


def light_arm(seed: int) -> RobotModel:
    """Return the Panda with links that weigh 20 to 85 % less."""
    factors = np.random.default_rng(seed).uniform(0.15, 0.8, 1 + len(ARM.body_names))[1:]
    return ARM.with_inertial_parameters(np.repeat(factors, 10) * ARM.inertial_parameters)


def record(robot: Robot, kind: Kind, seed: int, count: int = 12) -> Recording:
    """Return what a robot reports: poses at rest, each held for a second, or 25 s of motion."""
    random = np.random.default_rng(seed)
    return _poses(robot, random, count) if kind is Kind.STILL else _motion(robot, random)


def samples_of(recorded: Recording) -> list[Sample]:
    """Return a recording as the joint states that it was made from."""
    return [
        Sample(float(t), recorded.names, list(q), list(qd), list(effort))
        for t, q, qd, effort in zip(
            recorded.time, recorded.position, recorded.velocity, recorded.effort, strict=True
        )
    ]


def middle_and_half_range(model: RobotModel, share: float = 0.8) -> tuple[Array, Array]:
    """Return the middle of the position ranges, at most a turn, and half a share of them."""
    lower = np.maximum(model.position_lower, -np.pi)
    upper = np.minimum(model.position_upper, np.pi)
    return 0.5 * (lower + upper), 0.5 * share * (upper - lower)


def sum_of_sines(
    t: Array, middle: Array, sines: Iterable[tuple[Array, Array, Array]]
) -> tuple[Array, Array, Array]:
    """Return q, qd and qdd of sines: angular frequency, amplitude and phase of each joint."""
    q, qd, qdd = np.tile(middle, (len(t), 1)), *np.zeros((2, len(t), len(middle)))
    for w, amplitude, phase in sines:
        angle = np.outer(t, w) + phase
        q += amplitude * np.sin(angle)
        qd += amplitude * w * np.cos(angle)
        qdd -= amplitude * w**2 * np.sin(angle)
    return q, qd, qdd


def _friction(robot: Robot, rigid: Array, direction: Array) -> Array:
    load = np.sqrt(np.mean(rigid**2, axis=0))
    friction: Array = (0.1 + np.asarray(robot.coulomb) * load) * direction
    return friction


def _reported(
    robot: Robot, random: np.random.Generator, t: Array, q: Array, qd: Array, effort: Array
) -> Recording:
    effort = (effort + robot.noise * random.normal(size=effort.shape)) * np.asarray(robot.factor)
    sign = np.ones(robot.model.nv)
    sign[list(robot.flipped)] = -1.0
    q = q + 1e-5 * random.normal(size=q.shape)
    return Recording(
        robot.model.joint_names, t, sign * q, sign * qd, sign * effort, raw=True
    )


def _poses(robot: Robot, random: np.random.Generator, count: int) -> Recording:
    """Poses that are held for 1 s each, with moves of 0.5 s between them, at 50 Hz."""
    middle, half = middle_and_half_range(robot.model)
    places = middle + half * random.uniform(-1.0, 1.0, (count, len(middle)))
    rest = np.zeros_like(places)
    rigid = robot.rigid(places, rest, rest)
    # What an arm comes to rest with: anything within its dry friction.
    held = rigid + _friction(robot, rigid, random.uniform(-1.0, 1.0, rigid.shape))
    share = np.linspace(0.0, 1.0, 25, endpoint=False)[:, np.newaxis]

    def moved(poses: Array) -> Array:
        ways = zip(poses[:-1], np.diff(poses, axis=0), strict=True)
        parts = [np.vstack([np.tile(pose, (50, 1)), pose + share * way]) for pose, way in ways]
        return np.vstack([*parts, np.tile(poses[-1], (50, 1))])

    position = moved(places)
    t: Array = 0.02 * np.arange(len(position), dtype=np.float64)
    return _reported(robot, random, t, position, np.gradient(position, t, axis=0), moved(held))


def _motion(robot: Robot, random: np.random.Generator) -> Recording:
    """Sums of three sines about the middle of the ranges, 25 s at 50 Hz."""
    middle, half = middle_and_half_range(robot.model)
    n, t = len(middle), np.linspace(0.0, 25.0, 1251)
    q, qd, qdd = sum_of_sines(t, middle, [
        (
            2.0 * np.pi * random.uniform(0.04, 0.25, n), half * random.uniform(0.15, 0.33, n),
            random.uniform(0.0, 2.0 * np.pi, n),
        )
        for _ in range(3)
    ])
    rigid = robot.rigid(q, qd, qdd)
    effort: Array = rigid + 0.1 * qd + _friction(robot, rigid, np.tanh(qd / 0.02))
    return _reported(robot, random, t, q, qd, effort)
