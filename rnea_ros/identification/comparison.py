# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Comparison of three models on runs that were not fitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..arrays import Array
from .run import Run

MOVING_SPEED = 0.02
"""Least speed of a moving sample, rad/s or m/s."""

Efforts: TypeAlias = Callable[[Array, Array, Array], Array]
"""Efforts of N motions q, qd, qdd, each of shape (N, n)."""


@dataclass(frozen=True)
class ModelErrors:
    """
    Errors of one model on the held-out runs.

    :param predicted: efforts of the model, one array of shape (N, n) for each held-out run
    :param rms: RMS error of each joint, shape (n,), N m or N; NaN without effort
    :param moving_rms: the same over the samples at which the joint moves
    """

    predicted: tuple[Array, ...]
    rms: Array
    moving_rms: Array


@dataclass(frozen=True)
class Comparison:
    """
    The URDF, the URDF with friction, and the identified model on the held-out runs.

    :param held_out: runs that were not fitted
    :param effort_rms: RMS of each joint's measured effort, shape (n,); NaN without effort
    :param moving_effort_rms: the same over the samples at which the joint moves
    :param urdf: errors of the URDF's rigid bodies
    :param urdf_with_friction: errors of the URDF's bodies with fitted friction and rotors
    :param identified: errors of the identified model with friction and rotors
    """

    held_out: tuple[Run, ...]
    effort_rms: Array
    moving_effort_rms: Array
    urdf: ModelErrors
    urdf_with_friction: ModelErrors
    identified: ModelErrors

    def percent(self, errors: ModelErrors) -> Array:
        """Return RMS errors in percent of the RMS of the measured efforts, shape (n,)."""
        return 100.0 * errors.rms / self.effort_rms

    @property
    def is_better(self) -> bool:
        """Whether the identified model has smaller relative errors than the URDF, all joints."""
        before, after = self.percent(self.urdf), self.percent(self.identified)
        return bool(np.nansum(after**2) < np.nansum(before**2))


def compare(
    held_out: Sequence[Run], urdf: Efforts, urdf_with_friction: Efforts, identified: Efforts
) -> Comparison:
    """
    Return the errors of three models on runs that were not fitted.

    :param held_out: the runs
    :param urdf: efforts of the URDF
    :param urdf_with_friction: efforts of the URDF with fitted friction
    :param identified: efforts of the identified model
    """
    zero: Efforts = lambda q, qd, qdd: np.zeros_like(q)  # noqa: E731
    measured = _errors(held_out, zero)
    return Comparison(
        tuple(held_out), measured.rms, measured.moving_rms, _errors(held_out, urdf),
        _errors(held_out, urdf_with_friction), _errors(held_out, identified)
    )


def _errors(runs: Sequence[Run], efforts: Efforts) -> ModelErrors:
    predicted = tuple(efforts(run.q, run.qd, run.qdd) for run in runs)
    error = np.concatenate([run.effort - tau for run, tau in zip(runs, predicted, strict=True)])
    moving = np.concatenate([np.abs(run.qd) > MOVING_SPEED for run in runs])
    return ModelErrors(predicted, _rms(error), _rms(np.where(moving, error, np.nan)))


def _rms(values: Array) -> Array:
    """Return the RMS of the numbers in each column, NaN where there are none, shape (n,)."""
    known = np.isfinite(values)
    count = known.sum(axis=0)
    total = np.where(known, values, 0.0) ** 2
    with np.errstate(invalid='ignore', divide='ignore'):
        rms: Array = np.sqrt(total.sum(axis=0) / count)
    return rms
