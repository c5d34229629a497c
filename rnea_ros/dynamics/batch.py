# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The algorithms for many samples of one tree, eight samples at a time by SIMD.

Samples are rows of contiguous arrays. Working memory does not grow with their number.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from .compilation import COMPILED, batch_entry, compiled
from .kernels import (
    BASE,
    LANES,
    LARGEST_ANGLE,
    LEAST_INERTIA_RATIO,
    aba,
    articulated_dtype,
    body_records,
    composite_dtype,
    crba,
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
    Copy samples into the lanes of a block.

    :param samples: one sample in each row
    :param start: row of the first sample
    :param block: shape (columns of samples, lanes); overwritten
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
    Copy the lanes of a block to samples.

    :param block: shape (columns of samples, lanes)
    :param samples: one sample in each row; overwritten
    :param start: row of the first sample
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
    bodies: NDArray[np.void],
    q: Array,
    qd: Array,
    qdd: Array,
    tau: Array,
    Q: Array,
    QD: Array,
    QDD: Array,
    Tau: Array,
) -> int:
    """Write a row of Tau for every row of Q, QD, QDD; q, qd, qdd, tau are working memory."""
    for start in range(0, Q.shape[0], q.shape[1]):
        if not load_block(Q, start, q) <= LARGEST_ANGLE:
            return POSITIONS_OUT_OF_RANGE
        load_block(QD, start, qd)
        load_block(QDD, start, qdd)
        rnea.inverse_dynamics(bodies, q, qd, qdd, tau)
        bad = store_block(tau, Tau, start)
        if bad != NO_BAD_SAMPLE:
            return bad
    return NO_BAD_SAMPLE


@batch_entry
def gravity_torques(bodies: NDArray[np.void], q: Array, tau: Array, Q: Array, Tau: Array) -> int:
    """Write a row of Tau for every row of Q; q and tau are working memory."""
    for start in range(0, Q.shape[0], q.shape[1]):
        if not load_block(Q, start, q) <= LARGEST_ANGLE:
            return POSITIONS_OUT_OF_RANGE
        rnea.gravity_torques(bodies, q, tau)
        bad = store_block(tau, Tau, start)
        if bad != NO_BAD_SAMPLE:
            return bad
    return NO_BAD_SAMPLE


@batch_entry
def mass_matrix(
    bodies: NDArray[np.void], composites: NDArray[np.void], q: Array, M: Array, Q: Array, Ms: Array
) -> int:
    """Write Ms, shape (N, nv nv), for every row of Q; q and M are working memory."""
    elements = M.reshape(M.shape[0] * M.shape[1], M.shape[2])
    for start in range(0, Q.shape[0], q.shape[1]):
        if not load_block(Q, start, q) <= LARGEST_ANGLE:
            return POSITIONS_OUT_OF_RANGE
        crba.mass_matrix(bodies, composites, q, M)
        bad = store_block(elements, Ms, start)
        if bad != NO_BAD_SAMPLE:
            return bad
    return NO_BAD_SAMPLE


@batch_entry
def forward_dynamics(
    bodies: NDArray[np.void],
    articulated: NDArray[np.void],
    q: Array,
    qd: Array,
    tau: Array,
    qdd: Array,
    Q: Array,
    QD: Array,
    Tau: Array,
    QDD: Array,
) -> int:
    """Write a row of QDD for every row of Q, QD, Tau; q, qd, tau, qdd are working memory."""
    for start in range(0, Q.shape[0], q.shape[1]):
        if not load_block(Q, start, q) <= LARGEST_ANGLE:
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
def body_without_inertia_in_lane(
    bodies: NDArray[np.void], articulated: NDArray[np.void], lane: int
) -> int:
    """Return the outermost body without inertia along its joint in a lane; BASE for none."""
    for i in range(bodies.shape[0] - 1, 0, -1):
        body, own = bodies[i], articulated[i]
        for k in range(body['dofs']):
            inertia = own['trace'][(body['column'] + k) // 3, lane]
            if not own['D'][k, lane] > LEAST_INERTIA_RATIO * inertia:
                return i
    return BASE


@batch_entry
def regressor(
    bodies: NDArray[np.void],
    q: Array,
    qd: Array,
    qdd: Array,
    Y: Array,
    column: Array,
    Q: Array,
    QD: Array,
    QDD: Array,
    Ys: Array,
) -> int:
    """Write Ys, shape (N, nv 10 bodies), for every row of Q, QD, QDD; q to column: memory."""
    elements = Y.reshape(Y.shape[0] * Y.shape[1], Y.shape[2])
    for start in range(0, Q.shape[0], q.shape[1]):
        if not load_block(Q, start, q) <= LARGEST_ANGLE:
            return POSITIONS_OUT_OF_RANGE
        load_block(QD, start, qd)
        load_block(QDD, start, qdd)
        regressors.regressor(bodies, q, qd, qdd, Y, column)
        bad = store_block(elements, Ys, start)
        if bad != NO_BAD_SAMPLE:
            return bad
    return NO_BAD_SAMPLE


class BatchWorkspace:
    """
    Working memory for one thread.

    Arguments of the methods are contiguous float64 arrays with one sample in each row; the last
    one is overwritten. The methods return :data:`NO_BAD_SAMPLE`, :data:`POSITIONS_OUT_OF_RANGE`
    or the row of the first sample whose result is not finite.

    :param base: record of the base in a :class:`~rnea_ros.dynamics.workspace.Workspace`, with
        motion and gravity
    :param bodies: bodies of the tree
    """

    def __init__(self, base: np.void, bodies: NDArray[np.void]) -> None:
        nq, nv, lanes = int(bodies[BASE]['position']), int(bodies[BASE]['dof']), (WIDTH,)
        self.bodies = body_records(bodies, lanes)
        self.bodies[BASE]['v'] = base['v'][:, np.newaxis]
        self.bodies[BASE]['a'] = base['a'][:, np.newaxis]
        self._nv = nv
        self._q = np.zeros((nq, WIDTH))
        self._qd, self._qdd, self._tau = np.zeros((3, nv, WIDTH))

    def inverse_dynamics(self, Q: Array, QD: Array, QDD: Array, Tau: Array) -> int:
        """Compute joint efforts, shape (N, nv)."""
        self._check('inverse_dynamics', 3, JOINTS)
        lanes = (self._q, self._qd, self._qdd, self._tau)
        return inverse_dynamics(self.bodies, *lanes, Q, QD, QDD, Tau)

    def gravity_torques(self, Q: Array, Tau: Array) -> int:
        """Compute gravity torques, shape (N, nv)."""
        self._check('gravity_torques', 1, JOINTS)
        return gravity_torques(self.bodies, self._q, self._tau, Q, Tau)

    def mass_matrix(self, Q: Array, M: Array) -> int:
        """Compute mass matrices, shape (N, nv * nv)."""
        self._check('mass_matrix', 1, JOINTS**2)
        composites = np.zeros(len(self.bodies), dtype=composite_dtype((WIDTH,)))
        lanes = np.zeros((self._nv, self._nv, WIDTH))
        return mass_matrix(self.bodies, composites, self._q, lanes, Q, M)

    def forward_dynamics(self, Q: Array, QD: Array, Tau: Array, QDD: Array) -> int:
        """Compute joint accelerations, shape (N, nv), of a tree without mimic joints."""
        self._check('forward_dynamics', 3, JOINTS)
        articulated = np.zeros(len(self.bodies), dtype=articulated_dtype((WIDTH,)))
        lanes = (self._q, self._qd, self._tau, self._qdd)
        return forward_dynamics(self.bodies, articulated, *lanes, Q, QD, Tau, QDD)

    def regressor(self, Q: Array, QD: Array, QDD: Array, Y: Array) -> int:
        """Compute regressors, shape (N, nv * 10 * bodies)."""
        self._check('regressor', 3, JOINTS * 10 * JOINTS)
        lanes = np.zeros((self._nv, 10 * (len(self.bodies) - 1), WIDTH))
        arguments = (self._q, self._qd, self._qdd, lanes, self._tau)
        return regressor(self.bodies, *arguments, Q, QD, QDD, Y)

    def _check(self, name: str, inputs: int, columns: int) -> None:
        """
        Check the kernel of a method before its first use.

        :param name: name of the method
        :param inputs: number of its arguments without the result
        :param columns: columns of its result for a tree of two joints
        :raises CompiledCodeError: the kernel does not detect NaN or infinity
        """
        kernel = f'{name}_batch'
        if needs_check(kernel):
            workspace = _UncheckedWorkspace(body_records(two_joints())[BASE], two_joints())
            method = getattr(workspace, name)
            samples = np.full((inputs, 2, JOINTS), 0.5)
            result = np.empty((2, columns))
            check_compiled_code(
                kernel, lambda: method(*samples, result) == NO_BAD_SAMPLE, samples
            )


class _UncheckedWorkspace(BatchWorkspace):
    """The workspace that the check itself uses."""

    def _check(self, name: str, inputs: int, columns: int) -> None:
        pass
