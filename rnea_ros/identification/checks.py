# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Errors that a fit would hide: inverted efforts, units, gravity direction, another robot.

Masses, friction and rotors that must be positive cannot imitate these errors: the fit leaves most
of an effort unexplained. So a model with wrong masses passes, and friction may dominate a joint.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..arrays import Array
from ..robot import RobotModel
from .equations import Equations, triangular
from .fit import solve
from .friction_terms import terms
from .rounds import Fitted, first_problem, weighted_rms
from .run import IdentificationError, Run

LEAST_TIME = 5.0
"""Least duration of the fitted runs, s: a few changes of direction of every joint."""

LOADED_SHARE = 0.1
"""Least effort of a loaded joint, as a share of the greatest effort of a joint."""

SUSPICIOUS, SUSPICIOUS_UNLOADED = 0.25, 0.6
"""Unexplained share of an effort, of loaded and of other joints, that errors are searched for."""

INEXPLICABLE = 0.5
"""Unexplained share of a loaded joint's effort that no fault of masses causes."""

GAIN = 0.5
"""Greatest share of the unexplained effort that an error leaves if it is named as the cause."""

GREATEST_FACTOR = 5.0
"""Greatest factor between the identified and the URDF's effort; beyond, it is another unit."""

SAMPLES = 1000
"""Samples that are enough for the search of a cause."""

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
    used = equations.used.astype(np.float64)
    effort = weighted_rms(equations.effort, used)
    unexplained = weighted_rms(fitted.residual, used) / np.maximum(effort, np.finfo(float).tiny)
    loaded = effort >= LOADED_SHARE * effort.max()
    suspicious = unexplained > np.where(loaded, SUSPICIOUS, SUSPICIOUS_UNLOADED)
    if suspicious.any():
        _search_cause(equations, suspicious)
    names = prior.joint_names
    if (wrong := np.flatnonzero(loaded & (unexplained > INEXPLICABLE))).size:
        raise IdentificationError(
            f'no masses and friction explain {100.0 * unexplained[wrong[0]]:.0f} % of the effort '
            f'of {names[wrong[0]]}: this may be the URDF of another robot, or the joints are '
            'matched wrongly (joints)'
        )
    _check_units(equations, prior, fitted)
    return tuple(
        f'{names[joint]}: {100.0 * unexplained[joint]:.0f} % of the effort is not explained'
        for joint in np.flatnonzero(suspicious)
    )


def _check_units(equations: Equations, prior: RobotModel, fitted: Fitted) -> None:
    """Raise an error if the rigid-body efforts differ from the URDF's by a large factor."""
    used = equations.used
    expected = np.where(used, equations.rigid(prior), 0.0)
    phi = fitted.x[: prior.inertial_parameters.size]
    found = np.where(used, equations.rigid(prior.with_inertial_parameters(phi)), 0.0)
    size = np.sqrt((expected**2).sum(axis=0))
    loaded = size >= LOADED_SHARE * size.max()
    for joint in np.flatnonzero(loaded & (size > 0.0)):
        factor = float(expected[:, joint] @ found[:, joint]) / float(size[joint] ** 2)
        if not 1.0 / GREATEST_FACTOR <= factor <= GREATEST_FACTOR:
            raise IdentificationError(
                f'the effort of {prior.joint_names[joint]} without friction is {factor:.3g} times '
                "the URDF's: another unit, a current or a gear ratio (correct it by effort_scale), "
                'gravity that the hardware compensates, or the URDF of another robot'
            )


def _search_cause(equations: Equations, suspicious: Array) -> None:
    """Raise an error if one error of the recording or of the URDF explains the efforts."""
    few = equations.thinned(SAMPLES)
    before = _unexplained(few)
    causes = [(_unexplained(changed), text) for changed, text in _causes(few, suspicious)]
    after, text = min(causes)
    if after < GAIN * before:
        raise IdentificationError(text)


def _causes(equations: Equations, suspicious: Array) -> Iterator[tuple[Equations, str]]:
    """Yield the equations without a possible error, and the error in words."""
    names = equations.model.joint_names
    groups = [np.flatnonzero(suspicious)]
    groups += [np.array([joint]) for joint in groups[0]] if len(groups[0]) > 1 else []
    groups.append(np.arange(len(names)))
    for joints in groups:
        sign = np.ones(len(names))
        sign[joints] = -1.0
        which = ', '.join(names[joint] for joint in joints)
        yield (
            equations.with_signs(effort=sign, motion=np.ones_like(sign)),
            f'the effort of {which} has the opposite sign of the model; correct it by '
            f'effort_scale (-1 for these joints)',
        )
        yield (
            equations.with_signs(effort=sign, motion=sign),
            f'position and effort of {which} have the opposite sign of the axis in the URDF; '
            'correct the axis',
        )
    size = float(np.linalg.norm(equations.model.gravity))
    for direction in _directions():
        gravity = size * direction
        if np.allclose(gravity, equations.model.gravity):
            continue
        yield (
            equations.with_gravity(gravity),
            'gravity has another direction than in the model: about '
            f'({", ".join(f"{value:.1f}" for value in gravity)}) m/s^2 in the frame of the root '
            'link; correct it by gravity',
        )


def _directions() -> Iterator[Array]:
    """Yield the 26 directions to the corners, edges and faces of a cube."""
    for x in (-1.0, 0.0, 1.0):
        for y in (-1.0, 0.0, 1.0):
            for z in (-1.0, 0.0, 1.0):
                if x or y or z:
                    yield np.array([x, y, z]) / np.sqrt(x * x + y * y + z * z)


def _unexplained(equations: Equations) -> float:
    """Return the mean square of the unexplained shares of all efforts, by a fit of one round."""
    used = equations.used.astype(np.float64)
    size = weighted_rms(equations.effort, used)
    size = np.where(size > 0.0, size, 1.0)
    prior, n = equations.model, len(size)
    problem = first_problem(equations, prior, len(equations) * TRIAL_WEIGHT, size)
    columns = terms(equations.qd, equations.qdd, equations.rigid(prior), np.full(n, 0.05))
    factor = triangular(
        np.concatenate(list(equations.reduced(columns, equations.effort, used / size**2)))
    )
    r = factor[:, :-1] @ solve(factor, problem) - factor[:, -1]
    return float(r @ r) / max(float(used.sum()), 1.0)
