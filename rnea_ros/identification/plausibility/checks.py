# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Checks of runs and fits: enough motion or poses, one load, no delay, no fault of the recording.

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

from ...arrays import Array
from ...preflight import (
    INVERT_AXIS,
    Assessment,
    Cause,
    Finding,
    Prediction,
    another_robot,
    find_faults,
)
from ...recordings import MIN_POSES, Kind, Samples
from ...recordings.robust import weighted_rms
from ...robot import RobotModel
from ..equations import TERMS, Equations, terms
from ..fit import Fitted
from ..run import IdentificationError, Run

MIN_TIME = 2.0  # least motion, s: below, an arm has fewer independent samples than unknowns
SAMPLES = 10000  # samples that are enough for the search of a changed load
NOTICEABLE_DELAY = 0.01  # delay that is noted, s; 20 ms can double the errors of a model

LOAD_EXPLAINS = 0.3  # least share of the squared residuals that a changed load explains

LOADED_SHARE = 0.1  # least effort of a loaded joint, as a share of the greatest effort of a joint
MAX_FACTOR = 5.0  # greatest ratio of identified and URDF effort; beyond, it is another unit
FAULT_SAMPLES = 400  # samples that are enough for the search of a fault

CORRECT = 'correct it by effort_scale'
LEAVE_OUT = 'leave its effort out (identify: --without-effort)'
REMEDIES = {
    Cause.INVERTED_AXIS: INVERT_AXIS,
    Cause.INVERTED_EFFORT: f'{CORRECT}, -1 for these',
    Cause.GRAVITY_DIRECTION: 'correct it by gravity',
}
"""What to change, by cause; another factor of an effort is corrected by effort_scale."""

SUSPICIOUS = 0.25  # unexplained share of a loaded joint's effort that needs a cause
SUSPICIOUS_UNLOADED = 0.6  # the same of a joint with little load
UNUSUAL_FACTOR = 1.6  # ratio of identified and URDF effort, either way; CAD errors cause less
INEXPLICABLE = 0.5  # unexplained share of a loaded joint's effort that wrong masses cannot cause


def check_runs(
    model: RobotModel, runs: Sequence[Run], accept_faults: bool = False
) -> list[str]:
    """
    Return notes; raise an error if runs lack the motion, or poses at rest, to identify a model.

    ``accept_faults`` returns too short a motion as a note.
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
    poses = not equations.qd.any() and np.ptp(equations.q, axis=0).any()
    if poses and len(equations) >= MIN_POSES:
        return []
    moving = np.flatnonzero(equations.moves)
    if not moving.size:
        raise IdentificationError(f'{names}: no joint moves; record an exciting motion, or '
            f'{MIN_POSES} poses at rest')
    if not equations.used[:, moving].any():
        raise IdentificationError(f'{names}: no joint with an effort moves')
    duration = sum(run.motion_time for run in runs)
    steps = [(len(run.time) - 1) * np.median(np.diff(run.time)) for run in runs]
    lost = float(sum(run.time[-1] - run.time[0] for run in runs) - sum(steps))
    notes = []
    if duration < MIN_TIME:
        gaps = f'; gaps in the joint states cost {lost:.1f} s' if lost > duration else ''
        short = (
            f'{names}: {duration:.1f} s of motion to fit; less than {MIN_TIME:g} s have fewer '
            f'independent samples than an arm has parameters{gaps}'
        )
        if not accept_faults:
            raise IdentificationError(f'{short}; or accept it (accept_faults; identify: --force)')
        notes.append(short)
    resting = [name for name in runs[0].joints
        if name not in np.array(model.joint_names)[moving].tolist()]
    if resting:
        notes.append(
            f'at rest in all fitted samples, so without friction: {", ".join(resting)}'
        )
    return notes


def check_same_load(equations: Equations, fitted: Fitted, runs: Sequence[Run]) -> None:
    """
    Raise an error if a run has another load at the tip of the arm.

    A mass and a first moment for each run are fitted to the residuals. Without a change of the
    load they explain little.
    """
    model = equations.model
    tip = len(model.body_names) - 1
    step = 1 + len(equations) // SAMPLES
    q, qd, qdd = (each[::step] for each in (equations.q, equations.qd, equations.qdd))
    columns = model.regressor_batch(q, qd, qdd)[:, :, 10 * tip : 10 * tip + 4]
    used = equations.used[::step]
    root = np.sqrt(fitted.weights[::step])
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


def effort_delay(equations: Equations, fitted: Fitted, runs: Sequence[Run]) -> Array:
    """
    Return the time by which each joint's effort is later than the motion, shape (n,), s.

    Efforts that are late by D are about tau - D dtau/dt. So the rate of the effort is one more
    column of the equations, and its unknown is -D; NaN for joints without used efforts.
    """
    n, size = equations.q.shape[1], fitted.problem.prior.size
    rate = np.concatenate([np.gradient(run.effort, run.time, axis=0) for run in runs])
    own = terms(equations.qd, equations.qdd, fitted.load, fitted.smoothing)
    columns = np.concatenate([own, rate[:, :, np.newaxis]], axis=2)
    R = equations.reduced(columns, equations.effort, fitted.weights)
    unknowns = np.linalg.lstsq(R[:, :-1], R[:, -1], rcond=1e-9)[0]
    measured = equations.used.any(axis=0) & equations.moves
    return np.asarray(np.where(measured, -unknowns[size + TERMS * n :], np.nan))


def delay_notes(delay: Array) -> list[str]:
    """Return a note if the efforts of most joints are late, or early."""
    common = float(np.nanmedian(delay))
    if abs(common) < NOTICEABLE_DELAY:
        return []
    late = 'later' if common > 0.0 else 'earlier'
    return [
        f'the efforts are about {1000.0 * abs(common):.0f} ms {late} than the motion: correct '
        f'them by effort_delay, {common:.3f} s, if the errors get smaller'
    ]


def check_fit(
    equations: Equations, prior: RobotModel, fitted: Fitted, accept_faults: bool
) -> tuple[str, ...]:
    """
    Check that a fit explains the efforts with plausible bodies; return notes.

    The error has the cause and a remedy; ``accept_faults`` returns errors as notes.
    """
    names = prior.joint_names
    used = np.where(equations.moves | (not equations.qd.any()), fitted.weights, 0.0)
    effort = weighted_rms(equations.effort, used)
    unexplained = weighted_rms(fitted.residual, used) / np.maximum(effort, np.finfo(float).tiny)
    loaded = effort >= LOADED_SHARE * effort.max()
    # Of a joint that carries next to nothing, the URDF says nothing that an effort contradicts.
    carries = weighted_rms(equations.rigid(prior), used) >= LOADED_SHARE * effort
    suspicious = unexplained > np.where(loaded, SUSPICIOUS, SUSPICIOUS_UNLOADED)
    factor = _effort_factors(equations, prior, fitted)
    suspicious |= factor < 0.0
    another_unit = (factor < 1.0 / MAX_FACTOR) | (factor > MAX_FACTOR)
    faults, notes = _faults(equations, suspicious | another_unit)
    faults += [
        f'the effort of {names[joint]} without friction is {factor[joint]:.3g} times the '
        "URDF's: another unit, a current or a gear ratio (correct it by effort_scale), "
        'gravity that the hardware compensates (leave the effort out: without_effort), or the '
        'URDF of another robot'
        for joint in np.flatnonzero(another_unit)
    ]
    faults += [
        f'no masses and friction explain {100.0 * unexplained[joint]:.0f} % of the effort of '
        f'{names[joint]}: this may be the URDF of another robot, or the joints are matched '
        f'wrongly (joints); or {LEAVE_OUT}'
        for joint in np.flatnonzero(loaded & carries & (unexplained > INEXPLICABLE))
    ]
    if faults and not accept_faults:
        raise IdentificationError(f'{faults[0]}; or accept it (accept_faults; identify: --force)')
    unusual = (factor < 1.0 / UNUSUAL_FACTOR) | (factor > UNUSUAL_FACTOR)
    notes += [
        f'{names[joint]}: the effort without friction is {factor[joint]:.1f} times that of the '
        'URDF: its masses are wrong; if not: another unit, a current, or the URDF of another robot'
        for joint in np.flatnonzero(unusual)
    ]
    notes += [
        f'{names[joint]}: {100.0 * unexplained[joint]:.0f} % of the effort is not explained'
        for joint in np.flatnonzero(suspicious)
    ]
    return (*faults, *notes)


def _faults(equations: Equations, suspicious: NDArray[np.bool_]) -> tuple[list[str], list[str]]:
    """
    Return the faults of recording or URDF that no masses explain, and notes.

    A fault of a joint with little load is an error only in a suspicious fit: there the centre of
    mass in the URDF may lie on the wrong side of the axis.
    """
    few = equations.thinned(FAULT_SAMPLES)
    names = few.model.joint_names
    number, kind = np.arange(len(few)), Kind.MOTION if few.qd.any() else Kind.STILL
    samples = Samples(kind, names, few.time, few.q, few.qd, few.qdd, few.effort, number)
    measured = np.isfinite(few.effort).all(axis=0)
    with_effort, moved = (
        {name: name for name, chosen in zip(names, which, strict=True) if chosen}
        for which in (measured, ~measured)
    )
    assessment = Assessment(Prediction(few.model, with_effort, samples, moved=moved))
    certain = suspicious[measured]
    certain[assessment.loaded] = True
    faults, notes = [], []
    found = find_faults(assessment)
    # Wrong masses may look like another direction of gravity.
    doubtful = another_robot(assessment, found) is not None or bool(assessment.rivals)
    for finding in filter(_is_impossible, found):
        if finding.cause is Cause.GRAVITY_DIRECTION and doubtful:
            notes.append(f'{finding.text}, or the masses of the URDF are wrong')
        elif finding.must_be_fixed and certain[list(finding.joints)].any():
            ways = [LEAVE_OUT] * (len(finding.joints) == 1)
            if finding.cause is not Cause.UNEXPLAINED or not ways:
                ways.insert(0, REMEDIES.get(finding.cause) or finding.remedy or CORRECT)
            faults.append(f'{finding.text}; {", or ".join(ways)}')
        elif finding.cause in REMEDIES or not finding.must_be_fixed:
            notes.append(finding.text)
    return faults, notes


def _is_impossible(finding: Finding) -> bool:
    """Return whether no masses explain a fault."""
    if finding.cause in REMEDIES:
        return True
    if finding.factor is None:
        return finding.cause is Cause.COMPENSATED
    return finding.factor.upper < 1.0 / MAX_FACTOR or finding.factor.lower > MAX_FACTOR


def _effort_factors(equations: Equations, prior: RobotModel, fitted: Fitted) -> Array:
    """Return each joint's least-squares ratio of identified to URDF effort; 1 with little load."""
    expected = np.where(equations.used, equations.rigid(prior), 0.0)
    squares = (expected**2).sum(axis=0)
    loaded = (squares > 0.0) & (squares >= LOADED_SHARE**2 * squares.max())
    factors: Array = (expected * fitted.load).sum(axis=0) / np.where(loaded, squares, 1.0)
    return np.where(loaded, factors, 1.0)
