# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Runs that suffice: enough motion or poses, one load, efforts without delay."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from ...recordings import MIN_POSES
from ...robot import RobotModel
from ..equations import TERMS, Equations, terms, triangular
from ..fit import Fitted
from ..run import IdentificationError, Run

MIN_TIME = 5.0  # least duration of the fitted runs, s: a few changes of direction of every joint
SAMPLES = 10000  # samples that are enough for the search of a changed load
NOTICEABLE_DELAY = 0.01  # delay that is noted, s; 20 ms can double the errors of a model

LOAD_EXPLAINS = 0.3  # least share of the squared residuals that a changed load explains


def check_runs(model: RobotModel, runs: Sequence[Run]) -> None:
    """Raise an error if runs lack the motion, or poses at rest, to identify a model."""
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
        return
    moving = np.flatnonzero(equations.slides.any(axis=0))
    if not moving.size:
        raise IdentificationError(f'{names}: no joint moves; record an exciting motion, or '
            f'{MIN_POSES} poses at rest')
    if len(moving) == 1 < len(runs[0].joints):
        joint = model.joint_names[moving[0]]
        raise IdentificationError(
            f'{names}: only {joint} moves; move all joints, as a trajectory of excite does'
        )
    if not equations.used.any():
        raise IdentificationError(f'{names}: no joint with an effort moves')
    moves = np.atleast_1d(equations.slides.any(axis=1))
    duration = lost = 0.0
    for number, run in enumerate(runs):
        interval = float(np.median(np.diff(run.time)))
        duration += np.count_nonzero(moves & (equations.run == number)) * interval
        lost += run.time[-1] - run.time[0] - (len(run.time) - 1) * interval
    if duration < MIN_TIME:
        gaps = f'; gaps in the joint states cost {lost:.1f} s' if lost > duration else ''
        raise IdentificationError(
            f'{names}: {duration:.1f} s of motion to fit; at least {MIN_TIME:g} s are needed{gaps}'
        )


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
    weights = equations.used / fitted.sigma**2
    R = triangular(np.concatenate(list(equations.reduced(columns, equations.effort, weights))))
    unknowns = np.linalg.lstsq(R[:, :-1], R[:, -1], rcond=1e-9)[0]
    return np.asarray(np.where(equations.used.any(axis=0), -unknowns[size + TERMS * n :], np.nan))


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
