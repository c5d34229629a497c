# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
What a motion must not leave: ranges of positions, velocities, efforts, gravity and link origins.

All of them are quantities with a lower and an upper bound, in one array. A motion is measured by
its excess: 0 on a bound, -1 in the middle of a range, positive outside.

Between two samples a quantity leaves their chord by at most h^2 / 8 times its largest second
derivative, and h^2 times this derivative is the second difference of the samples. This is added to
the excess, so a motion without excess keeps its bounds at all times, not at samples only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...robot import RobotModel
from .limits import JointLimits, Region

BETWEEN = 1.0 / 8.0
"""Share of the largest second difference by which a value may leave the chord between samples."""

STEP = 1e-6
"""Step of finite differences, rad or m."""


@dataclass(frozen=True, eq=False)
class Constraints:
    """
    Bounds of the motions of a robot.

    The m quantities are position, velocity, effort and gravity torque of each of n joints, then
    x, y and z of each link's origin.

    :param model: the robot
    :param links: links whose origins have bounds
    :param lower: shape (m,); -inf for no bound
    :param upper: shape (m,); inf for no bound
    """

    model: RobotModel
    links: tuple[str, ...]
    lower: Array
    upper: Array

    @classmethod
    def of(cls, model: RobotModel, limits: JointLimits, region: Region | None) -> Constraints:
        """
        Return the constraints of a robot.

        :param model: the robot
        :param limits: limits of its joints
        :param region: region for some of its links
        """
        links = () if region is None else region.links
        lower = [limits.lower, -limits.velocity, -limits.effort, -limits.effort]
        upper = [limits.upper, limits.velocity, limits.effort, limits.effort]
        if region is not None:
            lower.append(np.tile(region.lower, len(links)))
            upper.append(np.tile(region.upper, len(links)))
        return cls(model, links, np.concatenate(lower), np.concatenate(upper))

    @property
    def scale(self) -> Array:
        """The excess is a distance divided by this: half the range, or 1, shape (m,)."""
        half = (self.upper - self.lower) / 2.0
        return np.where(np.isfinite(half) & (half > 0.0), half, 1.0)

    def quantities(self, q: Array, qd: Array, effort: Array) -> Array:
        """
        Return the quantities of N samples, shape (N, m).

        :param q: joint positions, shape (N, n)
        :param qd: joint velocities, shape (N, n)
        :param effort: joint efforts, shape (N, n)
        """
        gravity = self.model.gravity_torques_batch(q, threads=1)
        return np.hstack((q, qd, effort, gravity, self._origins(q)))

    def of_motion(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the quantities of N samples of a motion, shape (N, m)."""
        return self.quantities(q, qd, self.model.inverse_dynamics_batch(q, qd, qdd))

    def excess(self, quantities: Array) -> Array:
        """Return the excess of each sample, shape (N, m)."""
        outside = np.maximum(self.lower - quantities, quantities - self.upper)
        return outside / self.scale

    def between(self, quantities: Array) -> Array:
        """Return how much more the excess may be between evenly spaced samples, shape (m,)."""
        if len(quantities) < 3:
            return np.zeros(quantities.shape[1])
        second: Array = np.abs(np.diff(quantities, 2, axis=0)).max(axis=0)
        return BETWEEN * second / self.scale

    def peaks(self, quantities: Array) -> Array:
        """
        Return the largest excess of each quantity at any time, shape (m,).

        :param quantities: of evenly spaced samples, shape (N, m)
        """
        peaks: Array = self.excess(quantities).max(axis=0) + self.between(quantities)
        return peaks

    def slopes(self, q: Array, weight: Array) -> Array:
        """
        Return the derivatives of a weighted sum of gravity and origins by the positions.

        :param q: joint positions, shape (N, n)
        :param weight: weights of the quantities, shape (N, m)
        :returns: shape (N, n)
        """
        n = self.model.nv
        slopes = np.zeros_like(q)
        gravity_weights, origin_weights = weight[:, 3 * n : 4 * n], weight[:, 4 * n :]
        for function, weights in (
            (lambda at: self.model.gravity_torques_batch(at, threads=1), gravity_weights),
            (self._origins, origin_weights),
        ):
            rows = np.flatnonzero(weights.any(axis=1))
            if not len(rows):
                continue
            here = function(q[rows])
            for joint in range(n):
                moved = q[rows].copy()
                moved[:, joint] += STEP
                change = (function(moved) - here) / STEP
                slopes[rows, joint] += (weights[rows] * change).sum(axis=1)
        return slopes

    def _origins(self, q: Array) -> Array:
        if not self.links:
            return np.empty((len(q), 0))
        return self.model.link_positions_batch(q, self.links).reshape(len(q), -1)
