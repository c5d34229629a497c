# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Comparison of three models on a run that was not fitted."""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import Array
from .run import Run


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
    :param urdf_with_friction: errors of the URDF with fitted friction, rotor inertia and offset
    :param identified: errors of the identified model
    """

    held_out: tuple[Run, ...]
    effort_rms: Array
    moving_effort_rms: Array
    urdf: ModelErrors
    urdf_with_friction: ModelErrors
    identified: ModelErrors

    def percent(self, errors: ModelErrors) -> Array:
        """Return RMS errors in percent of the measured efforts, shape (n,)."""
        share: Array = 100.0 * errors.rms / self.effort_rms
        return share

    @property
    def is_better(self) -> bool:
        """Whether the identified model has a smaller error than the URDF, summed over joints."""
        raise NotImplementedError
