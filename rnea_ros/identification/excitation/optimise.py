# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The search for the most informative motion: random starts, then a local optimiser."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import time

import numpy as np

from ...arrays import Array
from ...robot import RobotModel
from .constraints import Constraints
from .criterion import Information, regressor
from .fourier import DEGREES, FourierBasis
from .refusals import no_room

STARTS = 3000
"""Greatest number of random motions."""

RANDOM_SHARE = 0.25
"""Share of the time for random motions."""

SHRINK = 0.8
"""A random motion is made smaller in these steps until it keeps its bounds."""

LEAST_SIZE = 1e-3
"""Largest coefficient of the smallest motion, as a share of the velocity bound."""

PENALTIES = (1e3, 1e4, 1e5)
"""Weights of squared excess, one after the other; 0.001 of excess remains in the end."""

ITERATIONS = 150
"""Greatest number of iterations of the optimiser for each of the penalties."""

STEPS = (1e-6, 1e-6, 1e-3)
"""Steps of finite differences by position, velocity and acceleration."""

Progress = Callable[[float, str], None]
"""Called with the share of the time that is over, and a text."""


class _TimeIsOverError(Exception):
    """The optimiser has used its time."""


@dataclass(eq=False)
class Budget:
    """
    Processor time of this thread.

    :param seconds: s
    """

    seconds: float

    def __post_init__(self) -> None:
        self._start = time.thread_time()

    @property
    def used(self) -> float:
        """Share of the time that is over; above 1 after its end."""
        return (time.thread_time() - self._start) / self.seconds


@dataclass(frozen=True, eq=False)
class Objective:
    """
    What is minimised: - log det of the information matrix, plus a penalty of excess.

    :param information: of the robot's parameters
    :param constraints: bounds of the motion
    :param basis: basic motions at evenly spaced times over a period
    :param start: joint positions at the start, shape (n,)
    :param excited: indices of the joints that move, shape (e,)
    """

    information: Information
    constraints: Constraints
    basis: FourierBasis
    start: Array
    excited: Sequence[int]

    @property
    def model(self) -> RobotModel:
        """The robot."""
        return self.information.model

    def coefficients(self, x: Array) -> Array:
        """
        Return Fourier coefficients of all joints, shape (8, n).

        :param x: coefficients of the excited joints as shares of the velocity bounds, (8 e,)
        """
        n = self.model.nv
        coefficients = np.zeros((DEGREES, n))
        bounds = self.constraints.upper[n : 2 * n][self.excited]
        coefficients[:, self.excited] = x.reshape(DEGREES, -1) * bounds
        return coefficients

    def motion(self, x: Array) -> tuple[Array, Array, Array]:
        """Return positions, velocities and accelerations, each of shape (N, n)."""
        return self.basis.motion(self.start, self.coefficients(x))

    def excess(self, x: Array) -> float:
        """Return the largest excess of any bound."""
        return float(self.constraints.peaks(self.constraints.of_motion(*self.motion(x))).max())

    def value(self, x: Array) -> float:
        """Return - log det of the information matrix."""
        q, qd, qdd = self.motion(x)
        Z = self.information.rows(regressor(self.model, q, qd, qdd), qd, qdd)
        sign, log_det = np.linalg.slogdet(self.information.matrix(Z))
        return -float(log_det) if sign > 0.0 else np.inf

    def penalised(self, x: Array, penalty: float) -> tuple[float, Array]:
        """
        Return the objective and its derivatives by x.

        :param x: see :meth:`coefficients`
        :param penalty: weight of the squared excess
        """
        motion = q, qd, qdd = self.motion(x)
        phi = self.model.inertial_parameters
        Y = regressor(self.model, *motion)
        log_det, of_rows = self.information.slopes(self.information.rows(Y, qd, qdd))
        of_Y, of_qd, of_qdd = self.information.by_motion(-of_rows, qd, qdd, len(phi))

        quantities = self.constraints.quantities(q, qd, Y @ phi)
        excess = self.constraints.excess(quantities) + self.constraints.between(quantities)
        beyond = np.maximum(excess, 0.0)
        n, count = self.model.nv, len(q)
        above = quantities - self.constraints.upper > self.constraints.lower - quantities
        weight = 2.0 * penalty / count * np.where(above, beyond, -beyond) / self.constraints.scale
        of_Y += weight[:, 2 * n : 3 * n, np.newaxis] * phi
        of_q = weight[:, :n] + self.constraints.slopes(q, weight)
        of_qd += weight[:, n : 2 * n]

        for joint in self.excited:
            for slopes, change in zip((of_q, of_qd, of_qdd), self._changes(motion, joint, Y),
                                      strict=True):
                slopes[:, joint] += np.einsum('nij,nij->n', change, of_Y)
        basis = self.basis
        slope = basis.position.T @ of_q + basis.velocity.T @ of_qd + basis.acceleration.T @ of_qdd
        bounds = self.constraints.upper[n : 2 * n]
        value = -log_det + penalty * float((beyond**2).sum()) / count
        return value, (slope * bounds)[:, self.excited].ravel()

    def _changes(self, motion: Sequence[Array], joint: int, Y: Array) -> Array:
        """
        Return derivatives of regressors by position, velocity and acceleration of a joint.

        :param motion: positions, velocities and accelerations, each of shape (N, n)
        :param joint: index of the joint
        :param Y: regressors of the motion, shape (N, n, 10 * bodies)
        :returns: shape (3, N, n, 10 * bodies)
        """
        moved = np.tile(np.array(motion)[:, np.newaxis], (1, 3, 1, 1))
        steps = np.array(STEPS)
        moved[np.arange(3), np.arange(3), :, joint] += steps[:, np.newaxis]
        count, n = motion[0].shape
        beside = regressor(self.model, *moved.reshape(3, 3 * count, n)).reshape(3, *Y.shape)
        changes: Array = (beside - Y) / steps[:, np.newaxis, np.newaxis, np.newaxis]
        return changes


@dataclass(frozen=True, eq=False)
class Found:
    """
    The result of a search.

    :param coefficients: Fourier coefficients of the best motion, shape (8, n)
    :param random: coefficients of random motions within the bounds, best first
    """

    coefficients: Array
    random: tuple[Array, ...]


def search(
    objective: Objective, budget: Budget, rng: np.random.Generator, progress: Progress
) -> Found:
    """
    Return the most informative motion that was found within the bounds.

    :param objective: what is minimised; the robot at rest at the start keeps the bounds
    :param budget: time for the search
    :param rng: source of the random motions
    :param progress: called now and then
    :raises ExcitationError: no motion was found
    """
    candidates: list[tuple[float, Array]] = []
    while len(candidates) < STARTS and (budget.used < RANDOM_SHARE or not candidates):
        if budget.used >= 1.0:
            raise no_room(objective.constraints, objective.start)
        x = shrunk(objective, _random(objective, rng))
        if x.any():
            candidates.append((objective.value(x), x))
        progress(budget.used, f'{len(candidates)} random motions')
    candidates.sort(key=lambda candidate: candidate[0])
    best, x_best = candidates[0]
    for number, (_, x) in enumerate(candidates, start=1):
        if budget.used >= 1.0:
            break
        found = _descend(objective, x, budget, progress, f'local search {number}')
        x = shrunk(objective, found, step=0.99)
        value = objective.value(x)
        if value < best:
            best, x_best = value, x
    random = tuple(objective.coefficients(x) for _, x in candidates)
    return Found(objective.coefficients(x_best), random)


def shrunk(objective: Objective, x: Array, step: float = SHRINK) -> Array:
    """
    Return a motion, made smaller until it keeps its bounds.

    :param objective: contains the bounds
    :param x: the motion
    :param step: factor of the size, again and again
    """
    while objective.excess(x) > 0.0 and np.abs(x).max() > LEAST_SIZE:
        x = step * x
    return x if objective.excess(x) <= 0.0 else 0.0 * x


def _random(objective: Objective, rng: np.random.Generator) -> Array:
    """Return a motion whose joints use 30 to 100 % of their position or velocity bounds."""
    n = objective.model.nv
    fading = rng.uniform(0.5, 1.0, (1, len(objective.excited)))
    x = rng.normal(size=(DEGREES, len(objective.excited)))
    x *= fading ** np.tile(np.arange(DEGREES // 2), 2)[:, np.newaxis]
    coefficients = objective.coefficients(x.ravel())[:, objective.excited]
    columns = np.r_[objective.excited, np.add(objective.excited, n)]
    start = np.r_[objective.start[objective.excited], np.zeros(len(objective.excited))]
    way = np.hstack((objective.basis.position, objective.basis.velocity)).reshape(
        len(objective.basis.time), 2, -1
    )
    moved = np.einsum('nkd,de->nke', way, coefficients).reshape(len(way), -1)
    with np.errstate(divide='ignore'):
        up = (objective.constraints.upper[columns] - start) / np.maximum(moved.max(axis=0), 0.0)
        down = (start - objective.constraints.lower[columns]) / np.maximum(-moved.min(axis=0), 0.0)
    most = np.minimum(up, down).reshape(2, -1).min(axis=0)
    x *= most * rng.uniform(0.3, 1.0, len(most))
    return x.ravel()


def _descend(
    objective: Objective, x: Array, budget: Budget, progress: Progress, text: str
) -> Array:
    """Return a local optimum near a motion, or the last motion when time is over."""
    from scipy.optimize import minimize

    latest = x

    def value(x: Array, penalty: float) -> tuple[float, Array]:
        if budget.used >= 1.0:
            raise _TimeIsOverError
        progress(budget.used, text)
        return objective.penalised(x, penalty)

    def keep(x: Array) -> None:
        nonlocal latest
        latest = x.copy()

    try:
        for penalty in PENALTIES:
            result = minimize(
                value, latest, (penalty,), method='L-BFGS-B', jac=True, callback=keep,
                options={'maxiter': ITERATIONS},
            )
            latest = result.x
    except _TimeIsOverError:
        pass
    return latest
