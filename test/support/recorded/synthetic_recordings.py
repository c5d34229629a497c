# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Recordings of a robot that is known exactly: poses at rest, or a motion with friction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rnea_ros import RobotModel
from rnea_ros.recordings import Kind, Recording, Sample
from support.models.robots import SHIPPED, load

Array = NDArray[np.float64]

PANDA, PANDA_ARM, UR5E = SHIPPED
COULOMB = 0.02
"""Dry friction as a share of what a joint carries, beside 0.1 N m: as behind torque sensors."""


@dataclass(frozen=True)
class Robot:
    """
    The robot as it is, which a model may be wrong about.

    :param model: its true dynamics
    :param factor: of the reported effort, shape (n,) or ()
    :param flipped: joints whose position and effort are reported the other way round
    :param compensated: which joints' reported effort lacks gravity, shape (n,) or ()
    :param coulomb: dry friction as a share of the load
    :param noise: standard deviation of the effort, N m
    :param load: what the robot carries at its last link: tau(q, qd, qdd) of it, if anything
    """

    model: RobotModel
    factor: Array = field(default_factory=lambda: np.ones(()))
    flipped: tuple[int, ...] = ()
    compensated: ArrayLike = False
    coulomb: float = COULOMB
    noise: float = 0.1
    mass: float = 0.0
    com: tuple[float, float, float] = (0.0, 0.0, 0.1)

    def with_(self, **changes: object) -> Robot:
        """Return another robot."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def rigid(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the efforts that a motion needs without friction."""
        tau: Array = self.model.inverse_dynamics_batch(q, qd, qdd)
        tau = tau - np.asarray(self.compensated) * self.model.gravity_torques_batch(q)
        if self.mass:
            # A point mass: its inertia about the link's origin belongs to it.
            c = np.array(self.com)
            J = self.mass * (c @ c * np.eye(3) - np.outer(c, c))
            phi = np.zeros(10 * len(self.model.body_names))
            phi[-10:] = [
                self.mass, *(self.mass * c), J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2],
            ]
            tau = tau + self.model.regressor_batch(q, qd, qdd) @ phi
        return tau


def record(robot: Robot, kind: Kind, seed: int, count: int = 12) -> Recording:
    """
    Return what a robot reports.

    :param kind: poses at rest, each held for a second, or 25 s of motion
    :param seed: of poses or motion, and of noise
    :param count: of poses at rest
    """
    random = np.random.default_rng(seed)
    make = _poses if kind is Kind.STILL else _motion
    return make(robot, random, count)


def samples_of(recorded: Recording) -> list[Sample]:
    """Return a recording as the joint states that it was made from."""
    return [
        Sample(float(t), recorded.names, list(q), list(qd), list(effort))
        for t, q, qd, effort in zip(
            recorded.time, recorded.position, recorded.velocity, recorded.effort, strict=True
        )
    ]


def _middle_and_half_range(model: RobotModel) -> tuple[Array, Array]:
    lower = np.maximum(model.position_lower, -np.pi)
    upper = np.minimum(model.position_upper, np.pi)
    return 0.5 * (lower + upper), 0.4 * (upper - lower)


def _friction(robot: Robot, rigid: Array, direction: Array) -> Array:
    load = np.sqrt(np.mean(rigid**2, axis=0))
    friction: Array = (0.1 + robot.coulomb * load) * direction
    return friction


def _reported(
    robot: Robot, random: np.random.Generator, t: Array, q: Array, qd: Array, effort: Array
) -> Recording:
    effort = (effort + robot.noise * random.normal(size=effort.shape)) * robot.factor
    sign = np.ones(robot.model.nv)
    sign[list(robot.flipped)] = -1.0
    q = q + 1e-5 * random.normal(size=q.shape)
    return Recording(robot.model.joint_names, t, sign * q, sign * qd, sign * effort)


def _poses(robot: Robot, random: np.random.Generator, count: int) -> Recording:
    """Poses that are held for 1 s each, with moves of 0.5 s between them, at 50 Hz."""
    n = robot.model.nv
    middle, half = _middle_and_half_range(robot.model)
    places = middle + half * random.uniform(-1.0, 1.0, (count, n))
    rest = np.zeros_like(places)
    rigid = robot.rigid(places, rest, rest)
    # What an arm comes to rest with: anything within its dry friction.
    held = rigid + _friction(robot, rigid, random.uniform(-1.0, 1.0, rigid.shape))
    share = np.linspace(0.0, 1.0, 25, endpoint=False)[:, np.newaxis]
    q: list[Array] = []
    tau: list[Array] = []
    for k in range(count):
        q += [np.tile(places[k], (50, 1))]
        tau += [np.tile(held[k], (50, 1))]
        if k + 1 < count:
            q += [places[k] + share * (places[k + 1] - places[k])]
            tau += [held[k] + share * (held[k + 1] - held[k])]
    position = np.concatenate(q)
    t: Array = 0.02 * np.arange(len(position), dtype=np.float64)
    velocity: Array = np.gradient(position, t, axis=0)
    return _reported(robot, random, t, position, velocity, np.concatenate(tau))


def _motion(robot: Robot, random: np.random.Generator, _: int) -> Recording:
    """Sums of three sines about the middle of the ranges, 25 s at 50 Hz."""
    n = robot.model.nv
    middle, half = _middle_and_half_range(robot.model)
    t: Array = 0.02 * np.arange(1251, dtype=np.float64)
    q, qd, qdd = np.tile(middle, (len(t), 1)), np.zeros((len(t), n)), np.zeros((len(t), n))
    for _ in range(3):
        w = 2.0 * np.pi * random.uniform(0.04, 0.25, n)
        amplitude = half * random.uniform(0.15, 0.33, n)
        phase = np.outer(t, w) + random.uniform(0.0, 2.0 * np.pi, n)
        q += amplitude * np.sin(phase)
        qd += amplitude * w * np.cos(phase)
        qdd -= amplitude * w**2 * np.sin(phase)
    rigid = robot.rigid(q, qd, qdd)
    effort: Array = rigid + 0.1 * qd + _friction(robot, rigid, np.tanh(qd / 0.02))
    return _reported(robot, random, t, q, qd, effort)


LOADED_JOINTS = (1, 2, 3)
"""Joints of the Panda that carry enough for their own faults to be seen in every motion."""


Value = Callable[[np.random.Generator], float]
Maker = Callable[[np.random.Generator], tuple[Robot, RobotModel]]


@dataclass(frozen=True)
class Case:
    """
    A fault that a recording is made with.

    :param make: the robot, and the model that is wrong about it
    :param causes: which causes must be found, by name of the cause; nothing else may be
    """

    make: Maker
    causes: frozenset[str]


def _tilted(model: RobotModel, random: np.random.Generator) -> RobotModel:
    angle, heading = random.uniform(0.25, 2.0), random.uniform(-np.pi, np.pi)
    level = np.sin(angle)
    return model.with_gravity(
        9.81 * np.array([level * np.cos(heading), level * np.sin(heading), -np.cos(angle)])
    )


def only(joint: int) -> Array:
    """Return 1 for a joint of the Panda and 0 for the others."""
    chosen: Array = np.eye(7)[joint]
    return chosen


def _single(value: Value) -> Maker:
    def make(random: np.random.Generator) -> tuple[Robot, RobotModel]:
        factor = np.ones(7)
        factor[random.choice(LOADED_JOINTS)] = value(random)
        return Robot(ARM, factor=factor), ARM

    return make


def _whole(value: Value) -> Maker:
    return lambda random: (Robot(ARM, factor=np.array(value(random))), ARM)


ARM = load(PANDA_ARM)
HAND = load(PANDA)
UR = load(UR5E)

CASES = {
    'right': Case(lambda random: (Robot(ARM), ARM), frozenset()),
    'right_ur5e': Case(lambda random: (Robot(UR), UR), frozenset()),
    'inverted_axis': Case(
        lambda random: (Robot(ARM, flipped=(int(random.choice(LOADED_JOINTS)),)), ARM),
        frozenset({'INVERTED_AXIS'}),
    ),
    'inverted_effort': Case(_single(lambda random: -1.0), frozenset({'INVERTED_EFFORT'})),
    'inverted_everywhere': Case(_whole(lambda random: -1.0), frozenset({'INVERTED_EFFORT'})),
    'gravity_direction': Case(
        lambda random: (Robot(_tilted(ARM, random)), ARM), frozenset({'GRAVITY_DIRECTION'})
    ),
    'gear_ratio': Case(
        _single(lambda random: float(random.choice([0.1, 0.5, 1.6, 100.0]))),
        frozenset({'WRONG_SCALE'}),
    ),
    'unit': Case(
        _whole(lambda random: float(random.choice([0.01, 0.5, 1.6, 1000.0]))),
        frozenset({'WRONG_SCALE'}),
    ),
    'current': Case(
        lambda random: (Robot(ARM, factor=random.uniform(0.02, 0.3, 7)), ARM),
        frozenset({'WRONG_SCALE'}),
    ),
    'missing_tool': Case(
        lambda random: (Robot(ARM, mass=random.uniform(0.5, 3.0)), ARM),
        frozenset({'MISSING_TOOL'}),
    ),
    'surplus_tool': Case(lambda random: (Robot(ARM), HAND), frozenset({'SURPLUS_TOOL'})),
    'compensated': Case(
        lambda random: (Robot(ARM, compensated=True), ARM), frozenset({'COMPENSATED'})
    ),
    'compensated_joint': Case(
        lambda random: (Robot(ARM, compensated=only(random.choice(LOADED_JOINTS))), ARM),
        frozenset({'COMPENSATED'}),
    ),
    'dead_joint': Case(_single(lambda random: 0.0), frozenset({'NO_EFFORT'})),
    'before_the_gear': Case(lambda random: (Robot(ARM, coulomb=0.3), ARM), frozenset({'CURRENT'})),
    'no_effort': Case(_whole(lambda random: 0.0), frozenset({'NO_EFFORT'})),
}
