# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The equations of all samples, A x = y, and their reduction by QR.

Each sample gives one equation for each joint with an effort. The unknowns x are the standard
parameters of the bodies, followed by rotor inertia a, friction B, C and k, and offset o of all
joints (see :func:`terms`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array, Indices
from ..recordings import STILL_SPEED
from ..robot import RobotModel
from .run import Run

CHUNK = 2048  # samples whose equations are in memory at one time
STUCK_TIME = 0.1  # A joint that stays slower than STILL_SPEED for longer is stuck, s

WIND_UP, WIND_UP_PRISMATIC = 0.05, 0.001
"""
Travel before and after a stuck position in which gears and seals wind up, rad and m.

There friction depends on the travel, as in the models of Dahl and LuGre, and no function of the
velocity describes it. The travel of a prismatic joint is that of a pinion with a radius of 2 cm.
"""

TERMS = 5  # number of linear terms of a joint: a, B, C, k, o
SEARCH_SAMPLES = 20000  # samples that are enough for the search of v_s

MIN_SMOOTHING, MAX_SMOOTHING = 0.01, 0.25
"""
Range of v_s, rad/s or m/s. Slower samples are not used, so a smaller v_s cannot be found.

With a larger v_s, Coulomb friction replaces viscous friction. The fastest motion is a bound too.
"""

START = 0.05  # v_s of joints that do not move, rad/s or m/s
FAST = 0.95  # share of the samples that are slower than the greatest v_s
SPREAD = 2.0  # deviation of ln(v_s) from ln(START) before the data are known
CORRELATED = 5.0  # number of samples that count as one: errors of a model correlate
GRID = 40  # number of values of v_s, apart by a factor of at most 1.09


class Equations:
    """
    Motion and efforts of some clean runs, one after the other; N samples of n joints.

    :ivar slides: whether the joint slides in the sample, shape (N, n), as q, qd, qdd and effort
    :ivar winds: whether it moves near a stop, where gears and seals wind up, or rests in all
        samples, shape (N, n); there the error of the friction is larger
    :ivar moves: whether the joint moves in any sample, shape (n,)
    :ivar passes: whether it passes a velocity of 0 without standing still, shape (N, n)
    :ivar used: whether it has a usable effort and slides or winds, shape (N, n); poses at rest are
        used
    :ivar run: number of the run of each sample, shape (N,); ``time``: its time in the run, s
    :ivar travel: travel in which a joint's gears wind up, shape (n,), rad or m
    """

    def __init__(self, model: RobotModel, runs: Sequence[Run]) -> None:
        self.model = model
        self.time, self.q, self.qd, self.qdd, self.effort = (
            np.concatenate([getattr(run, name) for run in runs])
            for name in ('time', 'q', 'qd', 'qdd', 'effort')
        )
        joints = {} if model.description is None else model.description.joints
        prismatic = [name for name, joint in joints.items() if joint.type == 'prismatic']
        slides = np.isin(model.joint_names, prismatic)
        self.travel = np.where(slides, WIND_UP_PRISMATIC, WIND_UP)
        states = [sliding(run, self.travel) for run in runs]
        self.slides, self.winds, self.passes = (
            np.concatenate(each) for each in zip(*states, strict=True)
        )
        moving = self.slides | self.winds
        self.moves = np.atleast_1d(moving.any(axis=0))
        if self.qd.any():
            self.winds |= ~self.moves
        self.used = np.isfinite(self.effort) & (moving | self.winds | (not self.qd.any()))
        self.run = np.repeat(np.arange(len(runs)), [len(run.time) for run in runs])

    def use_poses(self) -> None:
        """Use joints at rest instead of sliding ones, without velocity and acceleration."""
        self.qd, self.qdd = np.zeros((2, *self.q.shape))
        self.used = np.isfinite(self.effort)

    def __len__(self) -> int:
        return len(self.q)

    def thinned(self, most: int) -> Equations:
        """Return at most so many samples, evenly chosen."""
        step = 1 + len(self) // most
        few = copy(self)
        for name in (
            'time', 'q', 'qd', 'qdd', 'effort', 'slides', 'winds', 'passes', 'used', 'run',
        ):
            setattr(few, name, getattr(self, name)[::step])
        return few

    def rigid(self, model: RobotModel) -> Array:
        """Return the rigid-body efforts of a model with the same joints, shape (N, n)."""
        return model.inverse_dynamics_batch(self.q, self.qd, self.qdd)

    def reduced(self, terms: Array, effort: Array, weights: Array) -> Array:
        """
        Return the factor of the weighted equations [A y], shape (p + 1, p + 1).

        The joints' own parameters have the columns ``terms``, shape (N, n, any).
        """
        size = self._unknowns(terms) + 1
        factor = np.zeros((size, size))
        for part, rows in self._rows(terms, effort, weights):
            factor = triangular(np.concatenate([factor, rows[weights[part] > 0.0]]))
        return factor

    def squares(self, terms: Array, effort: Array, weights: Array, block: Indices) -> Array:
        """
        Return [A y]^T [A y] of each block of equations, shape (blocks, p + 1, p + 1).

        ``block`` is the number of each equation's block, shape (N, n).
        """
        size = self._unknowns(terms) + 1
        squares = np.zeros((int(block.max(initial=0)) + 1, size, size))
        for part, rows in self._rows(terms, effort, weights):
            for number in np.unique(block[part]):
                own = rows[block[part] == number]
                squares[number] += own.T @ own
        return squares

    def _unknowns(self, terms: Array) -> int:
        """Return the number of unknowns p."""
        return 10 * len(self.model.body_names) + int(np.prod(terms.shape[1:]))

    def _rows(
        self, terms: Array, effort: Array, weights: Array
    ) -> Iterator[tuple[slice, Array]]:
        """Yield the weighted equations [A y] of consecutive samples, shape (any, n, p + 1)."""
        n = self.q.shape[1]
        for start in range(0, len(self), CHUNK):
            part = slice(start, start + CHUNK)
            Y = self.model.regressor_batch(self.q[part], self.qd[part], self.qdd[part])
            own = np.zeros((len(Y), n, terms.shape[2], n))
            for joint in range(n):
                own[:, joint, :, joint] = terms[part, joint]
            y = np.where(weights[part] > 0.0, effort[part], 0.0)[:, :, np.newaxis]
            rows = np.concatenate([Y, own.reshape(len(Y), n, -1), y], axis=2)
            yield part, rows * np.sqrt(weights[part])[:, :, np.newaxis]


def triangular(rows: Array) -> Array:
    """Return the square triangular factor R of rows, shape (N, p), so that R^T R = rows^T rows."""
    p = rows.shape[1]
    factor = np.zeros((p, p))
    R = np.linalg.qr(rows, mode='r')
    factor[: len(R)] = R
    return factor


def sliding(run: Run, wind_up: Array) -> tuple[NDArray[np.bool_], ...]:
    """
    Return whether each joint slides, winds up, or passes a velocity of 0, shape (N, n) each.

    It winds up within a travel (n,), rad or m, of a position where it stands still.
    """
    moves = np.abs(run.qd) >= STILL_SPEED
    stuck = np.zeros_like(moves)
    for joint in range(run.q.shape[1]):
        edges = np.flatnonzero(np.diff(moves[:, joint])) + 1
        bounds = [0, *edges.tolist(), len(run.time)]
        for start, stop in pairwise(bounds):
            if abs(run.qd[start, joint]) >= STILL_SPEED:
                continue
            if run.time[stop - 1] - run.time[start] < STUCK_TIME:
                continue
            near = np.abs(run.q[:, joint] - run.q[start:stop, joint].mean()) < wind_up[joint]
            before = np.flatnonzero(~near[:start])
            after = np.flatnonzero(~near[stop:])
            first = before[-1] + 1 if before.size else 0
            last = stop + after[0] if after.size else len(run.time)
            stuck[first:last, joint] = True
    return moves & ~stuck, moves & stuck, ~moves & ~stuck


def terms(qd: Array, qdd: Array, load: Array, smoothing: ArrayLike) -> Array:
    """
    Return the columns of a, B, C, k and o of each joint beside the rigid bodies, (..., n, 5).

    ::

        a qdd + B qd + s(qd) (C + k |load|) + o,   s(qd) = tanh(qd / v_s)
    """
    s = np.tanh(qd / np.asarray(smoothing))
    return np.stack([qdd, qd, s, s * np.abs(load), np.ones_like(qd)], axis=-1)


def search_smoothing(equations: Equations, load: Array, weights: Array, with_load: Array) -> Array:
    """
    Return the likely v_s of each joint, shape (n,), rad/s or m/s.

    It is the mean of ln(v_s), weighted by the likelihood. The v_s with the least error would jump
    from one minimum to another if an angle of the URDF changes by a rounding.

    The other terms are fitted with each v_s, with the rigid-body effort times a factor, so that
    wrong masses have little influence. Passages of a velocity of 0 count here. On two real arms
    they change the errors by less than 0.1 %; samples at standstill double the error of one joint.
    """
    found = np.full(load.shape[1], START)
    for joint in np.flatnonzero((weights > 0.0).any(axis=0) & equations.moves):
        own = weights[:, joint]
        passes = equations.passes[:, joint] & np.isfinite(equations.effort[:, joint])
        own = np.where(passes, np.median(own[own > 0.0]), own)
        rows = np.flatnonzero(own)
        rows = rows[:: 1 + len(rows) // SEARCH_SAMPLES]
        found[joint] = _search(
            equations.qd[rows, joint], equations.qdd[rows, joint], load[rows, joint],
            equations.effort[rows, joint], np.sqrt(own[rows]), bool(with_load[joint])
        )
    return found


def _search(
    qd: Array, qdd: Array, load: Array, effort: Array, root: Array, with_load: bool
) -> float:
    """Return the v_s of one joint, from its used rows."""
    from scipy.optimize import nnls

    def error(exponent: float) -> float:
        a, B, C, k, o = terms(qd, qdd, load, np.exp(exponent)).T
        columns = [a, B, C, *([k] if with_load else []), o, -o, load, effort]
        R = triangular(np.column_stack(columns) * root[:, np.newaxis])
        return float(nnls(R[:, :-1], R[:, -1])[1])

    greatest = np.clip(np.quantile(np.abs(qd), FAST), 2.0 * MIN_SMOOTHING, MAX_SMOOTHING)
    exponents = np.linspace(np.log(MIN_SMOOTHING), np.log(greatest), GRID)
    squares = np.array([error(exponent) ** 2 for exponent in exponents])
    squares = np.maximum(squares, np.finfo(float).tiny)
    cost = len(qd) / CORRELATED * np.log(squares / squares.min())
    cost += ((exponents - np.log(START)) / SPREAD) ** 2
    likelihood = np.exp(-0.5 * (cost - cost.min()))
    return float(np.exp(likelihood @ exponents / likelihood.sum()))
