# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The algorithms for many samples of one tree, eight samples at a time by SIMD.

Samples are rows of contiguous float64 arrays. One loop copies them into the lanes of a block,
computes a quantity of :data:`QUANTITIES`, and copies the lanes of the result to rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..compilation import COMPILED, batch_entry, compiled, from_template
from .kernels import (
    BASE,
    LANES,
    MAX_ANGLE,
    MIN_INERTIA_RATIO,
    PARAMETERS,
    Records,
    aba,
    articulated_dtype,
    body_records,
    branch_dtype,
    composite_dtype,
    crba,
    derivatives,
    rnea,
)
from .kernels import regressor as regressors
from .self_test import JOINTS, check_compiled_code, needs_check, two_joints

WIDTH = LANES if COMPILED else 1024
"""Samples computed at a time; in plain Python, numpy is faster with long arrays."""

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


def compute(memory: Any, inputs: Any, result: Array) -> None:
    """Compute the result's lanes from those of the inputs; each kernel has its own function."""


def of_samples(memory: Any, inputs: Any, result: Array, samples: Any, results: Array) -> int:
    """
    Write a row of results for each row of the samples; return the first row that is not finite.

    :param memory: records of the bodies, and others that the computation needs
    :param inputs: arrays of lanes, positions first, shape (columns, lanes)
    :param result: array of lanes, shape (..., lanes)
    :param samples: as many arrays as inputs, shape (N, columns)
    :param results: shape (N, elements of a result)
    :return: or :data:`NO_BAD_SAMPLE` or :data:`POSITIONS_OUT_OF_RANGE`
    """
    elements = result.reshape(results.shape[1], result.shape[-1])
    for start in range(0, results.shape[0], result.shape[-1]):
        if not load_block(samples[0], start, inputs[0]) <= MAX_ANGLE:
            return POSITIONS_OUT_OF_RANGE
        for k in range(1, len(samples)):
            if math.isnan(load_block(samples[k], start, inputs[k])):
                return start
        compute(memory, inputs, result)
        bad = store_block(elements, results, start)
        if bad != NO_BAD_SAMPLE:
            return bad
    return NO_BAD_SAMPLE


@compiled
def inverse_dynamics(memory: Any, inputs: Any, tau: Array) -> None:
    """Write joint efforts."""
    rnea.inverse_dynamics(memory[0], inputs[0], inputs[1], inputs[2], tau)


@compiled
def gravity_torques(memory: Any, inputs: Any, tau: Array) -> None:
    """Write gravity torques."""
    rnea.gravity_torques(memory[0], inputs[0], tau)


@compiled
def mass_matrix(memory: Any, inputs: Any, M: Array) -> None:
    """Write mass matrices."""
    crba.mass_matrix(memory[0], memory[1], inputs[0], M)


@compiled
def forward_dynamics(memory: Any, inputs: Any, qdd: Array) -> None:
    """Write joint accelerations of a tree without mimic joints; NaN without inertia."""
    bodies, articulated = memory
    aba.forward_dynamics(bodies, articulated, inputs[0], inputs[1], inputs[2], qdd)
    for i in range(1, bodies.shape[0]):
        body, own = bodies[i], articulated[i]
        for k in range(body['qd_size']):
            inertias = own['trace'][(body['column'] + k) // 3]
            for lane in range(qdd.shape[1]):
                if not own['D'][k, lane] > MIN_INERTIA_RATIO * inertias[lane]:
                    qdd[0, lane] = math.nan


@compiled
def regressor(memory: Any, inputs: Any, Y: Array) -> None:
    """Write regressors, of all bodies."""
    regressors.regressor(memory[0], inputs[0], inputs[1], inputs[2], Y)


@compiled
def inverse_dynamics_derivatives(memory: Any, inputs: Any, D: Array) -> None:
    """Write derivatives by q, qd and qdd."""
    bodies, branches = memory
    derivatives.inverse_dynamics_derivatives(
        bodies, branches, inputs[0], inputs[1], inputs[2], D[0], D[1], D[2]
    )


@dataclass(frozen=True)
class Quantity:
    """
    What a batch computes.

    :param inputs: number of arrays that it is computed from, q first
    :param shape: of one result, from nv and the number of moving bodies
    :param kernel: :func:`of_samples` with its computation
    :param dtype: records for each body that the computation needs, from the lanes
    """

    inputs: int
    shape: Callable[[int, int], tuple[int, ...]]
    kernel: Callable[..., int]
    dtype: Callable[[tuple[int, ...]], np.dtype[np.void]] | None = None


def _kernel(function: Callable[..., None]) -> Callable[..., int]:
    name = f'{function.__name__}_batch'
    return batch_entry(from_template(of_samples, name, compute=function))


QUANTITIES = {
    'inverse_dynamics': Quantity(3, lambda nv, n: (nv,), _kernel(inverse_dynamics)),
    'gravity_torques': Quantity(1, lambda nv, n: (nv,), _kernel(gravity_torques)),
    'mass_matrix': Quantity(1, lambda nv, n: (nv, nv), _kernel(mass_matrix), composite_dtype),
    'forward_dynamics': Quantity(
        3, lambda nv, n: (nv,), _kernel(forward_dynamics), articulated_dtype
    ),
    'regressor': Quantity(3, lambda nv, n: (nv, n, len(PARAMETERS)), _kernel(regressor)),
    'inverse_dynamics_derivatives': Quantity(
        3, lambda nv, n: (3, nv, nv), _kernel(inverse_dynamics_derivatives), branch_dtype
    ),
}


@batch_entry
def to_forward_derivatives(
    bodies: Records, chains: NDArray[np.int64], X: Array, Results: Array
) -> int:
    """
    Replace derivatives of the inverse dynamics by those of the forward dynamics, one by one.

    Results have shape (N, 3, nv, nv); memory as for :func:`.derivatives.from_inverse_dynamics`.
    """
    for row in range(Results.shape[0]):
        by_q, by_qd, by_third = Results[row, 0], Results[row, 1], Results[row, 2]
        derivatives.from_inverse_dynamics(bodies, chains, X, by_q, by_qd, by_third)
        for x in Results[row].flat:
            if not math.isfinite(x):
                return row
    return NO_BAD_SAMPLE


class BatchWorkspace:
    """
    Working memory for one thread; it does not grow with the number of samples.

    Methods return what :func:`of_samples` returns.

    :param base: record of the base in a :class:`~rnea_ros.dynamics.workspace.Workspace`, with
        motion and gravity
    :param bodies: bodies of the tree
    """

    def __init__(self, base: np.void, bodies: Records) -> None:
        nq, self._nv = int(bodies[BASE]['q_index']), int(bodies[BASE]['qd_index'])
        self.bodies = body_records(bodies, (WIDTH,))
        self.bodies[BASE]['v'] = base['v'][:, np.newaxis]
        self.bodies[BASE]['a'] = base['a'][:, np.newaxis]
        self._tree = bodies
        self._inputs = (np.zeros((nq, WIDTH)), *np.zeros((2, self._nv, WIDTH)))

    def compute(self, name: str, samples: Sequence[Array], results: Array) -> int:
        """Write a quantity's rows of results, shape (N, elements of one)."""
        if needs_check(f'{name}_batch'):
            _check(name)
        return self._compute(name, samples, results)

    def _compute(self, name: str, samples: Sequence[Array], results: Array) -> int:
        quantity = QUANTITIES[name]
        memory = [self.bodies]
        if quantity.dtype is not None:
            memory.append(np.zeros(len(self.bodies), dtype=quantity.dtype((WIDTH,))))
        lanes = np.zeros((*quantity.shape(self._nv, len(self.bodies) - 1), WIDTH))
        inputs = self._inputs[:quantity.inputs]
        return quantity.kernel(tuple(memory), inputs, lanes, tuple(samples), results)

    def forward_dynamics_derivatives(self, samples: Sequence[Array], D: Array) -> int:
        """Write derivatives of the forward dynamics, (N, 3 * nv * nv); no mimic joints."""
        _check_forward_dynamics_derivatives()
        Q, QD, Tau = samples
        QDD = np.empty_like(Tau)
        bad = self.compute('forward_dynamics', (Q, QD, Tau), QDD)
        if bad == NO_BAD_SAMPLE:
            bad = self.compute('inverse_dynamics_derivatives', (Q, QD, QDD), D)
        if bad == NO_BAD_SAMPLE:
            memory = np.zeros(2 * self._nv, np.int64), np.empty((self._nv, 3 * self._nv))
            results = D.reshape(len(D), 3, self._nv, self._nv)
            bad = to_forward_derivatives(self._tree, *memory, results)
        return bad


def _check(name: str) -> None:
    """Check a kernel before its first use, on the arm of two joints."""
    workspace = BatchWorkspace(body_records(two_joints())[BASE], two_joints())
    samples = np.full((QUANTITIES[name].inputs, 2, JOINTS), 0.5)
    result = np.empty((2, math.prod(QUANTITIES[name].shape(JOINTS, JOINTS))))
    check_compiled_code(
        f'{name}_batch', lambda: workspace._compute(name, [*samples], result) == NO_BAD_SAMPLE,
        samples,
    )


def _check_forward_dynamics_derivatives() -> None:
    """Check the kernel before its first use; it gets derivatives of the inverse dynamics."""
    kernel = 'forward_dynamics_derivatives_batch'
    if not needs_check(kernel):
        return
    memory = np.zeros(2 * JOINTS, np.int64), np.empty((JOINTS, 3 * JOINTS))
    by_state = np.full((2, 2, JOINTS, JOINTS), 0.5)
    M = np.tile(np.eye(JOINTS), (2, 1, 1, 1))

    def accepts() -> bool:
        rows = np.concatenate([by_state, M], axis=1)  # the kernel overwrites it
        return to_forward_derivatives(two_joints(), *memory, rows) == NO_BAD_SAMPLE

    check_compiled_code(kernel, accepts, by_state)
