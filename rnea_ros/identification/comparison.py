# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Comparison of three models on runs that were not fitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..feedforward.laws import JointFriction
from ..recordings.robust import contains, rms
from ..robot import RobotModel
from .run import IdentificationError, Run

MUCH_WORSE, NOTICED = 2.0, 0.1
"""
A joint is much worse if its error grows by this factor, and by this share of its effort.

The error in motion counts, or that at rest if the joint never moves.
"""

MOVING_SPEED = 0.02  # least speed of a moving sample, rad/s or m/s

Efforts: TypeAlias = Callable[[Array, Array, Array], Array]
"""Efforts of N motions q, qd, qdd, each of shape (N, n)."""


@dataclass(frozen=True)
class ArmModel:
    """Rigid bodies with friction and rotors, as the node computes them."""

    model: RobotModel
    friction: JointFriction  # friction of the joints, with the offset of the effort sensors
    armature: Array  # reflected rotor inertia, shape (n,), kg m^2 or kg

    def efforts(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the efforts of N motions with rotors and friction, shape (N, n), N m or N."""
        rigid = self.model.inverse_dynamics_batch(q, qd, qdd)
        return rigid + self.armature * qdd + self.friction.friction(qd, rigid)


@dataclass(frozen=True)
class ModelErrors:
    """Errors of one model on the held-out runs."""

    predicted: tuple[Array, ...]  #: efforts of the model, shape (N, n) for each held-out run
    rms: Array  #: RMS error of each joint, shape (n,), N m or N; NaN without effort
    moving_rms: Array  #: the same over the samples at which the joint moves


@dataclass(frozen=True)
class Comparison:
    """The URDF, the URDF with friction, and the identified model on the held-out runs."""

    held_out: tuple[Run, ...]  #: runs that were not fitted
    effort_rms: Array  #: RMS of each joint's measured effort, shape (n,); NaN without effort
    moving_effort_rms: Array  #: the same over the samples at which the joint moves
    urdf: ModelErrors  #: errors of the URDF's rigid bodies
    urdf_with_friction: ModelErrors  #: errors of the URDF's bodies with fitted friction and rotors
    identified: ModelErrors  #: errors of the identified model with friction and rotors

    def percent(self, errors: ModelErrors) -> Array:
        """Return RMS errors in percent of the RMS of the measured efforts, shape (n,)."""
        return 100.0 * errors.rms / self.effort_rms

    def moving_percent(self, errors: ModelErrors) -> Array:
        """Return the same over the samples at which the joint moves; NaN if it never moves."""
        return 100.0 * errors.moving_rms / self.moving_effort_rms

    def of_runs(self) -> list[tuple[Run, Array]]:
        """Return each run with the mean errors in motion of the three models, shape (3,), %."""
        means = []
        for number, run in enumerate(self.held_out):
            size = _errors([run], (np.zeros_like(run.q),)).moving_rms
            errors = [
                _errors([run], (model.predicted[number],)).moving_rms / size
                for model in (self.urdf, self.urdf_with_friction, self.identified)
            ]
            means.append((run, 100.0 * np.array([np.nanmean(each) for each in errors])))
        return means

    @property
    def is_better(self) -> bool:
        """
        Whether the identified model has the smallest mean error of the joints in motion.

        At rest friction is not determined. The URDF with fitted friction shows what the identified
        bodies are worth; it is as good if only friction was identified. No joint may be much
        worse than with the URDF.
        """
        after, urdf, with_friction = map(
            self.mean_moving_percent, (self.identified, self.urdf, self.urdf_with_friction)
        )
        return after < urdf and after <= with_friction and not self.much_worse.any()

    @property
    def much_worse(self) -> NDArray[np.bool_]:
        """Which joints are much worse than with the URDF, shape (n,)."""
        before, after, effort = (
            np.where(np.isfinite(moving), moving, every) for moving, every in (
                (self.urdf.moving_rms, self.urdf.rms),
                (self.identified.moving_rms, self.identified.rms),
                (self.moving_effort_rms, self.effort_rms),
            )
        )
        return np.asarray((after > MUCH_WORSE * before) & (after - before > NOTICED * effort))

    def mean_moving_percent(self, errors: ModelErrors) -> float:
        """Return the mean over the joints of the relative errors in motion, %; the verdict's."""
        return float(np.nanmean(self.moving_percent(errors)))


def check_held_out(fitted: Sequence[Run], held_out: Sequence[Run]) -> None:
    """Raise an error if a run is both fitted and held out, or rests while a fitted one moves."""
    for run in held_out:
        if same := [each for each in fitted if np.array_equal(each.q, run.q)]:
            raise IdentificationError(
                f'{run.name} is fitted ({same[0].name}) and cannot judge the model; validate with '
                'another recording'
            )
        if not (np.abs(run.qd) >= MOVING_SPEED).any() and any(each.qd.any() for each in fitted):
            raise IdentificationError(f'{run.name} does not move; validate with a motion')


def repetition_notes(fitted: Sequence[Run], held_out: Sequence[Run]) -> list[str]:
    """Return a note on each held-out run whose motion was fitted already."""
    return [
        f'{run.name}: the data that were not fitted repeat the fitted motion, so errors of '
        'another motion are larger: record a second one, and validate with it'
        for run in held_out
        if any(contains(each.q, run.q) for each in fitted)
    ]


def compare(
    held_out: Sequence[Run], urdf: Efforts, judged: Sequence[tuple[ArmModel, ArmModel]]
) -> Comparison:
    """Return the errors on held-out runs of the URDF, and of the two models for each run."""
    motions = [(run.q, run.qd, run.qdd) for run in held_out]
    measured = _errors(held_out, tuple(np.zeros_like(q) for q, _, _ in motions))
    predicted = [tuple(urdf(*motion) for motion in motions)] + [
        tuple(models[k].efforts(*motion) for models, motion in zip(judged, motions, strict=True))
        for k in (0, 1)
    ]
    errors = [_errors(held_out, each) for each in predicted]
    return Comparison(tuple(held_out), measured.rms, measured.moving_rms, *errors)


def _errors(runs: Sequence[Run], predicted: tuple[Array, ...]) -> ModelErrors:
    error = np.concatenate([run.effort - tau for run, tau in zip(runs, predicted, strict=True)])
    # Of poses at rest all samples count.
    moving = np.concatenate([(np.abs(run.qd) > MOVING_SPEED) | (not run.qd.any()) for run in runs])
    return ModelErrors(predicted, rms(error), rms(np.where(moving, error, np.nan)))
