# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Figures of a single joint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .selection import Estimate

MODEL_TOLERANCE = 0.2
"""
Greatest difference of a factor from 1 that counts as model error.

Vendors' models differ from their own arms by up to 18 %, wrong ratios, units and currents by more.
With gravity compensation up to a fifth of the weight remains as friction.
"""

PRESENT_FROM_ABSENT = 1.0
"""Greatest uncertainty of a judged scale: present (1) and absent (0) weight must differ."""


@dataclass(frozen=True)
class JointFigures:
    """
    Figures of one joint, fitted alone: measured = scale * model + friction + offset.

    :param name: name of the joint in the model
    :param scale: factor of the model's effort, 1 for a correct model
    :param offset: N m or N
    :param viscous: N m s/rad or N s/m; None at rest
    :param coulomb: N m or N; None at rest
    :param load: RMS of the model's effort, N m or N
    :param variation: standard deviation of the model's effort, N m or N; determines the scale
    :param friction: RMS of the fitted friction, N m or N; 0 at rest
    :param scatter: robust standard deviation of the residual, N m or N
    :param error: RMS of measured minus model, N m or N
    :param measured: RMS of the measured effort, N m or N
    """

    name: str
    scale: Estimate
    offset: Estimate
    viscous: Estimate | None
    coulomb: Estimate | None
    load: float
    variation: float
    friction: float
    scatter: float
    error: float
    measured: float

    @property
    def tolerance(self) -> float:
        """
        Greatest accepted difference of the scale from 1.

        It covers the model error, and friction: the fitted form of friction is not exact, so a
        part of friction may appear as scale.
        """
        return max(MODEL_TOLERANCE, self.friction / self.variation if self.variation else np.inf)

    @property
    def is_judged(self) -> bool:
        """Whether the model's effort varies enough to judge the joint."""
        return self.scale.half_width + self.tolerance < PRESENT_FROM_ABSENT
