# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The equations of all samples, A x = y, and their reduction by QR in blocks.

Each sample gives one equation for each joint with an effort. The unknowns x are the standard
parameters of the bodies, followed by rotor inertia a, friction B, C and k, and offset o of all
joints (see :mod:`.friction_terms`).
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

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


class Equations:
    """
    Motion and efforts of some clean runs, one after the other; N samples of n joints.

    :ivar slides: whether the joint slides in the sample, shape (N, n), as q, qd, qdd and effort
    :ivar passes: whether it passes a velocity of 0 without standing still, shape (N, n)
    :ivar used: whether it slides and has a usable effort, shape (N, n); poses at rest are used
    :ivar run: number of the run of each sample, shape (N,)
    :ivar block: number of the jackknife's block of each sample, shape (N,); one block at first
    """

    def __init__(self, model: RobotModel, runs: Sequence[Run]) -> None:
        self.model = model
        self.q = np.concatenate([run.q for run in runs])
        self.qd = np.concatenate([run.qd for run in runs])
        self.qdd = np.concatenate([run.qdd for run in runs])
        self.effort = np.concatenate([run.effort for run in runs])
        joints = {} if model.description is None else model.description.joints
        prismatic = [name for name, joint in joints.items() if joint.type == 'prismatic']
        travel = np.where(np.isin(model.joint_names, prismatic), WIND_UP_PRISMATIC, WIND_UP)
        states = [sliding(run, travel) for run in runs]
        self.slides, self.passes = (np.concatenate(each) for each in zip(*states, strict=True))
        self.used = self.slides & np.isfinite(self.effort)
        self.run = np.repeat(np.arange(len(runs)), [len(run.time) for run in runs])
        if not self.qd.any():
            self.used = np.isfinite(self.effort)
        self.block: Indices = np.zeros(len(self.q), dtype=np.intp)

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
        for name in ('q', 'qd', 'qdd', 'effort', 'slides', 'passes', 'used', 'run', 'block'):
            setattr(few, name, getattr(self, name)[::step])
        return few

    def rigid(self, model: RobotModel) -> Array:
        """Return the rigid-body efforts of a model with the same joints, shape (N, n)."""
        return model.inverse_dynamics_batch(self.q, self.qd, self.qdd)

    def regressor(self, part: slice | Indices) -> Array:
        """Return the regressors of some samples, shape (samples, n, 10 * bodies)."""
        return self.model.regressor_batch(self.q[part], self.qd[part], self.qdd[part])

    def reduced(self, terms: Array, effort: Array, weights: Array) -> Array:
        """
        Return the factors of the weighted equations [A y], shape (blocks, p + 1, p + 1).

        The joints' own parameters have the columns ``terms``, shape (N, n, any).
        """
        n = self.q.shape[1]
        bodies = 10 * len(self.model.body_names)
        p = bodies + terms.shape[2] * n
        factors = np.zeros((int(self.block.max(initial=0)) + 1, p + 1, p + 1))
        for block in range(len(factors)):
            samples = np.flatnonzero(self.block == block)
            for start in range(0, len(samples), CHUNK):
                part = samples[start : start + CHUNK]
                Y, used = self.regressor(part), weights[part] > 0.0
                own = np.zeros((len(Y), n, terms.shape[2], n))
                for joint in range(n):
                    own[:, joint, :, joint] = terms[part, joint]
                y = np.where(used, effort[part], 0.0)[:, :, np.newaxis]
                rows = np.concatenate([Y, own.reshape(len(Y), n, p - bodies), y], axis=2)
                rows *= np.sqrt(weights[part])[:, :, np.newaxis]
                factors[block] = triangular(np.concatenate([factors[block], rows[used]]))
        return factors


def triangular(rows: Array) -> Array:
    """Return the square triangular factor R of rows, shape (N, p), so that R^T R = rows^T rows."""
    p = rows.shape[1]
    factor = np.zeros((p, p))
    R = np.linalg.qr(rows, mode='r')
    factor[: len(R)] = R
    return factor


def sliding(run: Run, wind_up: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """
    Return whether each joint slides, or passes a velocity of 0, shape (N, n) each.

    A joint that stands still, or winds up within a travel (n,), rad or m, does neither.
    """
    slides = np.abs(run.qd) >= STILL_SPEED
    stuck = np.zeros_like(slides)
    for joint in range(run.q.shape[1]):
        edges = np.flatnonzero(np.diff(slides[:, joint])) + 1
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
    return slides & ~stuck, ~slides & ~stuck
