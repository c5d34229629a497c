# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Errors that a fit would hide: inverted efforts, units, gravity direction, another robot.

Masses, friction and rotors that must be positive cannot imitate these errors: the fit leaves most
of an effort unexplained. So a model with wrong masses passes, and friction may dominate a joint.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..robot import RobotModel
from .equations import Equations
from .friction_terms import START, terms
from .rounds import Fitted, fit_in_rounds, weighted_rms
from .run import IdentificationError, Run

LEAST_TIME = 5.0
"""Least duration of the fitted runs, s: a few changes of direction of every joint."""

LOADED_SHARE = 0.1
"""Least effort of a loaded joint, as a share of the greatest effort of a joint."""

SUSPICIOUS, SUSPICIOUS_UNLOADED = 0.25, 0.6
"""Unexplained share of an effort, of loaded and of other joints, that errors are searched for."""

INEXPLICABLE = 0.5
"""Unexplained share of a loaded joint's effort that no fault of masses causes."""

GAIN = 1.0
"""Least decrease of the logarithms of the unexplained shares, summed, by the cause of an error."""

LEAST_SHARE = 0.01
"""Unexplained share below which fits are equally good."""

GREATEST_FACTOR = 5.0
"""Greatest factor between the identified and the URDF's effort; beyond, it is another unit."""

SAMPLES = 400
"""Samples that are enough for the search of a cause."""

LOAD_SAMPLES = 10000
"""Samples that are enough for the search of a changed load."""

LOAD_EXPLAINS = 0.3
"""Least share of the squared residuals that a changed load explains."""

TRIAL_WEIGHT = 1e-3
"""Weight of the URDF in the search, per sample; its masses may be wrong as well."""


def check_runs(model: RobotModel, runs: Sequence[Run]) -> None:
    """
    Check that runs contain enough motion to identify a model.

    :raises IdentificationError: they do not
    """
    if not runs:
        raise IdentificationError('no run is given')
    for run in runs[1:]:
        if run.joints != runs[0].joints:
            raise IdentificationError(
                f'{run.name} has the joints {", ".join(run.joints)}, {runs[0].name} has '
                f'{", ".join(runs[0].joints)}; identify them one by one'
            )
    names = ', '.join(run.name for run in runs)
    if not any(np.isfinite(run.effort).any() for run in runs):
        raise IdentificationError(f'{names}: no joint has an effort that changes')
    equations = Equations(model, runs)
    moving = np.flatnonzero(equations.slides.any(axis=0))
    if not moving.size:
        raise IdentificationError(f'{names}: no joint moves; record an exciting motion')
    if len(moving) == 1 < len(runs[0].joints):
        joint = model.joint_names[moving[0]]
        raise IdentificationError(
            f'{names}: only {joint} moves; move all joints, as a trajectory of excite does'
        )
    if not equations.used.any():
        raise IdentificationError(f'{names}: no joint with an effort moves')
    duration = sum(len(run.time) * float(np.median(np.diff(run.time))) for run in runs)
    if duration < LEAST_TIME:
        raise IdentificationError(
            f'{names}: {duration:.1f} s of motion to fit; at least {LEAST_TIME:g} s are needed'
        )


def check_fit(equations: Equations, prior: RobotModel, fitted: Fitted) -> tuple[str, ...]:
    """
    Check that a fit explains the efforts by plausible bodies; return notes.

    :param equations: motion and efforts
    :param prior: the model of the URDF
    :param fitted: result of the last round
    :raises IdentificationError: the efforts show an error, with its cause and the way out
    """
    names = prior.joint_names
    used = equations.used.astype(np.float64)
    effort = weighted_rms(equations.effort, used)
    unexplained = weighted_rms(fitted.residual, used) / np.maximum(effort, np.finfo(float).tiny)
    loaded = effort >= LOADED_SHARE * effort.max()
    suspicious = unexplained > np.where(loaded, SUSPICIOUS, SUSPICIOUS_UNLOADED)
    factor = _factors(equations, prior, fitted)
    suspicious |= factor < 0.0
    another_unit = (factor < 1.0 / GREATEST_FACTOR) | (factor > GREATEST_FACTOR)
    all_in_another_unit = (another_unit | (factor == 1.0)).all() and (factor > 0.0).all()
    if suspicious.any() and not (another_unit.any() and all_in_another_unit):
        _search_cause(equations, suspicious | another_unit)
    for joint in np.flatnonzero(another_unit):
        raise IdentificationError(
            f'the effort of {names[joint]} without friction is {factor[joint]:.3g} times the '
            "URDF's: another unit, a current or a gear ratio (correct it by effort_scale), "
            'gravity that the hardware compensates, or the URDF of another robot'
        )
    for joint in np.flatnonzero(loaded & (unexplained > INEXPLICABLE)):
        raise IdentificationError(
            f'no masses and friction explain {100.0 * unexplained[joint]:.0f} % of the effort of '
            f'{names[joint]}: this may be the URDF of another robot, or the joints are matched '
            'wrongly (joints)'
        )
    return tuple(
        f'{names[joint]}: {100.0 * unexplained[joint]:.0f} % of the effort is not explained'
        for joint in np.flatnonzero(suspicious)
    )


def check_same_load(equations: Equations, fitted: Fitted, runs: Sequence[Run]) -> None:
    """
    Check that no run has another load at the tip of the arm.

    A mass and a first moment for each run are fitted to the residuals. Without a change of the
    load they explain little.

    :param equations: motion and efforts of all runs
    :param fitted: result of the last round
    :param runs: the runs
    :raises IdentificationError: the load changed between two runs
    """
    model = equations.model
    tip = len(model.body_names) - 1
    step = 1 + len(equations) // LOAD_SAMPLES
    q, qd, qdd = (each[::step] for each in (equations.q, equations.qd, equations.qdd))
    columns = model.regressor_batch(q, qd, qdd)[:, :, 10 * tip : 10 * tip + 4]
    used = equations.used[::step]
    root = np.where(used, 1.0 / fitted.sigma, 0.0)
    residual = np.where(used, fitted.residual[::step], 0.0) * root
    columns = columns * root[:, :, np.newaxis]
    rest, masses = residual.copy(), []
    for number in range(len(runs)):
        which = equations.run[::step] == number
        A, y = columns[which].reshape(-1, 4), residual[which].reshape(-1)
        load = np.linalg.lstsq(A, y, rcond=None)[0]
        rest[which] -= (A @ load).reshape(-1, model.nv)
        masses.append(float(load[0]))
    least, most = int(np.argmin(masses)), int(np.argmax(masses))
    if (rest**2).sum() < (1.0 - LOAD_EXPLAINS) * (residual**2).sum() and least != most:
        raise IdentificationError(
            f'the load changed: in {runs[most].name} {model.body_names[tip]} carries about '
            f'{masses[most] - masses[least]:.2f} kg more than in {runs[least].name}; identify '
            'runs with the same load'
        )


def _factors(equations: Equations, prior: RobotModel, fitted: Fitted) -> Array:
    """
    Return the identified rigid-body effort of each joint as a factor of the URDF's, shape (n,).

    1 for joints that the URDF's bodies hardly load.
    """
    expected = np.where(equations.used, equations.rigid(prior), 0.0)
    phi = fitted.x[: prior.inertial_parameters.size]
    found = np.where(
        equations.used, equations.rigid(prior.with_inertial_parameters(phi)), 0.0
    )
    squares = (expected**2).sum(axis=0)
    loaded = (squares > 0.0) & (squares >= LOADED_SHARE**2 * squares.max())
    factors: Array = (expected * found).sum(axis=0) / np.where(loaded, squares, 1.0)
    return np.where(loaded, factors, 1.0)


def _search_cause(equations: Equations, suspicious: NDArray[np.bool_]) -> None:
    """Raise an error if one error of the recording or of the URDF explains the efforts."""
    few = equations.thinned(SAMPLES)
    before = _score(_unexplained(few))
    best, text = np.inf, ''
    for causes in (_inverted_efforts, _other_units, _inverted_axes, _other_gravity):
        for changed, words in causes(few, suspicious):
            unexplained = _unexplained(changed)
            if (score := _score(unexplained)) < best:
                best, text, rest = score, words, unexplained
        if best < before - GAIN and (rest < SUSPICIOUS_UNLOADED).all():
            break
    if best < before - GAIN:
        raise IdentificationError(text)


def _inverted_efforts(
    equations: Equations, suspicious: NDArray[np.bool_]
) -> Iterator[tuple[Equations, str]]:
    """Yield the equations with efforts inverted, of suspicious joints and of all."""
    names, joints = equations.model.joint_names, np.flatnonzero(suspicious)
    everything = np.arange(len(names))
    for group in (everything, joints, *(np.array([joint]) for joint in joints)):
        sign = np.ones(len(names))
        sign[group] = -1.0
        which = 'all joints' if len(group) == len(names) else ', '.join(names[k] for k in group)
        text = f'the effort of {which} is inverted; correct it by effort_scale, -1 for these'
        yield equations.with_factors(effort=sign), text


def _other_units(
    equations: Equations, suspicious: NDArray[np.bool_]
) -> Iterator[tuple[Equations, str]]:
    """Yield the equations with the effort of a joint in the unit that the others imply."""
    model = equations.model
    bodies = np.ones(len(model.body_names), dtype=bool)
    for joint, name in enumerate(model.joint_names):
        rows = equations.used[:, joint]
        if not rows.any():
            continue
        others = equations.without(joint)
        fitted = fit_in_rounds(others, model, TRIAL_WEIGHT, bodies, rounds=1)
        phi = fitted.x[: model.inertial_parameters.size]
        rigid = equations.rigid(model.with_inertial_parameters(phi))[:, joint]
        own = terms(equations.qd, equations.qdd, equations.effort, START)[:, joint]
        A = np.column_stack([rigid, own[:, [1, 2, 4]]])[rows]
        factor = float(np.linalg.lstsq(A, equations.effort[rows, joint], rcond=None)[0][0])
        if 1.0 / GREATEST_FACTOR <= abs(factor) <= GREATEST_FACTOR or factor == 0.0:
            continue
        scale = np.ones(model.nv)
        scale[joint] = 1.0 / factor
        yield (
            equations.with_factors(effort=scale),
            f'the effort of {name} is about {factor:.3g} times what those of the other joints '
            'imply: another unit or gear ratio; correct it by effort_scale',
        )


def _inverted_axes(
    equations: Equations, suspicious: NDArray[np.bool_]
) -> Iterator[tuple[Equations, str]]:
    """Yield the equations with the axis of each joint inverted."""
    for joint, name in enumerate(equations.model.joint_names):
        sign = np.ones(len(suspicious))
        sign[joint] = -1.0
        text = f'position and effort of {name} are opposite to its axis in the URDF; invert it'
        yield equations.with_factors(effort=sign, motion=sign), text


def _other_gravity(
    equations: Equations, suspicious: NDArray[np.bool_]
) -> Iterator[tuple[Equations, str]]:
    """Yield the equations with gravity to the corners, edges and faces of a cube."""
    size = float(np.linalg.norm(equations.model.gravity))
    for corner in product((-1.0, 0.0, 1.0), repeat=3):
        gravity = size * np.array(corner) / max(float(np.linalg.norm(corner)), 1.0)
        if any(corner) and not np.allclose(gravity, equations.model.gravity):
            where = ', '.join(f'{value + 0.0:.1f}' for value in gravity)
            yield (
                equations.with_gravity(gravity),
                f"gravity is not that of the model: it is about ({where}) m/s^2 in the root "
                "link's frame; correct it by gravity",
            )


def _unexplained(equations: Equations) -> Array:
    """Return the unexplained share of each joint's effort, by a short fit, shape (n,)."""
    used = equations.used.astype(np.float64)
    size = weighted_rms(equations.effort, used)
    bodies = np.ones(len(equations.model.body_names), dtype=bool)
    fitted = fit_in_rounds(equations, equations.model, TRIAL_WEIGHT, bodies, rounds=2)
    shares: Array = weighted_rms(fitted.residual, used) / np.where(size > 0.0, size, 1.0)
    return shares


def _score(unexplained: Array) -> float:
    """Return the sum of logarithms: a joint that nothing explains hides no improvement."""
    return float(np.log(np.maximum(unexplained, LEAST_SHARE)).sum())
