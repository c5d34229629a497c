# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Robust least squares of measured efforts, for one hypothesis of what is wrong with a model.

The effort of joint j is taken to be::

    tau_j = s_j (model_j + load_j + gravity_j) + viscous_j qd_j + coulomb_j sign(qd_j) + offset_j

where a hypothesis says which of the factor s_j, the load and the change of gravity are unknown;
friction is left out at rest, where its direction is not known, and an offset is always free.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..recordings import STILL_SPEED, Kind
from .columns import Prediction
from .hypothesis import Hypothesis

Label: TypeAlias = tuple[str, int]
"""A parameter: its kind, and the number of its joint, or of its component where all share it."""

HUBER = 1.345
"""
Residuals beyond so many times the scatter pull with constant force.

The usual figure: 95 % of least squares' efficiency where errors are normal.
"""

CLIP = 3.0
"""Residuals count in the scatter with no more than so many robust standard deviations."""

ACCURACY = 0.01
"""
No joint's scatter is taken to be below this share of its measured effort.

Masses and centres of mass are not known better, whatever the noise: the best identified models
miss by one or two per cent.
"""

RESOLUTION = 0.001
"""Nor below this share of the most loaded joint's effort: sensors are made for that."""

NEGLIGIBLE = 1e-6
"""An effort below this share of the greatest is what rounding leaves of none."""

NOTHING = 1e-9
"""An effort that is taken for none, N m or N."""

ROUNDS = 20
"""Reweighting ends after so many rounds; it has settled to a thousandth before."""

SINGULAR = 1e-9
"""Eigenvalues of scaled normal equations below it are zero: a column repeats others."""

RESOLVED = 0.99
"""A parameter is told where the data determine so much of it and leave the rest to others."""


@dataclass(frozen=True)
class Fit:
    """
    A hypothesis with its parameters.

    :param values: of the parameters; factors are given as their difference from 1
    :param errors: standard errors, infinite where the data say nothing
    :param rank: how many parameters the data determine
    :param scatter: robust standard deviation of what is left, shape (n,), N m or N
    :param residual: shape (N, n)
    :param friction: the friction part, shape (N, n)
    """

    hypothesis: Hypothesis
    values: dict[Label, float]
    errors: dict[Label, float]
    rank: int
    scatter: Array
    residual: Array = field(repr=False)
    friction: Array = field(repr=False)


class Equations:
    """
    The equations of one hypothesis, ready to be solved for all samples or for some.

    :param prediction: model and measurement, with the hypothesis's axes
    :param hypothesis: what is unknown
    :param change: a further change of the efforts whose share is unknown, shape (N, n), N m or N
    """

    def __init__(
        self, prediction: Prediction, hypothesis: Hypothesis, change: Array | None = None
    ) -> None:
        self._hypothesis = hypothesis
        self._measured = prediction.effort
        self._rigid = prediction.rigid
        samples, self._n = self._rigid.shape
        self._still = prediction.samples.kind is Kind.STILL
        shared: list[Array] = []
        self._shared_labels: list[Label] = []
        if hypothesis.all_scaled:
            shared.append(prediction.rigid[..., np.newaxis])
            self._shared_labels.append(('all', 0))
        if hypothesis.gravity_scaled:
            shared.append(prediction.gravity[..., np.newaxis])
            self._shared_labels.append(('gravity', 0))
        if hypothesis.gravity_turned:
            shared.append(prediction.gravity_axes)
            self._shared_labels += [('axis', k) for k in range(3)]
        for link in sorted(hypothesis.loaded):
            shared.append(prediction.load(link))
            self._shared_labels += [(f'load {link}', k) for k in range(4)]
        if change is not None:
            shared.append(change[..., np.newaxis])
            self._shared_labels.append(('change', 0))
        shared.append(np.zeros((samples, self._n, 0)))
        self._shared = np.concatenate(shared, axis=-1)
        # What adds to the model is multiplied with it.
        self._adds = [
            k for k, (kind, _) in enumerate(self._shared_labels) if kind not in ('all', 'gravity')
        ]
        moving = np.abs(prediction.velocity) > STILL_SPEED
        self._direction = np.where(moving, np.sign(prediction.velocity), 0.0)
        self._velocity = prediction.velocity
        size = np.sqrt(np.mean(self._measured**2, axis=0))
        self._floor = ACCURACY * size + RESOLUTION * max(float(size.max()), NOTHING)
        self._columns = [self._local(joint) for joint in range(self._n)]
        self.labels = [
            label for joint in range(self._n) for label in self._local_labels(joint)
        ] + self._shared_labels

    def _local_labels(self, joint: int) -> list[Label]:
        kinds = ['offset'] if self._still else ['offset', 'viscous', 'coulomb']
        if joint in self._hypothesis.scaled:
            kinds.append('scale')
        return [(kind, joint) for kind in kinds]

    def _local(self, joint: int) -> Array:
        columns = [np.ones(len(self._measured))]
        if not self._still:
            columns += [self._velocity[:, joint], self._direction[:, joint]]
        if joint in self._hypothesis.scaled:
            size = np.abs(self._rigid)
            seen = size[:, joint].max() > NEGLIGIBLE * size.max()
            columns.append(self._rigid[:, joint] * seen)
        return np.stack(columns, axis=-1)

    def solve(self, which: NDArray[np.bool_], independent: int) -> Fit:
        """
        Solve by least squares that is reweighted for outliers, and for each joint's scatter.

        :param which: samples to use, shape (N,)
        :param independent: how many of them count as independent, for the standard errors
        """
        target = (self._measured - self._rigid)[which]
        local = [columns[which] for columns in self._columns]
        shared = self._shared[which]
        factor = np.ones((self._n, self._shared.shape[-1]))
        scatter = np.maximum(_spread(target - np.median(target, axis=0)), self._floor)
        residual = target - np.median(target, axis=0)
        place = {label: k for k, label in enumerate(self.labels)}
        for _ in range(ROUNDS):
            weight = 1.0 / np.maximum(1.0, np.abs(residual) / (HUBER * scatter))
            weight /= scatter**2
            normal, right = self._normal_equations(target, local, shared * factor, weight)
            x, covariance, resolution, rank = _solve(normal, right)
            before, residual = residual, self._residual(target, local, shared, factor, x)
            scatter = np.maximum(_spread(residual), self._floor)
            common = x[place['all', 0]] if self._hypothesis.all_scaled else 0.0
            factor[:, self._adds] = 1.0 + common
            for joint in self._hypothesis.scaled:
                factor[joint, self._adds] += x[place['scale', joint]]
            if (np.abs(residual - before) < 1e-3 * scatter).all():
                break
        inflation = max(int(which.sum()) / independent, 1.0)
        errors = np.sqrt(inflation * np.maximum(covariance, 0.0))
        errors[resolution < RESOLVED] = np.inf
        return Fit(
            self._hypothesis,
            dict(zip(self.labels, x.tolist(), strict=True)),
            dict(zip(self.labels, errors.tolist(), strict=True)),
            rank,
            scatter,
            self._residual(self._measured - self._rigid, self._columns, self._shared, factor, x),
            self._friction(x),
        )

    def _normal_equations(
        self, target: Array, local: list[Array], shared: Array, weight: Array
    ) -> tuple[Array, Array]:
        """Return X^T W X and X^T W y, where each joint has columns of its own and shared ones."""
        size = len(self.labels)
        common = slice(size - shared.shape[-1], size)
        normal, right = np.zeros((size, size)), np.zeros(size)
        start = 0
        for joint, columns in enumerate(local):
            own = slice(start, start + columns.shape[1])
            start = own.stop
            weighted = columns * weight[:, joint, np.newaxis]
            weighted_shared = shared[:, joint] * weight[:, joint, np.newaxis]
            normal[own, own] = weighted.T @ columns
            normal[own, common] = weighted.T @ shared[:, joint]
            normal[common, own] = normal[own, common].T
            normal[common, common] += weighted_shared.T @ shared[:, joint]
            right[own] = weighted.T @ target[:, joint]
            right[common] += weighted_shared.T @ target[:, joint]
        return normal, right

    def _residual(
        self, target: Array, local: list[Array], shared: Array, factor: Array, x: Array
    ) -> Array:
        residual: Array = target - (shared * factor) @ x[len(x) - shared.shape[-1] :]
        start = 0
        for joint, columns in enumerate(local):
            residual[:, joint] -= columns @ x[start : start + columns.shape[1]]
            start += columns.shape[1]
        return residual

    def _friction(self, x: Array) -> Array:
        friction = np.zeros_like(self._measured)
        if self._still:
            return friction
        start = 0
        for joint, columns in enumerate(self._columns):
            friction[:, joint] = columns[:, 1:3] @ x[start + 1 : start + 3]
            start += columns.shape[1]
        return friction


def _spread(residual: Array) -> Array:
    """Return the root mean square of columns, with outliers clipped, shape (n,)."""
    size = np.abs(residual)
    limit = CLIP * 1.4826 * np.median(size, axis=0)
    limit = np.where(limit > 0.0, limit, np.inf)
    spread: Array = np.sqrt(np.mean(np.minimum(size, limit) ** 2, axis=0))
    return spread


def _solve(normal: Array, right: Array) -> tuple[Array, Array, Array, int]:
    """
    Solve normal equations that may be singular.

    :return: the solution of least norm, its variances, how much of each parameter is determined
        (1 all, 0 nothing), and the rank
    """
    scale = np.sqrt(np.diag(normal))
    scale = np.where(scale > 0.0, scale, 1.0)
    values, vectors = np.linalg.eigh(normal / np.outer(scale, scale))
    good = values > SINGULAR
    inverse = np.where(good, 1.0 / np.where(good, values, 1.0), 0.0)
    x = vectors @ (inverse * (vectors.T @ (right / scale))) / scale
    variance = (vectors**2 @ inverse) / scale**2
    resolution = vectors[:, good] ** 2 @ np.ones(int(good.sum()))
    return x, variance, resolution, int(good.sum())
