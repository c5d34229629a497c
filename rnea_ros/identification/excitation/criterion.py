# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Information content of a motion: the information matrix of the base parameters.

The effort of joint j in a sample is linear in the parameters: a row of the regressor Y times the
inertial parameters, plus viscous friction times qd_j, Coulomb friction times tanh(qd_j / v_s), and
rotor inertia times qdd_j. Rows are divided by the noise of the joint's effort. Then the inverse of
the information matrix, the sum of z z^T over rows z, is the covariance of the parameters, and the
motion with the largest determinant is the most informative one (D-optimal; Swevers et al.,
"Optimal robot excitation and identification", IEEE T-RA 1997, section III). Many motions have
nearly the largest determinant and very different condition numbers, so the condition counts too
(Gautier and Khalil, "Exciting trajectories for the identification of base inertial parameters of
robots", IJRR 1992).

The parameters are not independent. Those of a greatest independent set stand for the base
parameters: the same space of efforts, and the determinants differ by a constant factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array, Indices
from ...robot import RobotModel
from ..base_parameters import combinations
from ..run import Run

SMOOTHING_VELOCITY = 0.05  # v_s, rad/s or m/s; default of the feedforward node
DEPENDENT = 1e-7  # least unexplained share of a column that is no combination of others
RIDGE = 1e-12  # share of the identity in a nearly singular information matrix
CONDITION_WEIGHT = 0.2  # a condition smaller by 10 % counts as deviations smaller by 2 %
CUTOFF = 10.0  # cut-off frequency of the filter of the identification, Hz
PAYLOAD = 1.0  # mass of the payload, kg

PARAMETERS = 10  # of a body
UNDETERMINED = 1e-10  # least eigenvalue of a determined parameter, by the largest


@dataclass(frozen=True, eq=False)
class Information:
    """The regressor of the base parameters with friction and rotor inertia."""

    model: RobotModel
    rigid: Indices  # columns of Y that are independent, shape (r,)
    added: Indices  # (kind, joint) of columns, (2, f); 0 viscous, 1 Coulomb, 2 rotor inertia
    size: Array  # root mean square of each column, shape (r + f,); columns are divided by it
    noise: Array  # standard deviation of the efforts, shape (n,), N m or N
    known: Array | float = 0.0  # information of a recording, added to each, (r + f, r + f)

    @classmethod
    def of(
        cls, model: RobotModel, samples: tuple[Array, Array, Array], excited: Sequence[int],
        noise: Array,
    ) -> Information:
        """Return the regressor for motions like the samples (q, qd, qdd), each of shape (N, n)."""
        q, qd, qdd = samples
        n = model.nv
        base = combinations(model, q[0], np.array(excited), np.arange(n))
        first = np.array([np.flatnonzero(row == 1.0)[0] for row in base], dtype=np.intp)
        rigid = first[first < len(model.inertial_parameters)]  # the others are rotors
        Y = regressor(model, q, qd, qdd)[:, :, rigid].reshape(len(q) * n, -1)
        every = np.indices((3, n)).reshape(2, -1)
        F = _added(qd, qdd, every).reshape(len(q) * n, -1)
        explained = Y @ np.linalg.lstsq(Y, F, rcond=None)[0]
        added = every[:, _independent(F - explained, np.linalg.norm(F, axis=0))]
        whole = cls(model, rigid, added, np.ones(len(rigid) + added.shape[1]), noise)
        Z = whole.rows(regressor(model, q, qd, qdd), qd, qdd)
        return replace(whole, size=np.sqrt(np.mean(Z**2, axis=(0, 1))))

    def after(self, run: Run, duration: float) -> Information:
        """Return the information for motions of a duration, s, that follow a recording."""
        Z = self.rows(regressor(self.model, run.q, run.qd, run.qdd), run.qd, run.qdd)
        Z *= np.isfinite(run.effort)[:, :, np.newaxis]
        step = float(np.median(np.diff(run.time)))
        return replace(self, known=self.matrix(Z) * (len(Z) * step / duration))

    def rows(self, Y: Array, qd: Array, qdd: Array) -> Array:
        """Return the class's rows z, divided by noise and size, shape (N, n, r + f)."""
        Z = np.concatenate((Y[:, :, self.rigid], _added(qd, qdd, self.added)), axis=2)
        Z /= self.noise[:, np.newaxis] * self.size
        return Z

    def matrix(self, Z: Array) -> Array:
        """Return the information matrix of a sample, on average, shape (r + f, r + f)."""
        flat = Z.reshape(-1, Z.shape[2])
        M: Array = flat.T @ flat / len(Z) + self.known
        M[np.diag_indices_from(M)] += RIDGE
        return M

    def value(self, M: Array) -> tuple[float, Array]:
        """Return log det M less the weighted log of the condition, and derivatives by M."""
        sign, log_det = np.linalg.slogdet(M)
        size, values, vectors = self._scaled(M)
        slopes: Array = np.asarray(np.linalg.inv(M), dtype=np.float64)
        weight = CONDITION_WEIGHT * len(M)
        for factor, value, vector in (
            (weight, values[-1], vectors[:, -1]), (-weight, values[0], vectors[:, 0])
        ):
            log_det -= factor * np.log(value)
            vector = vector / size
            by_value = np.outer(vector, vector) / value - np.diag(vector**2)
            slopes[: len(size), : len(size)] -= factor * by_value
        return float(log_det) if sign > 0.0 else -np.inf, slopes

    def _scaled(self, M: Array) -> tuple[Array, Array, Array]:
        """Return sizes of the rigid bodies' columns; eigenvalues and -vectors at equal sizes."""
        rigid = M[: len(self.rigid), : len(self.rigid)]
        size = np.sqrt(np.diagonal(rigid))
        values, vectors = np.linalg.eigh(rigid / np.outer(size, size))
        return size, np.maximum(values, RIDGE), vectors

    def by_motion(self, row_slopes: Array, qd: Array, qdd: Array) -> tuple[Array, Array, Array]:
        """Return derivatives by Y, and by qd and qdd of friction and rotors, from those by Z."""
        G = row_slopes / (self.noise[:, np.newaxis] * self.size)
        Y_slopes = np.zeros((*qd.shape, PARAMETERS * len(self.model.body_names)))
        Y_slopes[:, :, self.rigid] = G[:, :, : len(self.rigid)]
        kind, joint = self.added
        added = np.zeros((3, *qd.shape))
        added[kind, :, joint] = G[:, joint, len(self.rigid) + np.arange(len(kind))].T
        viscous, coulomb, rotor = added
        fading = (1.0 - np.tanh(qd / SMOOTHING_VELOCITY) ** 2) / SMOOTHING_VELOCITY
        return Y_slopes, viscous + coulomb * fading, rotor

    def condition(self, q: Array, qd: Array, qdd: Array) -> float:
        """Return the condition of the base regressor with scaled columns, divided by the noise."""
        Y = regressor(self.model, q, qd, qdd)
        size, values, _ = self._scaled(self.matrix(self.rows(Y, qd, qdd)))
        if (size**2 <= 2.0 * RIDGE).any():
            return np.inf
        return float(np.sqrt(values[-1] / values[0]))


def regressor(model: RobotModel, q: Array, qd: Array, qdd: Array) -> Array:
    """Return the regressors of N samples, shape (N, n, 10 * bodies)."""
    return model.regressor_batch(q, qd, qdd, threads=1)


def _independent(F: Array, size: Array) -> Indices:
    """Return a greatest set of independent columns, in their order, at their sizes."""
    from scipy.linalg import qr

    R, order = qr(F / np.where(size > 0.0, size, 1.0), mode='r', pivoting=True)
    rank = int((np.abs(np.diagonal(R)) > DEPENDENT).sum())
    return np.asarray(np.sort(order[:rank]))


def _added(qd: Array, qdd: Array, which: Indices) -> Array:
    """Return columns of friction and rotor inertia, shape (N, n, f)."""
    values = np.array([qd, np.tanh(qd / SMOOTHING_VELOCITY), qdd])
    kind, joint = which
    columns = np.zeros((*qd.shape, len(kind)))
    columns[:, joint, np.arange(len(kind))] = values[kind, :, joint].T
    return columns


@dataclass(frozen=True, eq=False)
class Accuracy:
    """Standard deviations for white noise of the efforts."""

    torque: Array  #: of the efforts of an identified model on other motions, shape (n,), N m or N
    link: str  #: link that carries a payload
    #: of the mass of a payload of 1 kg, with known arm and friction, kg; NaN if it cannot be
    #: determined
    mass: float
    com: float  #: of its centre of mass, the largest of x, y and z, m; NaN as for the mass


def accuracy(
    information: Information, motion: tuple[Array, Array, Array],
    others: Sequence[tuple[Array, Array, Array]], link: str, duration: float,
) -> Accuracy:
    """
    Return the expected accuracy after a motion (q, qd, qdd), with a payload at a link.

    The duration is in s. The predicted efforts are those of ``others``.
    """
    count = 2.0 * CUTOFF * duration
    model = information.model
    Y = regressor(model, *motion)
    covariance = np.linalg.inv(information.matrix(information.rows(Y, *motion[1:]))) / count
    variances = []
    for other in others:
        Z = information.rows(regressor(model, *other), *other[1:])
        variances.append(np.einsum('nip,pq,niq->ni', Z, covariance, Z, optimize=True).mean(axis=0))
    torque = information.noise * np.sqrt(np.mean(variances, axis=0))
    first = PARAMETERS * model.body_names.index(link)
    payload = Y[:, :, first : first + PARAMETERS] / information.noise[:, np.newaxis]
    deviations = _deviations(payload.reshape(-1, PARAMETERS), count / len(Y))
    return Accuracy(torque, link, float(deviations[0]), float(deviations[1:4].max()) / PAYLOAD)


def _deviations(rows: Array, weight: float) -> Array:
    """Return standard deviations of parameters from rows (N, p); NaN for undetermined ones."""
    size = np.linalg.norm(rows, axis=0)
    scaled = rows / np.where(size > 0.0, size, 1.0)
    values, vectors = np.linalg.eigh(scaled.T @ scaled)
    known = values > UNDETERMINED * values.max()
    deviations = np.sqrt(((vectors[:, known] ** 2) / values[known]).sum(axis=1) / weight)
    deviations = deviations / np.where(size > 0.0, size, np.nan)
    unknown: Array = (vectors[:, ~known] ** 2).sum(axis=1)
    return np.where(unknown < np.sqrt(UNDETERMINED), deviations, np.nan)
