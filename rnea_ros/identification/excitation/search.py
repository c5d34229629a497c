# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The search for the most informative motion: random starts, then a local optimiser."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
import math
import time

import numpy as np

from ...arrays import Array
from .bounds import Constraints
from .criterion import Information, regressor
from .motion import DEGREES, FourierBasis

STARTS = 3000  # maximum number of random motions
RANDOM_SHARE = 0.15  # share of the search time for random motions
SHRINK = 0.8  # A random motion is scaled by this factor until it keeps its bounds
FINE_SHRINK = 0.99  # the same for a local optimum
MIN_TRIALS = 20  # least number of random motions before a start pose counts as too near to a bound
MIN_SIZE = 1e-3  # share of a velocity bound; a motion so small that exceeds a bound is discarded
PENALTIES = (1e3, 1e4, *5 * (1e5,))  # of the squared excess in turn; the last until none is left
ITERATIONS = 150  # maximum number of iterations of the optimiser for each penalty
TOLERANCE = 1e-5  # relative change of the penalised objective at which the optimiser ends
STEPS = (1e-6, 1e-6, 1e-3)  # of finite differences: position (rad or m), velocity, acceleration

Progress = Callable[[float, str], None]  # called with the used share of the time, and a text


class _TimeIsOverError(Exception):
    """The search time is used up."""


@dataclass(eq=False)
class Budget:
    """Processor time of this thread, s, or evaluations; progress gets the used share."""

    seconds: float
    progress: Progress
    evaluations: float = math.inf
    evaluated: int = 0

    def __post_init__(self) -> None:
        self._start = time.thread_time()

    @property
    def used(self) -> float:
        """Used share of time or evaluations; 1 or more at the end."""
        share = (time.thread_time() - self._start) / self.seconds
        return max(share, self.evaluated / self.evaluations)


@dataclass(frozen=True, eq=False)
class Objective:
    """The function to minimise: the negative information, plus a penalty on excess."""

    information: Information  # regressor of the robot's parameters, and noise of the efforts
    constraints: Constraints  # bounds of the motion
    basis: FourierBasis  # basic motions at N evenly spaced times over a period
    start: Array  # joint positions at the start, shape (n,)
    excited: Sequence[int]  # indices of the e joints that move

    def coefficients(self, x: Array) -> Array:
        """Return Fourier coefficients (8, n) from shares of the velocity bounds, shape (8 e,)."""
        n = len(self.start)
        coefficients = np.zeros((DEGREES, n))
        bounds = self.constraints.upper[n : 2 * n][self.excited]
        coefficients[:, self.excited] = x.reshape(DEGREES, -1) * bounds
        return coefficients

    def motion(self, x: Array) -> tuple[Array, Array, Array]:
        """Return positions, velocities and accelerations, each of shape (N, n)."""
        return self.basis.motion(self.start, self.coefficients(x))

    def value(self, x: Array) -> float:
        """Return the negative value of the information matrix."""
        q, qd, qdd = self.motion(x)
        rows = self.information.rows(regressor(self.information.model, q, qd, qdd), qd, qdd)
        return -self.information.value(self.information.matrix(rows))[0]

    def penalised(self, x: Array, shift: Array, penalty: float) -> tuple[float, Array]:
        """Return the objective with ``penalty`` times (excess + shift)^2, and its derivatives."""
        motion = q, qd, qdd = self.motion(x)
        phi = self.information.model.inertial_parameters
        Y = regressor(self.information.model, *motion)
        rows = self.information.rows(Y, qd, qdd)
        worth, slopes = self.information.value(self.information.matrix(rows))
        row_slopes = 2.0 / len(rows) * rows @ slopes
        Y_slopes, qd_slopes, qdd_slopes = self.information.by_motion(-row_slopes, qd, qdd)

        constraints, basis = self.constraints, self.basis
        quantities = constraints.quantities(q, qd, qdd, Y @ phi)
        beyond = np.maximum(constraints.outside(quantities) + shift, 0.0)
        n, count = len(self.start), len(q)
        above = quantities - constraints.upper > constraints.lower - quantities
        weight = 2.0 * penalty / count * np.where(above, beyond, -beyond) / constraints.scale
        Y_slopes += weight[:, 2 * n : 3 * n, np.newaxis] * phi
        q_slopes = weight[:, :n] + constraints.slopes(q, weight)
        qd_slopes += weight[:, n : 2 * n]
        qdd_slopes += weight[:, 3 * n : 4 * n]

        for joint in self.excited:
            by_joint = self._slopes_by_joint(motion, joint, Y, Y_slopes)
            for total, part in zip((q_slopes, qd_slopes, qdd_slopes), by_joint, strict=True):
                total[:, joint] += part
        slope = basis.position.T @ q_slopes + basis.velocity.T @ qd_slopes
        slope += basis.acceleration.T @ qdd_slopes
        value = -worth + penalty * float((beyond**2).sum()) / count
        return value, (slope * constraints.upper[n : 2 * n])[:, self.excited].ravel()

    def _slopes_by_joint(
        self, motion: Sequence[Array], joint: int, Y: Array, weight: Array
    ) -> Array:
        """Return derivatives of sum(weight * Y) by a joint's q, qd and qdd, shape (3, N)."""
        model, steps = self.information.model, np.array(STEPS)
        moved = np.tile(np.array(motion)[:, np.newaxis], (1, 3, 1, 1))
        moved[np.arange(3), np.arange(3), :, joint] += steps[:, np.newaxis]
        count, n = motion[0].shape
        stepped = regressor(model, *moved.reshape(3, 3 * count, n)).reshape(3, count, -1)
        stepped -= Y.reshape(count, -1)
        return np.asarray(
            np.einsum('knp,np->kn', stepped, weight.reshape(count, -1)) / steps[:, np.newaxis]
        )


def search(
    objective: Objective, budget: Budget, rng: np.random.Generator
) -> tuple[Array, list[Array]]:
    """
    Search for the most informative motion within the bounds, which the start pose must keep.

    Return Fourier coefficients, shape (8, n), of the best motion, and of random motions within the
    bounds, best first. If the search time ends, and none of at least 20 random motions kept the
    bounds, raise an ExcitationError.
    """
    candidates: list[tuple[float, Array]] = []
    trials = 0
    while len(candidates) < STARTS and (budget.used < RANDOM_SHARE or not candidates):
        trial = _random_motion(objective, rng)
        if budget.used >= 1.0 and trials >= MIN_TRIALS:
            smallest = MIN_SIZE / np.abs(trial).max() * trial
            raise objective.constraints.no_room(*objective.motion(smallest))
        x = _shrunk(objective, trial, SHRINK)
        trials += 1
        budget.evaluated += 1
        if x.any():
            candidates.append((objective.value(x), x))
        budget.progress(budget.used, f'{len(candidates)} random motions')
    candidates.sort(key=lambda candidate: candidate[0])
    best, x_best = candidates[0]
    for number, (_, start) in enumerate(candidates, start=1):
        if budget.used >= 1.0:
            break
        x = _shrunk(objective, _local_optimum(objective, start, budget, number), FINE_SHRINK)
        value = objective.value(x)
        if value < best:
            best, x_best = value, x
    return objective.coefficients(x_best), [objective.coefficients(x) for _, x in candidates]


def _shrunk(objective: Objective, x: Array, step: float) -> Array:
    """Return a motion, scaled until it keeps its bounds; 0 if even a small one does not."""
    excess = objective.constraints.greatest_excess
    while (outside := excess(*objective.motion(x)) > 0.0) and np.abs(x).max() > MIN_SIZE:
        x = step * x
    return 0.0 * x if outside else x


def _random_motion(objective: Objective, rng: np.random.Generator) -> Array:
    """Return a random motion: each joint uses 30 to 100 % of the bound that it reaches first."""
    n = len(objective.start)
    decay = rng.uniform(0.5, 1.0, (1, len(objective.excited)))
    x = rng.normal(size=(DEGREES, len(objective.excited)))
    x *= decay ** np.tile(np.arange(DEGREES // 2), 2)[:, np.newaxis]
    coefficients = objective.coefficients(x.ravel())[:, objective.excited]
    columns = np.r_[objective.excited, np.add(objective.excited, n)]
    start = np.r_[objective.start[objective.excited], np.zeros(len(objective.excited))]
    basis = np.hstack((objective.basis.position, objective.basis.velocity)).reshape(
        len(objective.basis.time), 2, -1
    )
    moved = np.einsum('nkd,de->nke', basis, coefficients).reshape(len(basis), -1)
    with np.errstate(divide='ignore'):
        up = (objective.constraints.upper[columns] - start) / np.maximum(moved.max(axis=0), 0.0)
        down = (start - objective.constraints.lower[columns]) / np.maximum(-moved.min(axis=0), 0.0)
    largest = np.minimum(up, down).reshape(2, -1).min(axis=0)
    x *= largest * rng.uniform(0.3, 1.0, len(largest))
    return x.ravel()


def _local_optimum(objective: Objective, start: Array, budget: Budget, number: int) -> Array:
    """
    Return a local optimum near a motion, or the latest iterate when the time is over.

    What remains of the excess at the last penalty tightens the bounds for the next minimisation: a
    motion that is scaled until it keeps the bounds is less informative.
    """
    from scipy.optimize import minimize

    constraints, latest = objective.constraints, start
    tightened = np.zeros(constraints.lower.shape)

    def penalised(x: Array, shift: Array, penalty: float) -> tuple[float, Array]:
        if budget.used >= 1.0:
            raise _TimeIsOverError
        budget.evaluated += 1
        budget.progress(budget.used, f'local search {number}')
        return objective.penalised(x, shift, penalty)

    def keep(x: Array) -> None:
        nonlocal latest
        latest = x.copy()

    with suppress(_TimeIsOverError):
        for penalty in PENALTIES:
            quantities = constraints.of_motion(*objective.motion(latest))
            if penalty == PENALTIES[-1]:
                excess = constraints.excess(quantities).max(axis=0)
                if excess.max() <= 0.0:
                    break
                tightened += np.maximum(excess, 0.0)
            shift = constraints.between(quantities) + tightened
            latest = minimize(
                penalised, latest, (shift, penalty), method='L-BFGS-B', jac=True, callback=keep,
                options={'maxiter': ITERATIONS, 'ftol': TOLERANCE},
            ).x
    return latest
