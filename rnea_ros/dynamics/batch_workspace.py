# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Working memory for the algorithms on many samples of one tree.

It does not grow with the number of samples.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..compilation import COMPILED
from . import batch_kernels
from .batch_kernels import NO_BAD_SAMPLE
from .kernels import (
    BASE,
    LANES,
    Records,
    articulated_dtype,
    body_records,
    branch_dtype,
    composite_dtype,
)
from .self_test import JOINTS, check_compiled_code, needs_check, two_joints

WIDTH = LANES if COMPILED else 1024
"""Samples computed at a time; in plain Python, numpy is faster with long arrays."""


class BatchWorkspace:
    """
    Working memory for one thread.

    Arguments of the methods are contiguous float64 arrays with one sample in each row; the last
    one is overwritten. The methods return what the functions of
    :mod:`~rnea_ros.dynamics.batch_kernels` return.

    :param base: record of the base in a :class:`~rnea_ros.dynamics.workspace.Workspace`, with
        motion and gravity
    :param bodies: bodies of the tree
    """

    def __init__(self, base: np.void, bodies: Records) -> None:
        nq, nv, lanes = int(bodies[BASE]['q_index']), int(bodies[BASE]['qd_index']), (WIDTH,)
        self.bodies = body_records(bodies, lanes)
        self.bodies[BASE]['v'] = base['v'][:, np.newaxis]
        self.bodies[BASE]['a'] = base['a'][:, np.newaxis]
        self._tree = bodies
        self._nv = nv
        self._q = np.zeros((nq, WIDTH))
        self._qd, self._qdd, self._tau = np.zeros((3, nv, WIDTH))

    def inverse_dynamics(self, Q: Array, QD: Array, QDD: Array, Tau: Array) -> int:
        """Compute joint efforts, shape (N, nv)."""
        self._check('inverse_dynamics', 3, JOINTS)
        lanes = (self._q, self._qd, self._qdd, self._tau)
        return batch_kernels.inverse_dynamics(self.bodies, *lanes, Q, QD, QDD, Tau)

    def gravity_torques(self, Q: Array, Tau: Array) -> int:
        """Compute gravity torques, shape (N, nv)."""
        self._check('gravity_torques', 1, JOINTS)
        return batch_kernels.gravity_torques(self.bodies, self._q, self._tau, Q, Tau)

    def mass_matrix(self, Q: Array, M: Array) -> int:
        """Compute mass matrices, shape (N, nv * nv)."""
        self._check('mass_matrix', 1, JOINTS**2)
        composites = np.zeros(len(self.bodies), dtype=composite_dtype((WIDTH,)))
        lanes = np.zeros((self._nv, self._nv, WIDTH))
        return batch_kernels.mass_matrix(self.bodies, composites, self._q, lanes, Q, M)

    def forward_dynamics(self, Q: Array, QD: Array, Tau: Array, QDD: Array) -> int:
        """Compute joint accelerations, shape (N, nv), of a tree without mimic joints."""
        self._check('forward_dynamics', 3, JOINTS)
        articulated = np.zeros(len(self.bodies), dtype=articulated_dtype((WIDTH,)))
        lanes = (self._q, self._qd, self._tau, self._qdd)
        return batch_kernels.forward_dynamics(self.bodies, articulated, *lanes, Q, QD, Tau, QDD)

    def regressor(self, Q: Array, QD: Array, QDD: Array, Y: Array) -> int:
        """Compute regressors, shape (N, nv * bodies * 10)."""
        self._check('regressor', 3, JOINTS * 10 * JOINTS)
        lanes = np.zeros((self._nv, len(self.bodies) - 1, 10, WIDTH))
        arguments = (self._q, self._qd, self._qdd, lanes)
        return batch_kernels.regressor(self.bodies, *arguments, Q, QD, QDD, Y)

    def inverse_dynamics_derivatives(self, Q: Array, QD: Array, QDD: Array, D: Array) -> int:
        """Compute derivatives of the inverse dynamics, shape (N, 3 * nv * nv)."""
        self._check('inverse_dynamics_derivatives', 3, 3 * JOINTS**2)
        branches = np.zeros(len(self.bodies), dtype=branch_dtype((WIDTH,)))
        lanes = np.zeros((3, self._nv, self._nv, WIDTH))
        arguments = (branches, self._q, self._qd, self._qdd, lanes)
        return batch_kernels.inverse_dynamics_derivatives(self.bodies, *arguments, Q, QD, QDD, D)

    def forward_dynamics_derivatives(self, Q: Array, QD: Array, Tau: Array, D: Array) -> int:
        """Compute derivatives of the forward dynamics, shape (N, 3 * nv * nv); no mimic joints."""
        _check_forward_dynamics_derivatives()
        QDD = np.empty_like(Tau)
        bad = self.forward_dynamics(Q, QD, Tau, QDD)
        if bad == NO_BAD_SAMPLE:
            bad = self.inverse_dynamics_derivatives(Q, QD, QDD, D)
        if bad == NO_BAD_SAMPLE:
            memory = np.zeros(2 * self._nv, np.int64), np.empty((self._nv, 3 * self._nv))
            results = D.reshape(len(D), 3, self._nv, self._nv)
            bad = batch_kernels.forward_dynamics_derivatives(self._tree, *memory, results)
        return bad

    def _check(self, name: str, inputs: int, columns: int) -> None:
        """Check a method's kernel before its first use, for results of so many columns."""
        kernel = f'{name}_batch'
        if needs_check(kernel):
            workspace = _UncheckedWorkspace(body_records(two_joints())[BASE], two_joints())
            method = getattr(workspace, name)
            samples = np.full((inputs, 2, JOINTS), 0.5)
            result = np.empty((2, columns))
            check_compiled_code(kernel, lambda: method(*samples, result) == NO_BAD_SAMPLE, samples)


class _UncheckedWorkspace(BatchWorkspace):
    """The workspace that the check itself uses."""

    def _check(self, name: str, inputs: int, columns: int) -> None:
        pass


def _check_forward_dynamics_derivatives() -> None:
    """Check the kernel before its first use; it gets derivatives of the inverse dynamics."""
    kernel = 'forward_dynamics_derivatives_batch'
    if not needs_check(kernel):
        return
    memory = np.zeros(2 * JOINTS, np.int64), np.empty((JOINTS, 3 * JOINTS))
    by_state = np.full((2, 2, JOINTS, JOINTS), 0.5)
    M = np.tile(np.eye(JOINTS), (2, 1, 1, 1))

    def accepts() -> bool:
        given = np.concatenate([by_state, M], axis=1)  # the kernel overwrites it
        bad = batch_kernels.forward_dynamics_derivatives(two_joints(), *memory, given)
        return bad == NO_BAD_SAMPLE

    check_compiled_code(kernel, accepts, by_state)
