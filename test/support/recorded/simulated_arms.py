# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Arms that are known exactly, and differ from their URDF as real arms do."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from rnea_ros import RobotModel
from rnea_ros.arrays import Array
from rnea_ros.identification.pseudo_inertia import pseudo_inertias, standard_parameters
from rnea_ros.recordings import Recording
from support.models.robots import joint, link, load, robot

from .synthetic_recordings import middle_and_half_range, sum_of_sines

RATE = 250.0
"""Rate of the recordings, Hz."""

INERTIA = (0.02, 0.0, 0.0, 0.03, 0.0, 0.02)
THREE_JOINTS = load(robot(
    link('base'), link('turret', 4.0, (0.02, 0.01, 0.05), INERTIA),
    link('upper', 6.0, (0.2, 0.02, 0.02), INERTIA), link('fore', 3.0, (0.2, 0.01, 0.01), INERTIA),
    joint('pan', 'revolute', 'base', 'turret'),
    joint('lift', 'revolute', 'turret', 'upper', xyz=(0, 0, 0.2), axis=(0, 1, 0)),
    joint('elbow', 'revolute', 'upper', 'fore', xyz=(0.4, 0, 0), axis=(0, 1, 0)),
))


@dataclass(frozen=True)
class Arm:
    """A robot with friction, rotors and sensors; arrays have shape (n,)."""

    model: RobotModel  # its true rigid bodies
    viscous: Array  # N m s/rad
    coulomb: Array  # N m
    load: Array  # Coulomb friction per N m of load
    smoothing: Array  # rad/s
    armature: Array  # kg m^2
    offset: Array  # of the effort sensors, N m
    noise: Array  # standard deviation of the efforts, N m

    def efforts(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the true efforts, shape (N, n)."""
        rigid = self.model.inverse_dynamics_batch(q, qd, qdd)
        sign = np.tanh(qd / self.smoothing)
        friction = self.viscous * qd + sign * (self.coulomb + self.load * np.abs(rigid))
        efforts: Array = rigid + self.armature * qdd + friction + self.offset
        return efforts

    def with_payload(self, link: str, mass: float, com: ArrayLike, inertia: ArrayLike) -> Arm:
        """Return the arm with one more body on a link."""
        return replace(self, model=self.model.with_payload(link, mass, com, inertia))


def arm_unlike(urdf: RobotModel, seed: int) -> Arm:
    """Return an arm whose bodies differ from the URDF by 10 to 30 %, in random directions."""
    random = np.random.default_rng(seed)
    n, phi = urdf.nv, urdf.inertial_parameters.reshape(-1, 10)
    bodies = np.array([_unlike(body, random) for body in phi]).reshape(-1)
    model = urdf.with_inertial_parameters(bodies, strict_inertia=bool(phi[:, 0].all()))
    poses = random.uniform(-2.0, 2.0, (50, n))
    size = np.sqrt(np.mean(model.gravity_torques_batch(poses) ** 2, axis=0)) + 0.5
    return Arm(
        model, viscous=size * random.uniform(0.02, 0.1, n),
        coulomb=size * random.uniform(0.02, 0.1, n), load=random.uniform(0.0, 0.03, n),
        smoothing=random.uniform(0.02, 0.1, n),
        armature=random.uniform(0.0, 0.3, n) * np.minimum(size, 1.0),
        offset=size * random.uniform(-0.01, 0.01, n), noise=0.02 * size,
    )


def _unlike(phi: Array, random: np.random.Generator) -> Array:
    """Return the body with more or less mass, stretched and moved; one without mass stays."""
    m, h = phi[0], phi[1:4]
    if m == 0.0:
        return phi
    com, spread = h / m, pseudo_inertias(phi)[0, :3, :3] - np.outer(h, h) / m
    stretch = np.eye(3) + 0.15 * random.normal(size=(3, 3))
    spread = stretch @ spread @ stretch.T
    direction = random.normal(size=3)
    size = max(float(np.linalg.norm(com)), float(np.sqrt(np.trace(spread) / m)))
    com = com + random.uniform(0.1, 0.3) * size * direction / np.linalg.norm(direction)
    factor = 1.0 + random.choice([-1.0, 1.0]) * random.uniform(0.1, 0.3)
    first = np.append(com, 1.0)
    P = factor * m * np.outer(first, first)
    P[:3, :3] += factor * spread
    return standard_parameters(P[np.newaxis])


def motion(
    model: RobotModel, seed: int, duration: float = 40.0
) -> tuple[Array, Array, Array, Array]:
    """Return t, q, qd and qdd of five sines inside the position limits."""
    random, n = np.random.default_rng(seed), model.nv
    middle, half = middle_and_half_range(model, 0.9)
    sines = [
        (
            2.0 * np.pi * frequency * random.uniform(0.9, 1.1, n),
            half * random.uniform(0.5, 1.0, n) / (1.2 + k) / 2.0,
            random.uniform(0.0, 2.0 * np.pi, n),
        )
        for k, frequency in enumerate((0.07, 0.11, 0.19, 0.31, 0.43))
    ]
    t = np.arange(int(duration * RATE)) / RATE
    return t, *sum_of_sines(t, middle, sines)


def record(arm: Arm, seed: int, duration: float = 40.0) -> Recording:
    """Return what the arm reports in a random motion."""
    random = np.random.default_rng(1000 + seed)
    t, q, qd, qdd = motion(arm.model, seed, duration)
    effort = arm.efforts(q, qd, qdd) + arm.noise * random.normal(size=q.shape)
    return Recording(
        arm.model.joint_names, t, q + 2e-5 * random.normal(size=q.shape),
        qd + 2e-3 * random.normal(size=q.shape), effort, raw=True,
    )


def min_eigenvalues(parameters: Array) -> Array:
    """Return the smallest eigenvalue of each body's pseudo-inertia; positive: it is physical."""
    return np.asarray(np.linalg.eigvalsh(pseudo_inertias(parameters))[:, 0], dtype=np.float64)
