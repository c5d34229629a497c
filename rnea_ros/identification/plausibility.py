# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Plausibility of runs and fits: enough motion, one load, efforts that plausible bodies explain.

Fitted masses, friction and rotor inertias are positive. With an inverted effort, another unit,
another direction of gravity or another robot, the fit therefore often leaves most of an effort
unexplained, or the fitted efforts differ from those of the URDF by a large factor. But a mass on
the other side of an axis explains an inverted effort as well, so preflight's search for faults
runs too. Wrong masses in the URDF and joints with much friction pass the checks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..preflight import Assessment, Cause, Finding, Prediction, find_faults
from ..recordings import Kind, Samples
from ..robot import RobotModel
from .equations import Equations
from .rounds import Fitted, weighted_rms
from .run import IdentificationError, Run

LOADED_SHARE = 0.1
"""Least effort of a loaded joint, as a share of the greatest effort of a joint."""

SUSPICIOUS_UNLOADED = 0.6
"""Unexplained share of the effort of a joint with little load that is an error."""

MAX_FACTOR = 5.0
"""Greatest factor between the identified and the URDF's effort; beyond, it is another unit."""

FAULT_SAMPLES = 400
"""Samples that are enough for the search of a fault."""

REMEDIES = {
    Cause.INVERTED_EFFORT: 'correct it by effort_scale, -1 for these',
    Cause.INVERTED_AXIS: 'invert the axis in the URDF',
    Cause.GRAVITY_DIRECTION: 'correct it by gravity',
}
"""What to change, by cause; another factor of an effort is corrected by effort_scale."""

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
    notes = _check_faults(equations, suspicious | another_unit)
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
        *notes,
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


def _check_faults(equations: Equations, suspicious: NDArray[np.bool_]) -> list[str]:
    """
    Check that neither recording nor URDF has a fault that no masses explain; return notes.

    A fault of a joint with little load is an error only if the fit is suspicious too: there the
    centre of mass in the URDF may lie on the wrong side of the axis.

    :param suspicious: whether the fit explains the effort badly, shape (n,)
    """
    few = equations.thinned(FAULT_SAMPLES)
    names = few.model.joint_names
    time, segment = np.arange(len(few), dtype=np.float64), np.zeros(len(few), dtype=np.intp)
    samples = Samples(Kind.MOTION, names, time, few.q, few.qd, few.qdd, few.effort, segment)
    measured = np.isfinite(few.effort).all(axis=0)
    with_effort, moved = (
        {name: name for name, chosen in zip(names, which, strict=True) if chosen}
        for which in (measured, ~measured)
    )
    assessment = Assessment(Prediction(few.model, with_effort, samples, moved=moved))
    certain = suspicious[measured]
    certain[assessment.loaded] = True
    notes = []
    for finding in filter(_is_impossible, find_faults(assessment)):
        if certain[list(finding.joints)].any():
            remedy = REMEDIES.get(finding.cause) or finding.remedy or 'correct it by effort_scale'
            raise IdentificationError(f'{finding.text}; {remedy}')
        if finding.cause in REMEDIES:
            notes.append(finding.text)
    return notes


def _is_impossible(finding: Finding) -> bool:
    """Return whether no masses explain a fault."""
    if finding.cause in REMEDIES:
        return True
    if finding.factor is None:
        return finding.cause is Cause.COMPENSATED
    return finding.factor.upper < 1.0 / MAX_FACTOR or finding.factor.lower > MAX_FACTOR


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
