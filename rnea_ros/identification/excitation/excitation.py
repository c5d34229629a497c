# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""From a robot and its limits to an exciting motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, finite_vector
from ...errors import UnknownNameError
from ...robot import RobotModel
from .accuracy import Accuracy, accuracy
from .constraints import Constraints
from .criterion import Information, regressor
from .feasibility import FeasibleMotion, check_limits, check_rest, no_room
from .fourier import FourierBasis
from .limits import ExcitationError, JointLimits, Region, chosen
from .motion import RestToRestMotion, fourier_motion
from .optimise import Budget, Found, Objective, Progress, search

MAX_DURATION = 86400.0
"""Longest motion and longest search, s."""

PERIOD = 10.0
"""Period of the series, s, about: a duration has a whole number of periods."""

SAMPLES = 100
"""Samples of a period for the search: twenty in the fastest harmonic."""

NOISE = 0.01
"""Noise of the efforts as a share of the effort limits."""

RANDOM_SAMPLES = 400
"""Random states that show which parameters can be determined."""

OTHERS = 20
"""Greatest number of random motions for the comparison."""

BETTER = 0.1
"""Share of the random motions, the better ones, for the comparison: the others are too small."""

NO_ROOM = 1e-6
"""Smallest velocity that counts as a motion, rad/s or m/s."""

SMALLER = 0.995
"""Factor of the size of a motion until it keeps its bounds on the fine grid."""


@dataclass(frozen=True, eq=False)
class Excitation(FeasibleMotion):
    """
    An exciting motion.

    :param model: the robot
    :param excited: names of the joints that move
    :param condition: condition number of the base regressor of the rigid bodies; rows divided by
        the noise, columns scaled to equal size
    :param random_condition: the median of the same for random motions within the bounds, of the
        better ones
    :param parameters: number of base parameters, and of further ones of friction and rotors
    :param noise: noise of the efforts for the accuracy, shape (n,), N m or N
    :param accuracy: expected accuracy
    :param random_accuracy: the same for a random motion
    """

    model: RobotModel
    excited: tuple[str, ...]
    condition: float
    random_condition: float
    parameters: tuple[int, int]
    noise: Array
    accuracy: Accuracy
    random_accuracy: Accuracy

    @property
    def start(self) -> Array:
        """Positions at the start and at the end, shape (n,), rad or m."""
        start: Array = self.motion.positions[0]
        return start


def excite(
    model: RobotModel,
    limits: JointLimits,
    *,
    start: Mapping[str, float] | ArrayLike | None = None,
    joints: Sequence[str] | None = None,
    region: Region | None = None,
    duration: float = PERIOD,
    seconds: float = 60.0,
    seed: int = 0,
    progress: Progress = lambda share, text: None,
) -> Excitation:
    """
    Return an exciting motion for the identification of a robot.

    :param model: the robot, on a fixed base
    :param limits: limits of its joints
    :param start: positions at the start and the end by joint name, or of all joints, rad or m; the
        others are in the middle of their range
    :param joints: names of the joints that move; None for all
    :param region: region for the origins of links; None for none
    :param duration: s
    :param seconds: processor time for the search
    :param seed: of the random motions
    :param progress: called with the share of the time that is over, and a text
    :raises ExcitationError: no motion is possible; the error names what to change
    """
    for name, number in (('duration', duration), ('seconds', seconds)):
        if not 0.0 < number <= MAX_DURATION:
            raise ExcitationError(
                name, f'{number:g} s is not above 0 and at most {MAX_DURATION:g} s'
            )
    excited = chosen(model, joints)
    position = _start(model, limits, start)
    check_limits(model, limits, excited)
    rng = np.random.default_rng(seed)
    bounds = limits.with_margins(position, excited)
    samples = _random_states(bounds, position, excited, rng)
    noise = _noise(model, bounds, limits, rng)
    information = Information.of(model, samples, excited, noise)
    constraints = Constraints.of(
        model, bounds, region_with_links(region, model, bounds, position, excited, rng)
    )
    check_rest(constraints, position)
    periods = max(1, round(duration / PERIOD))
    period = duration / periods
    times = period / SAMPLES * np.arange(SAMPLES + 1, dtype=np.float64)
    basis = FourierBasis.at(times, period)
    objective = Objective(information, constraints, basis, position, excited)
    found = search(objective, Budget(seconds), rng, progress)

    def points(coefficients: Array) -> RestToRestMotion:
        return fourier_motion(model.joint_names, position, coefficients, period, 1)

    coefficients = found.coefficients
    while constraints.peaks(constraints.of_motion(*points(coefficients).sampled()[1])).max() > 0.0:
        coefficients = SMALLER * coefficients
        if np.abs(coefficients).max() < NO_ROOM:
            raise no_room(constraints, position)
    motion = fourier_motion(model.joint_names, position, coefficients, period, periods)
    return _judged(objective, found, coefficients, motion, limits)


def _judged(
    objective: Objective,
    found: Found,
    coefficients: Array,
    motion: RestToRestMotion,
    limits: JointLimits,
) -> Excitation:
    """Return a motion with its figures, beside those of random motions."""
    information, model = objective.information, objective.model
    states = objective.basis.motion(objective.start, coefficients)
    better = found.random[: max(OTHERS, int(BETTER * len(found.random)))]
    better = better[:: max(1, len(better) // OTHERS)][:OTHERS]
    others = [objective.basis.motion(objective.start, each) for each in better]
    conditions = [information.condition(regressor(model, *other)) for other in others]
    median = int(np.argsort(conditions)[len(conditions) // 2])
    last = model.joint_names[objective.excited[-1]]
    joints = {} if model.description is None else model.description.joints
    link = joints[last].child if last in joints else model.body_names[-1]
    accuracies = [
        accuracy(information, each, others, link, motion.duration)
        for each in (states, others[median])
    ]
    return Excitation(
        motion,
        limits,
        objective.constraints,
        model,
        tuple(model.joint_names[index] for index in objective.excited),
        information.condition(regressor(model, *states)),
        conditions[median],
        (len(information.rigid), information.added.shape[1]),
        information.noise,
        *accuracies,
    )


def _start(
    model: RobotModel, limits: JointLimits, start: Mapping[str, float] | ArrayLike | None
) -> Array:
    if start is not None and not isinstance(start, Mapping):
        return finite_vector('start', start, model.nv)
    position = limits.middle.copy()
    for name, value in (start or {}).items():
        if name not in model.joint_names:
            raise UnknownNameError('joint', name, model.joint_names)
        position[model.joint_names.index(name)] = value
    return finite_vector('start', position, model.nv)


def _random_states(
    bounds: JointLimits, start: Array, excited: Sequence[int], rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Return random positions, velocities and accelerations within bounds, each (N, n)."""
    moves = np.zeros(len(start))
    moves[excited] = 1.0
    shape = (RANDOM_SAMPLES, len(start))
    q = rng.uniform(size=shape) * (bounds.upper - bounds.lower) + bounds.lower
    speed = np.where(moves > 0.0, bounds.velocity, 0.0)
    qd, qdd = (speed * rng.uniform(-1.0, 1.0, shape) for _ in range(2))
    return start + moves * (q - start), qd, 2.0 * np.pi / PERIOD * 3.0 * qdd


def _noise(
    model: RobotModel, bounds: JointLimits, limits: JointLimits, rng: np.random.Generator
) -> Array:
    """Return the noise of the efforts; by the largest of random efforts without a limit."""
    every = range(model.nv)
    middle = (bounds.lower + bounds.upper) / 2.0
    speed = JointLimits(
        bounds.lower,
        bounds.upper,
        np.where(np.isfinite(bounds.velocity), bounds.velocity, 0.0),
        bounds.effort,
    )
    states = _random_states(speed, middle, every, rng)
    largest = np.abs(model.inverse_dynamics_batch(*states, threads=1)).max(axis=0)
    size = np.where(np.isfinite(limits.effort), limits.effort, largest)
    noise: Array = NOISE * np.where(size > 0.0, size, 1.0)
    return noise


def region_with_links(
    region: Region | None,
    model: RobotModel,
    bounds: JointLimits,
    start: Array,
    excited: Sequence[int],
    rng: np.random.Generator,
) -> Region | None:
    """
    Return a region with its links: the given ones, or all whose origins move.

    :param region: the region; None for none
    :param model: the robot
    :param bounds: bounds of its joints
    :param start: joint positions at the start, shape (n,)
    :param excited: indices of the joints that move
    :param rng: for the random positions that show which links move
    :raises UnknownNameError: the robot has no link of a given name
    """
    if region is None:
        return None
    for link in region.links:
        if link not in model.link_names:
            raise UnknownNameError('link', link, model.link_names)
    if region.links:
        return region
    q, _, _ = _random_states(bounds, start, excited, rng)
    origins = model.link_positions_batch(q, model.link_names)
    moves = np.ptp(origins, axis=0).max(axis=1) > 1e-9
    links = tuple(name for name, does in zip(model.link_names, moves, strict=True) if does)
    return Region(region.lower, region.upper, links)
