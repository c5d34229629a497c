# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The algorithms as compiled functions for many samples, eight samples at a time by SIMD.

Samples are rows of contiguous arrays. Each function returns the row of the first sample whose
result is not finite, :data:`NO_BAD_SAMPLE` or :data:`POSITIONS_OUT_OF_RANGE`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..compilation import batch_entry, compiled
from .kernels import (
    BASE,
    MAX_ANGLE,
    MIN_INERTIA_RATIO,
    Records,
    aba,
    crba,
    derivatives,
    forward_derivatives,
    rnea,
)
from .kernels import regressor as regressors

NO_BAD_SAMPLE = -1
"""Return value of a kernel: all results are finite."""

POSITIONS_OUT_OF_RANGE = -2
"""Return value of a kernel: a position is not finite or too large for the SIMD sine."""


@compiled
def load_block(samples: Array, start: int, block: Array) -> float:
    """
    Copy samples from a row on into the lanes of a block, shape (columns, lanes).

    :return: the largest magnitude, NaN if a number is not finite
    """
    largest = 0.0
    all_finite = True
    for lane in range(min(block.shape[1], samples.shape[0] - start)):
        for j in range(block.shape[0]):
            x = samples[start + lane, j]
            block[j, lane] = x
            largest = max(largest, abs(x))
            all_finite &= math.isfinite(x)
    return largest if all_finite else math.nan


@compiled
def store_block(block: Array, samples: Array, start: int) -> int:
    """
    Copy the lanes of a block, shape (columns, lanes), to samples from a row on.

    :return: row of the first sample that is not finite, or :data:`NO_BAD_SAMPLE`
    """
    for lane in range(min(block.shape[1], samples.shape[0] - start)):
        all_finite = True
        for j in range(block.shape[0]):
            samples[start + lane, j] = block[j, lane]
            all_finite &= math.isfinite(block[j, lane])
        if not all_finite:
            return start + lane
    return NO_BAD_SAMPLE


@batch_entry
def inverse_dynamics(
    bodies: Records, q: Array, qd: Array, qdd: Array, tau: Array, Q: Array, QD: Array, QDD: Array,
    Tau: Array,
) -> int:
    """Write a row of Tau for every row of Q, QD, QDD; q, qd, qdd, tau are working memory."""
    for start in range(0, Q.shape[0], q.shape[1]):
        if not load_block(Q, start, q) <= MAX_ANGLE:
            return POSITIONS_OUT_OF_RANGE
        load_block(QD, start, qd)
        load_block(QDD, start, qdd)
        rnea.inverse_dynamics(bodies, q, qd, qdd, tau)
        bad = store_block(tau, Tau, start)
        if bad != NO_BAD_SAMPLE:
            return bad
    return NO_BAD_SAMPLE


@batch_entry
def gravity_torques(bodies: Records, q: Array, tau: Array, Q: Array, Tau: Array) -> int:
    """Write a row of Tau for every row of Q; q and tau are working memory."""
    for start in range(0, Q.shape[0], q.shape[1]):
        if not load_block(Q, start, q) <= MAX_ANGLE:
            return POSITIONS_OUT_OF_RANGE
        rnea.gravity_torques(bodies, q, tau)
        bad = store_block(tau, Tau, start)
        if bad != NO_BAD_SAMPLE:
            return bad
    return NO_BAD_SAMPLE


@batch_entry
def mass_matrix(
    bodies: Records, composites: Records, q: Array, M: Array, Q: Array, Ms: Array
) -> int:
    """Write Ms, shape (N, nv nv), for every row of Q; q and M are working memory."""
    elements = M.reshape(M.shape[0] * M.shape[1], M.shape[2])
    for start in range(0, Q.shape[0], q.shape[1]):
        if not load_block(Q, start, q) <= MAX_ANGLE:
            return POSITIONS_OUT_OF_RANGE
        crba.mass_matrix(bodies, composites, q, M)
        bad = store_block(elements, Ms, start)
        if bad != NO_BAD_SAMPLE:
            return bad
    return NO_BAD_SAMPLE


@batch_entry
def forward_dynamics(
    bodies: Records, articulated: Records, q: Array, qd: Array, tau: Array, qdd: Array, Q: Array,
    QD: Array, Tau: Array, QDD: Array,
) -> int:
    """Write a row of QDD for every row of Q, QD, Tau; q, qd, tau, qdd are working memory."""
    for start in range(0, Q.shape[0], q.shape[1]):
        if not load_block(Q, start, q) <= MAX_ANGLE:
            return POSITIONS_OUT_OF_RANGE
        load_block(QD, start, qd)
        load_block(Tau, start, tau)
        aba.forward_dynamics(bodies, articulated, q, qd, tau, qdd)
        bad = store_block(qdd, QDD, start)
        if bad != NO_BAD_SAMPLE:
            return bad
        for lane in range(min(q.shape[1], Q.shape[0] - start)):
            if body_without_inertia_in_lane(bodies, articulated, lane) != BASE:
                return start + lane
    return NO_BAD_SAMPLE


@compiled
def body_without_inertia_in_lane(bodies: Records, articulated: Records, lane: int) -> int:
    """Return the outermost body without inertia along its joint in a lane; BASE for none."""
    for i in range(bodies.shape[0] - 1, 0, -1):
        body, own = bodies[i], articulated[i]
        for k in range(body['qd_size']):
            inertia = own['trace'][(body['column'] + k) // 3, lane]
            if not own['D'][k, lane] > MIN_INERTIA_RATIO * inertia:
                return i
    return BASE


@batch_entry
def regressor(
    bodies: Records, q: Array, qd: Array, qdd: Array, Y: Array, Q: Array, QD: Array, QDD: Array,
    Ys: Array,
) -> int:
    """Write Ys, shape (N, nv bodies 10), for every row of Q, QD, QDD; q to Y: memory."""
    elements = Y.reshape(Y.shape[0] * Y.shape[1] * Y.shape[2], Y.shape[3])
    for start in range(0, Q.shape[0], q.shape[1]):
        if not load_block(Q, start, q) <= MAX_ANGLE:
            return POSITIONS_OUT_OF_RANGE
        load_block(QD, start, qd)
        load_block(QDD, start, qdd)
        regressors.regressor(bodies, q, qd, qdd, Y)
        bad = store_block(elements, Ys, start)
        if bad != NO_BAD_SAMPLE:
            return bad
    return NO_BAD_SAMPLE


@batch_entry
def inverse_dynamics_derivatives(
    bodies: Records, branches: Records, q: Array, qd: Array, qdd: Array, result: Array, Q: Array,
    QD: Array, QDD: Array, Results: Array,
) -> int:
    """Write Results, shape (N, 3 nv nv), for every row of Q, QD, QDD; q to result: memory."""
    elements = result.reshape(3 * result.shape[1] * result.shape[2], result.shape[3])
    for start in range(0, Q.shape[0], q.shape[1]):
        if not load_block(Q, start, q) <= MAX_ANGLE:
            return POSITIONS_OUT_OF_RANGE
        # The derivatives may not depend on all numbers
        if math.isnan(load_block(QD, start, qd) + load_block(QDD, start, qdd)):
            return start
        derivatives.inverse_dynamics_derivatives(
            bodies, branches, q, qd, qdd, result[0], result[1], result[2]
        )
        bad = store_block(elements, Results, start)
        if bad != NO_BAD_SAMPLE:
            return bad
    return NO_BAD_SAMPLE


@batch_entry
def forward_dynamics_derivatives(
    bodies: Records, chains: NDArray[np.int64], X: Array, Results: Array
) -> int:
    """
    Replace derivatives of the inverse dynamics by those of the forward dynamics, one by one.

    Results have shape (N, 3, nv, nv); memory as for :mod:`.forward_derivatives`, without lanes.
    """
    for row in range(Results.shape[0]):
        by_q, by_qd, by_third = Results[row, 0], Results[row, 1], Results[row, 2]
        forward_derivatives.from_inverse_dynamics(bodies, chains, X, by_q, by_qd, by_third)
        for x in Results[row].flat:
            if not math.isfinite(x):
                return row
    return NO_BAD_SAMPLE
