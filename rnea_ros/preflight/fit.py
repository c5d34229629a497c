# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Hypotheses, combinations of elementary faults of a model, and robust least squares for one of them.

The model of the effort of joint j is::

    tau_j = s_j (model_j + load_j + gravity_j) + viscous_j qd_j + coulomb_j sign(qd_j) + offset_j

The hypothesis decides whether the factor s_j, the load and the change of gravity are unknown. The
offset always is. Poses at rest have no friction terms, as the direction of friction is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..recordings import STILL_SPEED, Kind
from .columns import Prediction

Label: TypeAlias = tuple[str, int]  # kind; number of the joint, or of a shared component
HUBER = 1.345  # threshold of residuals, in scatters: 95 % efficiency for normal errors
CLIP = 3.0  # residuals for the scatter, in robust standard deviations

ACCURACY = 0.01
"""
Least scatter of a joint, as a share of its measured effort.

Masses and centres of mass limit the accuracy: the best identified models have errors of one or
two per cent.
"""

RESOLUTION = 0.001  # of sensors: least scatter, as a share of the most loaded joint's effort
MAX_RATIO = 10.0  # cap of the greatest effort for RESOLUTION, as a multiple of the model's
NEGLIGIBLE = 1e-6  # share of the greatest effort below which an effort is a rounding error
NOTHING = 1e-9  # effort treated as zero, N m or N
ROUNDS = 20  # of reweighting, at most; it converges to a thousandth earlier
SINGULAR = 1e-9  # smaller eigenvalues of the scaled normal equations: dependent columns
FRICTION = slice(1, 3)  # columns of a joint: viscous and Coulomb friction, after the offset
RESOLVED = 0.99  # least resolution of a reported parameter; 1: fully determined by the data


@dataclass(frozen=True)
class Hypothesis:
    """The faults of a model; none by default."""

    flipped: frozenset[int] = frozenset()  # joints with an inverted axis, in position and effort
    scaled: frozenset[int] = frozenset()  # joints whose effort has an unknown factor
    all_scaled: bool = False  # the efforts of all joints have a common unknown factor
    gravity_scaled: bool = False  # gravity has an unknown factor, the efforts of motion have none
    gravity_turned: bool = False  # gravity is an unknown vector
    loaded: frozenset[str] = frozenset()  # links with an unknown load, negative for an extra tool

    def with_one_fault_more(self, joints: int, prediction: Prediction) -> Iterator[Hypothesis]:
        """Yield the hypotheses with one more fault."""
        at_rest = prediction.samples.kind is Kind.STILL
        if not self.all_scaled:
            yield replace(self, all_scaled=True)
        # At rest a factor of gravity equals a factor of all efforts.
        if not self.gravity_scaled and not at_rest:
            yield replace(self, gravity_scaled=True)
        if not self.gravity_turned:
            yield replace(self, gravity_turned=True)
        for tip in prediction.tips:
            if tip.link not in self.loaded:
                yield replace(self, loaded=self.loaded | {tip.link})
        for joint in range(joints):
            if joint not in self.scaled:
                yield replace(self, scaled=self.scaled | {joint})
            if joint not in self.flipped:
                yield replace(self, flipped=self.flipped | {joint})

    def with_one_fault_less(self) -> Iterator[Hypothesis]:
        """Yield the hypotheses with one fault less."""
        if self.all_scaled:
            yield replace(self, all_scaled=False)
        if self.gravity_scaled:
            yield replace(self, gravity_scaled=False)
        if self.gravity_turned:
            yield replace(self, gravity_turned=False)
        for kind in ('loaded', 'scaled', 'flipped'):
            for each in getattr(self, kind):
                yield replace(self, **{kind: getattr(self, kind) - {each}})


@dataclass(frozen=True)
class Fit:
    """A hypothesis with fitted parameters."""

    hypothesis: Hypothesis
    values: dict[Label, float]  # factors as their difference from 1
    errors: dict[Label, float]  # standard errors, infinite for undetermined parameters
    rank: int  # number of parameters that the data determine
    scatter: Array  # robust standard deviation of the residual, shape (n,), N m or N
    residual: Array = field(repr=False)  # shape (N, n), N m or N
    friction: Array = field(repr=False)  # fitted friction, shape (N, n), N m or N


class HypothesisEquations:
    """
    Least-squares equations of one hypothesis, solved for all samples or a part of them.

    :param prediction: modelled and measured efforts, with the axes of the hypothesis
    :param change: change of the efforts by a fault whose share is fitted, shape (N, n), N m or N
    """

    def __init__(
        self, prediction: Prediction, hypothesis: Hypothesis, change: Array | None = None
    ) -> None:
        self._hypothesis = hypothesis
        self._measured = prediction.effort
        self._rigid = prediction.rigid
        samples, self._n = self._rigid.shape
        self._at_rest = prediction.samples.kind is Kind.STILL
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
        self._shared = np.concatenate(shared, axis=-1).swapaxes(0, 1)
        # The factors of a joint also apply to loads and changes of gravity.
        self._scaled_shared = [
            k for k, (kind, _) in enumerate(self._shared_labels) if kind != 'all'
        ]
        moving = np.abs(prediction.velocity) > STILL_SPEED
        direction = np.where(moving, np.sign(prediction.velocity), 0.0)
        size = np.sqrt(np.mean(self._measured**2, axis=0))
        modelled = float(np.sqrt(np.mean(self._rigid**2, axis=0)).max())
        # An effort in another unit does not hide the other joints.
        largest = float(np.minimum(size, MAX_RATIO * modelled if modelled else np.inf).max())
        self._floor = ACCURACY * size + RESOLUTION * max(largest, NOTHING)
        self.labels: list[Label] = []
        by_joint: list[dict[str, Array]] = []
        for joint in range(self._n):
            columns = {'offset': np.ones(samples)}
            if not self._at_rest:
                columns['viscous'] = prediction.velocity[:, joint]
                columns['coulomb'] = direction[:, joint]
            if joint in hypothesis.scaled:
                reaction = np.abs(self._rigid)
                # A factor of rounding errors stays undetermined.
                visible = reaction[:, joint].max() > NEGLIGIBLE * reaction.max()
                columns['scale'] = self._rigid[:, joint] * visible
            by_joint.append(columns)
            self.labels += [(kind, joint) for kind in columns]
        self.labels += self._shared_labels  # last: they are sliced from the end
        # Columns by joint, shape (n, N, most), and the index of each column's label. Missing ones
        # are zero; their index is the number of labels, a row that is dropped.
        most = max(map(len, by_joint))
        self._index = np.full((self._n, most), len(self.labels))
        self._columns = np.zeros((self._n, samples, most))
        for joint, columns in enumerate(by_joint):
            for k, (kind, column) in enumerate(columns.items()):
                self._index[joint, k] = self.labels.index((kind, joint))
                self._columns[joint, :, k] = column

    def solve(self, which: NDArray[np.bool_], independent: int) -> Fit:
        """
        Solve for the samples of a mask, reweighted for outliers and for the scatter of each joint.

        :param independent: number of independent samples among them, for the standard errors
        """
        target = (self._measured - self._rigid)[which]
        columns, shared = self._columns[:, which], self._shared[:, which]
        factor = np.ones((self._n, 1, shared.shape[-1]))
        residual = target - np.median(target, axis=0)
        scatter = np.maximum(_spread(residual), self._floor)
        place = {label: k for k, label in enumerate(self.labels)}
        for _ in range(ROUNDS):
            weight = huber_weights(residual, scatter, HUBER) / scatter**2
            normal, right = self._normal_equations(target, columns, shared * factor, weight)
            x, covariance, resolution, rank = _solve(normal, right)
            before, residual = residual, self._residual(target, columns, shared * factor, x)
            scatter = np.maximum(_spread(residual), self._floor)
            common = x[place['all', 0]] if self._hypothesis.all_scaled else 0.0
            factor[..., self._scaled_shared] = 1.0 + common
            for joint in self._hypothesis.scaled:
                factor[joint, :, self._scaled_shared] += x[place['scale', joint]]
            if (np.abs(residual - before) < 1e-3 * scatter).all():
                break
        inflation = max(int(which.sum()) / independent, 1.0)
        errors = np.sqrt(inflation * np.maximum(covariance, 0.0))
        errors[resolution < RESOLVED] = np.inf
        friction = np.zeros_like(self._measured)
        if not self._at_rest:
            values = x[self._index[:, FRICTION], np.newaxis]
            friction = (self._columns[..., FRICTION] @ values)[..., 0].T
        return Fit(
            self._hypothesis,
            dict(zip(self.labels, x.tolist(), strict=True)),
            dict(zip(self.labels, errors.tolist(), strict=True)),
            rank,
            scatter,
            self._residual(self._measured - self._rigid, self._columns, self._shared * factor, x),
            friction,
        )

    def _normal_equations(
        self, target: Array, columns: Array, shared: Array, weight: Array
    ) -> tuple[Array, Array]:
        """Return X^T W X and X^T W y; X has columns for each joint and shared columns."""
        size, index = len(self.labels), self._index
        common = slice(size - shared.shape[-1], size)
        y, W = target.T[..., np.newaxis], weight.T[:, np.newaxis, :]
        columns_W, shared_W = columns.swapaxes(1, 2) * W, shared.swapaxes(1, 2) * W
        normal, right = np.zeros((size + 1, size + 1)), np.zeros(size + 1)
        normal[index[:, :, np.newaxis], index[:, np.newaxis, :]] = columns_W @ columns
        normal[index, common] = columns_W @ shared
        normal[common] = normal[:, common].T
        normal[common, common] = (shared_W @ shared).sum(axis=0)
        right[index] = (columns_W @ y)[..., 0]
        right[common] = (shared_W @ y).sum(axis=0)[:, 0]
        return normal[:size, :size], right[:size]

    def _residual(self, target: Array, columns: Array, shared: Array, x: Array) -> Array:
        values = np.append(x, 0.0)[self._index, np.newaxis]
        modelled = columns @ values + (shared @ x[len(x) - shared.shape[-1] :])[..., np.newaxis]
        residual: Array = target - modelled[..., 0].T
        return residual


def huber_weights(residual: Array, sigma: Array, threshold: float) -> Array:
    """Return Huber's weights (1964) of squared residuals, threshold in sigma; 1 for NaN."""
    in_sigma = np.abs(np.nan_to_num(residual)) / sigma
    return np.minimum(1.0, threshold / np.maximum(in_sigma, threshold))


def _spread(residual: Array) -> Array:
    """Return the RMS of each column with outliers clipped, shape (n,)."""
    size = np.abs(residual)
    limit = CLIP * 1.4826 * np.median(size, axis=0)
    limit = np.where(limit > 0.0, limit, np.inf)
    return np.asarray(np.sqrt(np.mean(np.minimum(size, limit) ** 2, axis=0)))


def _solve(normal: Array, right: Array) -> tuple[Array, Array, Array, int]:
    """
    Solve normal equations that may be singular.

    :return: the solution of least norm, its variances, the resolution of each parameter (1
        determined, 0 undetermined), and the rank
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
