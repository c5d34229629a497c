# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The figures of one joint by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .selection import Estimate

MODEL_TOLERANCE = 0.2
"""
A factor this close to 1 is a model's own inexactness.

Vendors' models miss arms of their own make by up to 18 %; wrong ratios, units and currents are
off by more, and gravity compensation leaves a fifth of a weight to friction.
"""

PRESENT_FROM_ABSENT = 1.0
"""A joint can be judged where its scale could tell a weight that is there (1) from none (0)."""


@dataclass(frozen=True)
class JointFigures:
    """
    One joint by itself: measured = scale * model + friction + offset.

    :param name: the model's name
    :param scale: 1 where the model is right
    :param offset: N m or N
    :param viscous: N m s/rad or N s/m; None at rest
    :param coulomb: N m or N; None at rest
    :param load: RMS of the model's effort, N m or N
    :param drive: standard deviation of the model's effort: what tells a scale from an offset
    :param friction: RMS of the fitted friction; 0 at rest
    :param scatter: robust standard deviation of what is left
    :param missed: RMS of measured minus model, N m or N
    :param measured: RMS of the measured effort, N m or N
    """

    name: str
    scale: Estimate
    offset: Estimate
    viscous: Estimate | None
    coulomb: Estimate | None
    load: float
    drive: float
    friction: float
    scatter: float
    missed: float
    measured: float

    @property
    def tolerance(self) -> float:
        """
        How far from 1 a scale may be.

        Not closer than the model is meant to be; nor than friction lets it be seen: friction has
        not quite the form that is fitted, so that a share of it may pass for a scale.
        """
        return max(MODEL_TOLERANCE, self.friction / self.drive if self.drive else np.inf)

    @property
    def is_judged(self) -> bool:
        """Whether there is enough gravity on the joint to judge it."""
        return self.scale.half_width + self.tolerance < PRESENT_FROM_ABSENT
