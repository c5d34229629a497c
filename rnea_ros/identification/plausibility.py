# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Plausibility of runs and fits: enough motion, one load, efforts that plausible bodies explain.

Fitted masses, friction and rotor inertias are positive. With an inverted effort, another unit,
another direction of gravity or another robot, the fit therefore leaves most of an effort
unexplained, or the fitted efforts differ from those of the URDF by a large factor. Wrong masses in
the URDF and joints with much friction pass the checks.
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

LOADED_SHARE = 0.1
"""Least effort of a loaded joint, as a share of the greatest effort of a joint."""

SUSPICIOUS_UNLOADED = 0.6
"""Unexplained share of the effort of a joint with little load that is an error."""

GAIN = 1.0
"""Least decrease of the logarithms of the unexplained shares, summed, by the cause of an error."""

MIN_SHARE = 0.01
"""Unexplained share below which fits are equally good."""

MAX_FACTOR = 5.0
"""Greatest factor between the identified and the URDF's effort; beyond, it is another unit."""

CAUSE_SAMPLES = 400
"""Samples that are enough for the search of a cause."""

TRIAL_WEIGHT = 1e-3
"""Weight of the URDF in the search, per sample; its masses may be wrong as well."""

MIN_TIME = 5.0
"""Least duration of the fitted runs, s: a few changes of direction of every joint."""

SUSPICIOUS = 0.25
"""Unexplained share of a loaded joint's effort above which a cause is searched for."""

UNUSUAL_FACTOR = 1.6
"""
Factor between identified and URDF efforts above which a note is added.

The same applies below its inverse. Errors of CAD masses cause smaller factors.
"""

INEXPLICABLE = 0.5
"""Unexplained share of a loaded joint's effort that wrong masses cannot cause."""

SAMPLES = 10000
"""Samples that are enough for the search of a changed load."""

LOAD_EXPLAINS = 0.3
"""Least share of the squared residuals that a changed load explains."""


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
    if duration < MIN_TIME:
        raise IdentificationError(
            f'{names}: {duration:.1f} s of motion to fit; at least {MIN_TIME:g} s are needed'
        )


def check_fit(equations: Equations, prior: RobotModel, fitted: Fitted) -> tuple[str, ...]:
    """
    Check that a fit explains the efforts with plausible bodies; return notes on joints.

    :param equations: motion and efforts
    :param prior: the model of the URDF
    :param fitted: result of the last round
    :raises IdentificationError: the efforts show an error; the text has its cause and a remedy
    """
    names = prior.joint_names
    used = equations.used.astype(np.float64)
    effort = weighted_rms(equations.effort, used)
    unexplained = weighted_rms(fitted.residual, used) / np.maximum(effort, np.finfo(float).tiny)
    loaded = effort >= LOADED_SHARE * effort.max()
    suspicious = unexplained > np.where(loaded, SUSPICIOUS, SUSPICIOUS_UNLOADED)
    factor = _effort_factors(equations, prior, fitted)
    suspicious |= factor < 0.0
    another_unit = (factor < 1.0 / MAX_FACTOR) | (factor > MAX_FACTOR)
    if suspicious.any():
        check_common_unit(equations)
        search_cause(equations, suspicious | another_unit)
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
    unusual = (factor < 1.0 / UNUSUAL_FACTOR) | (factor > UNUSUAL_FACTOR)
    return (
        *(
            f'{names[joint]}: the effort without friction is {factor[joint]:.1f} times that of '
            'the URDF; if its masses are right, this is the URDF of another robot, or another unit'
            for joint in np.flatnonzero(unusual)
        ),
        *(
            f'{names[joint]}: {100.0 * unexplained[joint]:.0f} % of the effort is not explained'
            for joint in np.flatnonzero(suspicious)
        ),
    )


def _effort_factors(equations: Equations, prior: RobotModel, fitted: Fitted) -> Array:
    """
    Return the ratio of identified to URDF rigid-body efforts of each joint, shape (n,).

    The ratio is fitted by least squares. It is 1 for joints with little load in the URDF.
    """
    expected = np.where(equations.used, equations.rigid(prior), 0.0)
    phi = fitted.x[: prior.inertial_parameters.size]
    identified = np.where(
        equations.used, equations.rigid(prior.with_inertial_parameters(phi)), 0.0
    )
    squares = (expected**2).sum(axis=0)
    loaded = (squares > 0.0) & (squares >= LOADED_SHARE**2 * squares.max())
    factors: Array = (expected * identified).sum(axis=0) / np.where(loaded, squares, 1.0)
    return np.where(loaded, factors, 1.0)


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
    step = 1 + len(equations) // SAMPLES
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


def check_common_unit(equations: Equations) -> None:
    """Raise an error if all loaded joints have efforts of a similar large factor."""
    rigid = equations.rigid(equations.model)
    size = weighted_rms(rigid, equations.used.astype(np.float64))
    loaded = np.flatnonzero((size > 0.0) & (size >= LOADED_SHARE * size.max()))
    factors = np.array([_factor(equations, joint, rigid[:, joint]) for joint in loaded.tolist()])
    if factors.size and 0.0 < factors.max() < 2.0 * factors.min():
        factor = float(np.median(factors))
        if not 1.0 / MAX_FACTOR <= factor <= MAX_FACTOR:
            raise IdentificationError(
                f"the efforts of all joints are about {factor:.3g} times the URDF's: another unit "
                'or a current; correct them by effort_scale'
            )


def _factor(equations: Equations, joint: int, rigid: Array) -> float:
    """Return a joint's effort as a factor of rigid-body efforts, with friction beside it."""
    own = terms(equations.qd, equations.qdd, equations.effort, START)[:, joint, [1, 2, 4]]
    rows = equations.used[:, joint]
    A = np.column_stack([rigid, own])[rows]
    return float(np.linalg.lstsq(A, equations.effort[rows, joint], rcond=None)[0][0])


def search_cause(equations: Equations, suspicious: NDArray[np.bool_]) -> None:
    """Raise an error if one error of the recording or of the URDF explains the efforts."""
    few = equations.thinned(CAUSE_SAMPLES)
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
        if not equations.used[:, joint].any():
            continue
        others = equations.without(joint)
        fitted = fit_in_rounds(others, model, TRIAL_WEIGHT, bodies, rounds=1)
        phi = fitted.x[: model.inertial_parameters.size]
        rigid = equations.rigid(model.with_inertial_parameters(phi))[:, joint]
        factor = _factor(equations, joint, rigid)
        if 1.0 / MAX_FACTOR <= abs(factor) <= MAX_FACTOR or factor == 0.0:
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
    return float(np.log(np.maximum(unexplained, MIN_SHARE)).sum())
