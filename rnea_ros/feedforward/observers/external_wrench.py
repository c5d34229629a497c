# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The wrench at one link that explains the external efforts best.

Weighted, damped least squares: with the link's Jacobian J, the external efforts r, and a weight
for each joint, one over its threshold of contact::

    f = argmin sum over joints of ((J^T f - r) / threshold)^2

The thresholds are the accuracy of the external efforts. In the dynamically consistent inverse the
mass matrix has their place, but heavy joints are not the accurate ones; and least squares have an
answer also for arms with fewer than six joints. Moments and forces have different units, so each
kind is scaled by the norm of its rows of J. Near a singularity, some direction of f hardly
changes any effort, and noise would be amplified: such directions are damped to zero.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...robot import RobotModel
from ..settings import ResolvedSettings

TINY = float(np.finfo(np.float64).tiny)

MIN_RATIO = 0.02  # directions with singular values below this share of the largest one are damped


class ExternalWrench:
    """
    Computes the wrench at a link; allocates, so use it only if the wrench is read.

    :ivar determined: number of directions, of six, that the joints determine at the last pose;
        fewer than six near a singularity
    """

    def __init__(self, model: RobotModel, settings: ResolvedSettings) -> None:
        self.link = settings.external_effort.link
        self.determined = 6
        self._joints = settings.joint_indices
        self._weights = 1.0 / np.array(settings.contact.threshold)
        self._jacobian_into = model.workspace().jacobian_into
        frame = model.tree.frames[self.link]
        E, r = frame.placement.rotation.T, frame.placement.translation
        self._frame, self._point = (frame.body, np.array([*E, r])), np.zeros(3)
        self._J = np.zeros((6, model.nv))
        self.estimate(np.zeros(model.nv), np.zeros(len(settings.joints)))  # compiles the kernel

    def estimate(self, q: Array, effort: Array) -> Array:
        """
        Return the wrench [moment; force] of the environment on the link, N m and N, shape (6,).

        In the link's axes, at its origin; from the commanded joints' external efforts, shape (m,).
        """
        self._jacobian_into(*self._frame, self._point, q, self._J)
        A = self._J[:, self._joints] * self._weights
        norms = np.array([np.linalg.norm(A[:3]), np.linalg.norm(A[3:])])
        scale = np.repeat(np.where(norms > 0.0, norms, 1.0), 3)
        A /= scale[:, np.newaxis]
        # A A^T f = A r, in the directions V of the singular values s of A.
        squares, V = np.linalg.eigh(A @ A.T)
        least = MIN_RATIO**2 * squares[-1]
        self.determined = int(np.count_nonzero(squares >= max(least, TINY)))
        # Damped directions have 1 / (s^2 + lambda^2) with lambda^2 = least - s^2.
        inverse = 1.0 / np.maximum(squares, max(least, TINY))
        wrench: Array = (V * inverse) @ (V.T @ (A @ (effort * self._weights))) / scale
        return wrench
