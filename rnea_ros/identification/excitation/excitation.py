# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""From a robot and its limits to an exciting motion, or to one that was computed before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
import math

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, finite_vector
from ...collision import REACH, CollisionModel, Nearest
from ...command_line import text_table
from ...feedforward.motion import TrajectoryRequest
from ...robot import RobotModel
from ..run import Run
from .bounds import (
    LOAD_SHARE,
    POSITION_SHARE,
    Constraints,
    ExcitationError,
    FeasibleMotion,
    JointLimits,
    Region,
    chosen,
)
from .criterion import CUTOFF, PAYLOAD, Accuracy, Information, accuracy
from .motion import GRID, FourierBasis, RestToRestMotion, fourier_motion
from .search import Budget, Objective, Progress, search

MAX_DURATION = 86400.0  # longest motion and longest search, s
PERIOD = 10.0  # period of the series, s, about: a duration has a whole number of periods
SAMPLES = 100  # samples of a period for the search: twenty in the fastest harmonic
NOISE = 0.01  # noise of the efforts as a share of the effort limits
RANDOM_SAMPLES = 400  # random states that show which parameters can be determined
OTHERS = 20  # greatest number of random motions for the comparison

BETTER = 0.1  # share of the random motions for the comparison: the others are too small
SMALLER = 0.995  # factor of the size of a motion until it keeps its bounds on the fine grid
NO_ROOM = 1e-6  # smallest velocity that counts as a motion, rad/s or m/s

HEADER = ('joint', 'start', 'least', 'greatest', 'range', 'velocity', 'effort', 'torque error')


@dataclass(frozen=True, eq=False)
class Excitation(FeasibleMotion):
    """An exciting motion."""

    excited: tuple[str, ...]  #: names of the joints that move
    #: condition number of the base regressor of the rigid bodies; rows divided by the noise,
    #: columns scaled to equal size
    condition: float
    #: the median of the same for random motions within the bounds, of the better ones
    random_condition: float
    #: number of base parameters, and of further ones of friction and rotors
    parameters: tuple[int, int]
    noise: Array  #: noise of the efforts for the accuracy, shape (n,), N m or N
    accuracy: Accuracy  #: expected accuracy
    random_accuracy: Accuracy  #: the same for a random motion
    validation: RestToRestMotion  #: another motion, to judge the identified model
    #: least distance between links in both motions, one after the other, every millisecond of a
    #: period; None if collisions are not checked
    nearest: Nearest | None

    @property
    def model(self) -> RobotModel:
        """The robot."""
        return self.constraints.model

    @property
    def start(self) -> Array:
        """Positions at the start and at the end, shape (n,), rad or m."""
        return np.asarray(self.motion.positions[0])


def excite(
    model: RobotModel, limits: JointLimits, *,
    start: Mapping[str, float] | ArrayLike | None = None, joints: Sequence[str] | None = None,
    region: Region | None = None, collisions: CollisionModel | None = None,
    after: Run | None = None, duration: float = PERIOD, seconds: float = 60.0, seed: int = 0,
    progress: Progress = lambda share, text: None, evaluations: float = math.inf
) -> Excitation:
    """
    Return an exciting motion for the identification of a robot.

    :param model: the robot, on a fixed base
    :param limits: limits of its joints
    :param start: positions at the start and the end by joint name, or of all joints, rad or m; the
        others are in the middle of their range
    :param joints: names of the joints that move; None for all
    :param region: region for the origins of links; None for none
    :param collisions: distances that are kept, with the region's walls; None: not checked
    :param after: recording whose information counts
    :param duration: s
    :param seconds: processor time for the search
    :param seed: of the random motions
    :param progress: called with the share of the time that is over, and a text
    :param evaluations: motions that the search tries; the result then ignores the processor's load
    :raises ExcitationError: no motion is possible; the error names what to change
    """
    for name, number in (('duration', duration), ('seconds', seconds)):
        if not 0.0 < number <= MAX_DURATION:
            text = f'{number:g} s is not above 0 and at most {MAX_DURATION:g} s'
            raise ExcitationError(name, text)
    excited = chosen(model, joints)
    position = _start(model, limits, start)
    limits.check(model, excited)
    rng = np.random.default_rng(seed)
    bounds = limits.with_margins(position, excited)
    samples = _random_states(bounds, position, excited, rng)
    noise = _noise(model, bounds, limits, rng)
    information = Information.of(model, samples, excited, noise)
    if after is not None:
        information = information.after(after, duration)
    region = _with_links(region, model, bounds, position, excited, rng)
    constraints = Constraints.of(model, bounds, region, collisions)
    constraints.check_rest(position)
    periods = max(1, round(duration / PERIOD))
    period = duration / periods
    basis = FourierBasis.at(period / SAMPLES * np.arange(SAMPLES + 1, dtype=np.float64), period)
    objective = Objective(information, constraints, basis, position, excited)
    coefficients, random = search(objective, Budget(seconds, progress, evaluations), rng)
    better = random[: max(OTHERS, int(BETTER * len(random)))]
    better = better[:: max(1, len(better) // OTHERS)][:OTHERS]
    progress(1.0, 'the last check, every millisecond')
    unlike = min(better, key=lambda other: _likeness(other, coefficients))
    coefficients, unlike = (
        _kept(constraints, position, each, period) for each in (coefficients, unlike)
    )
    motion, validation = (
        fourier_motion(model.joint_names, position, each, period, periods)
        for each in (coefficients, unlike)
    )
    nearest = None
    if collisions is not None:
        once = int(np.ceil(period / GRID)) + 1
        both = [whole.sampled()[1][0][:once] for whole in (motion, validation)]
        nearest = collisions.nearest(np.vstack(both))

    # Beside random motions
    found, *others = (basis.motion(position, each) for each in (coefficients, *better))
    conditions = [information.condition(*other) for other in others]
    median = int(np.argsort(conditions)[len(conditions) // 2])
    last = model.joint_names[excited[-1]]
    described = {} if model.description is None else model.description.joints
    link = described[last].child if last in described else model.body_names[-1]
    return Excitation(
        motion, limits, constraints, tuple(model.joint_names[index] for index in excited),
        information.condition(*found), conditions[median],
        (len(information.rigid), information.added.shape[1]), noise,
        accuracy(information, found, others, link, motion.duration),
        accuracy(information, others[median], others, link, motion.duration),
        validation, nearest
    )


def _kept(constraints: Constraints, start: Array, coefficients: Array, period: float) -> Array:
    """Return the coefficients of a motion, scaled until it keeps its bounds every millisecond."""
    names = constraints.model.joint_names
    while True:
        states = fourier_motion(names, start, coefficients, period, 1).sampled()[1]
        if constraints.greatest_excess(*states) <= 0.0:
            return coefficients
        if np.abs(coefficients).max() < NO_ROOM:
            raise constraints.no_room(*states)
        coefficients = SMALLER * coefficients


def _likeness(one: Array, other: Array) -> float:
    """Return the cosine between two motions' coefficients, without its sign."""
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return abs(float((one * other).sum())) / lengths if lengths else 1.0


def known_motion(
    model: RobotModel, limits: JointLimits, request: TrajectoryRequest, position: ArrayLike,
    region: Region | None = None, collisions: CollisionModel | None = None,
) -> FeasibleMotion:
    """
    Return the motion of a trajectory, if it keeps all bounds of a new exciting motion.

    Request and position are those of :func:`motion_of`, region and collisions of :func:`excite`.

    :raises UnknownNameError: the robot has no joint of a name in the trajectory
    :raises ExcitationError: the trajectory is incomplete or leaves a bound
    """
    motion = motion_of(model, request, finite_vector('position', position, model.nv))
    excited = np.flatnonzero(np.ptp(motion.positions, axis=0) > 0.0).tolist()
    bounds = limits.with_margins(motion.positions[0], excited)
    random = np.random.default_rng(0)
    region = _with_links(region, model, bounds, motion.positions[0], excited, random)
    constraints = Constraints.of(model, bounds, region, collisions)
    constraints.check_motion(motion, 'in the motion', 'compute another motion')
    return FeasibleMotion(motion, limits, constraints)


def motion_of(model: RobotModel, request: TrajectoryRequest, position: Array) -> RestToRestMotion:
    """
    Return the motion of all joints in a trajectory, whatever its limits.

    :param request: trajectory with positions, velocities and accelerations at all points
    :param position: positions of the joints that the trajectory does not have, shape (n,)
    :raises UnknownNameError: the robot has no joint of a name in the trajectory
    :raises ExcitationError: the trajectory is incomplete, or not from rest to rest
    """
    columns = [model.position_indices(name).start for name in request.joint_names]
    count = len(request.times)
    q, qd, qdd = np.tile(position, (count, 1)), *np.zeros((2, count, model.nv))
    fields = request.positions, request.velocities, request.accelerations
    for values, field in zip((q, qd, qdd), fields, strict=True):
        if (field.counts != len(columns)).any() or not np.isfinite(field.values).all():
            text = 'needs finite positions, velocities and accelerations of all its joints at '
            text += 'every point, as excite and teach write them'
            raise ExcitationError('trajectory', text)
        values[:, columns] = field.values.reshape(count, -1)
    rises = count > 1 and (np.diff(request.times) > 0.0).all()
    if not rises or request.times[0] != 0.0 or qd[[0, -1]].any() or qdd[[0, -1]].any():
        text = 'does not start at time 0 and at rest, with rising times and rest at the end, as '
        text += 'those that excite and teach write'
        raise ExcitationError('trajectory', text)
    return RestToRestMotion(model.joint_names, request.times, q, qd, qdd)


def _start(
    model: RobotModel, limits: JointLimits, start: Mapping[str, float] | ArrayLike | None
) -> Array:
    if start is not None and not isinstance(start, Mapping):
        return finite_vector('start', start, model.nv)
    position = limits.middle.copy()
    for name, value in (start or {}).items():
        position[model.position_indices(name)] = value
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
    velocity = np.where(np.isfinite(bounds.velocity), bounds.velocity, 0.0)
    middle = (bounds.lower + bounds.upper) / 2.0
    states = _random_states(replace(bounds, velocity=velocity), middle, range(model.nv), rng)
    largest = np.abs(model.inverse_dynamics_batch(*states, threads=1)).max(axis=0)
    size = np.where(np.isfinite(limits.effort), limits.effort, largest)
    return np.asarray(NOISE * np.where(size > 0.0, size, 1.0))


def _with_links(
    region: Region | None, model: RobotModel, bounds: JointLimits, start: Array,
    excited: Sequence[int], rng: np.random.Generator,
) -> Region | None:
    """Return a region with its links: the given ones, or all whose origins move."""
    if region is None or region.links:
        return region
    q, _, _ = _random_states(bounds, start, excited, rng)
    moves = np.ptp(model.link_positions_batch(q, model.link_names), axis=0).max(axis=1) > 1e-9
    links = tuple(name for name, does in zip(model.link_names, moves, strict=True) if does)
    return replace(region, links=links)


def report(excitation: Excitation) -> str:
    """Return the report: verdict, accuracy, peaks against limits."""
    model, motion = excitation.model, excitation.motion
    random, found = excitation.random_accuracy.torque, excitation.accuracy.torque
    better = np.mean(np.divide(random, found, out=np.ones_like(found), where=found > 0.0))
    base, added = excitation.parameters
    still = [name for name in model.joint_names if name not in excitation.excited]
    lines = [
        f'{model.name}: {motion.duration:g} s from rest to rest; torques '
        f'{better:.1f} times as accurate as from a random trajectory',
        f'condition of the base regressor: {excitation.condition:.1f}; random trajectories: '
        f'{excitation.random_condition:.1f} (median of the better ones)',
        f'determined: {base} base parameters of the rigid bodies, {added} parameters of friction '
        'and rotor inertia',
        *_payload(excitation),
        *_collisions(excitation),
        *([f'still: {", ".join(still)}'] if still else []),
        '',
        _table(excitation),
        '',
        f'range, velocity, effort: peak as a share of the limit; the motion uses at most '
        f'{100 * POSITION_SHARE:.0f} % of the range,',
        f'{100 * LOAD_SHARE:.0f} % of the velocity and effort limits; efforts are without '
        'friction',
        'torque error: standard deviation of the torques on other motions, N m or N, if the noise '
        'of the efforts is',
        f'white, {100 * NOISE:g} % of the effort limit below {CUTOFF:g} Hz; it is proportional to '
        'the noise. Errors of real arms',
        'are not white: expect 3 to 12 times as much',
    ]
    return '\n'.join(lines)


def _payload(excitation: Excitation) -> list[str]:
    accuracy = excitation.accuracy
    if math.isnan(accuracy.mass):
        return [f'a payload on {accuracy.link} is not determined: the motion does not show it']
    place = '' if math.isnan(accuracy.com) else f', its centre to {1000.0 * accuracy.com:.2g} mm'
    return [
        f'a payload of {PAYLOAD:g} kg on {accuracy.link}: mass to '
        f'{1000.0 * accuracy.mass:.2g} g{place} (standard deviation)'
    ]


def _collisions(excitation: Excitation) -> list[str]:
    collisions, nearest = excitation.constraints.collisions, excitation.nearest
    if collisions is None or nearest is None:
        return []
    one, other = nearest.pair
    found = f'least distance {1000.0 * nearest.distance:.0f} mm, of {one} and {other}'
    if nearest.distance >= REACH:
        found = f'all distances above {1000.0 * REACH:.0f} mm'
    verdict = 'no collision' if collisions.is_complete else 'collisions: not all shapes are known'
    return [f'{verdict} in either motion, every ms: {found}', *collisions.remarks]


def _table(excitation: Excitation) -> str:
    _, (q, qd, qdd) = excitation.motion.sampled()
    limits = excitation.limits
    effort = np.abs(excitation.model.inverse_dynamics_batch(q, qd, qdd)).max(axis=0)
    velocity = np.abs(qd).max(axis=0)
    half = (limits.upper - limits.lower) / 2.0
    away = np.maximum(q.max(axis=0) - limits.middle, limits.middle - q.min(axis=0))
    rows = [HEADER]
    for index, name in enumerate(excitation.model.joint_names):
        rows.append((
            name,
            f'{q[0, index]:.3f}',
            f'{q[:, index].min():.3f}',
            f'{q[:, index].max():.3f}',
            _share(away[index], half[index]),
            _share(velocity[index], limits.velocity[index]),
            _share(effort[index], limits.effort[index]),
            f'{excitation.accuracy.torque[index]:.2g}',
        ))
    return text_table(rows, left=(0,))


def _share(value: float, limit: float) -> str:
    return f'{100.0 * value / limit:.0f} %' if math.isfinite(limit) and limit > 0.0 else '-'
