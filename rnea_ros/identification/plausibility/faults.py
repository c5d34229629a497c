# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Faults of recording or URDF: efforts that no plausible bodies explain.

Fitted masses, friction and rotor inertias are positive. With an inverted effort, another unit,
another direction of gravity or another robot, the fit therefore often leaves most of an effort
unexplained, or the fitted efforts differ from those of the URDF by a large factor. But a mass on
the other side of an axis explains an inverted effort as well, so preflight's search for faults
runs too. Wrong masses in the URDF and joints with much friction pass the checks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...preflight import Assessment, Cause, Finding, Prediction, another_robot, find_faults
from ...recordings import Kind, Samples
from ...recordings.robust import weighted_rms
from ...robot import RobotModel
from ..equations import Equations
from ..fit import Fitted
from ..run import IdentificationError

LOADED_SHARE = 0.1  # least effort of a loaded joint, as a share of the greatest effort of a joint
MAX_FACTOR = 5.0  # greatest ratio of identified and URDF effort; beyond, it is another unit
FAULT_SAMPLES = 400  # samples that are enough for the search of a fault

CORRECT = 'correct it by effort_scale'
LEAVE_OUT = 'leave its effort out (identify: --without-effort)'
REMEDIES = {
    Cause.INVERTED_EFFORT: f'{CORRECT}, -1 for these',
    Cause.INVERTED_AXIS: 'invert the axis in the URDF',
    Cause.GRAVITY_DIRECTION: 'correct it by gravity',
}
"""What to change, by cause; another factor of an effort is corrected by effort_scale."""

SUSPICIOUS = 0.25  # unexplained share of a loaded joint's effort that needs a cause
SUSPICIOUS_UNLOADED = 0.6  # the same of a joint with little load
UNUSUAL_FACTOR = 1.6  # ratio of identified and URDF effort, either way; CAD errors cause less
INEXPLICABLE = 0.5  # unexplained share of a loaded joint's effort that wrong masses cannot cause


def check_fit(
    equations: Equations, prior: RobotModel, fitted: Fitted, accept_faults: bool
) -> tuple[str, ...]:
    """
    Check that a fit explains the efforts with plausible bodies; return notes.

    The error has the cause and a remedy; ``accept_faults`` returns errors as notes.
    """
    names = prior.joint_names
    used = equations.used.astype(np.float64)
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
    time = number.astype(np.float64)
    samples = Samples(kind, names, time, few.q, few.qd, few.qdd, few.effort, number)
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


