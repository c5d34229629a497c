# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The same quantities for many samples at once, on all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
import os

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import real_array
from ..dynamics import batch, with_unit_quaternions
from ..dynamics.kernels import BASE, PARAMETERS, RESISTANCE
from ..errors import InputError, SingularityError
from .analysis import Analysis
from .dynamics import relative_inertia
from .names import Array

BLOCK = 8192
"""Samples that a thread takes at once: what it needs beside the arrays given stays small."""


class Batch(Analysis):
    """
    Quantities of N samples, one a row; arrays in have shape (N, nq) or (N, nv).

    ``threads`` is how many cores may work; by default all that this process may use.
    """

    def inverse_dynamics_batch(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, threads: int | None = None
    ) -> Array:
        """
        Return the efforts that N motions need, shape (N, nv), as :meth:`inverse_dynamics`.

        :param q: joint positions, shape (N, nq)
        :param qd: joint velocities, shape (N, nv)
        :param qdd: joint accelerations, shape (N, nv)
        :param threads: how many cores may work
        """
        samples = {'q': q, 'qd': qd, 'qdd': qdd}
        return self._rows(
            samples, (self._nv,), threads, batch.BatchWorkspace.inverse_dynamics,
            self.inverse_dynamics,
        )

    def gravity_torques_batch(self, q: ArrayLike, *, threads: int | None = None) -> Array:
        """
        Return the gravity torques of N positions, shape (N, nv).

        :param q: joint positions, shape (N, nq)
        :param threads: how many cores may work
        """
        weight = -self._gravity[:, np.newaxis]

        def kernel(workspace: batch.BatchWorkspace, q: Array, tau: Array) -> int:
            workspace.bodies[BASE]['a'][3:] = weight  # a base at rest, whatever the model's does
            return workspace.gravity_torques(q, tau)

        return self._rows({'q': q}, (self._nv,), threads, kernel, self.gravity_torques)

    def mass_matrix_batch(self, q: ArrayLike, *, threads: int | None = None) -> Array:
        """
        Return the mass matrices of N positions, shape (N, nv, nv).

        :param q: joint positions, shape (N, nq)
        :param threads: how many cores may work
        """
        return self._rows(
            {'q': q}, (self._nv, self._nv), threads, batch.BatchWorkspace.mass_matrix,
            self.mass_matrix,
        )

    def forward_dynamics_batch(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *, threads: int | None = None
    ) -> Array:
        """
        Return the accelerations that N efforts bring about, shape (N, nv).

        :param q: joint positions, shape (N, nq)
        :param qd: joint velocities, shape (N, nv)
        :param tau: joint efforts, shape (N, nv)
        :param threads: how many cores may work
        :raises SingularityError: a joint has nothing to accelerate, with its name
        """
        kernel: Callable[..., int] = batch.BatchWorkspace.forward_dynamics
        if self._shared_coordinates:
            kernel = _by_mass_matrix
        samples = {'q': q, 'qd': qd, 'tau': tau}
        return self._rows(samples, (self._nv,), threads, kernel, self.forward_dynamics)

    def regressor_batch(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, threads: int | None = None
    ) -> Array:
        """
        Return the regressors of N motions, shape (N, nv, 10 * bodies), as :meth:`regressor`.

        :param q: joint positions, shape (N, nq)
        :param qd: joint velocities, shape (N, nv)
        :param qdd: joint accelerations, shape (N, nv)
        :param threads: how many cores may work
        """
        columns = len(PARAMETERS) * (len(self._tree.bodies) - 1)

        def kernel(
            workspace: batch.BatchWorkspace, q: Array, qd: Array, qdd: Array, Y: Array
        ) -> int:
            of_bodies = np.empty((len(q), self._nv * columns))
            bad = workspace.regressor(q, qd, qdd, of_bodies)
            shaped = of_bodies.reshape(len(q), self._nv, columns)
            with np.errstate(invalid='ignore'):  # what is not finite is dealt with by row
                Y[:] = self._in_link_parameters(shaped).reshape(Y.shape)
            return bad

        shape = (self._nv, len(PARAMETERS) * len(self.body_names))
        return self._rows({'q': q, 'qd': qd, 'qdd': qdd}, shape, threads, kernel, self.regressor)

    def _rows(
        self,
        samples: dict[str, ArrayLike],
        shape: tuple[int, ...],
        threads: int | None,
        kernel: Callable[..., int],
        of_one: Callable[..., Array],
    ) -> Array:
        """
        Return the result of every row, computed in blocks.

        :param samples: arrays by argument name, the first of them positions
        :param shape: of one result
        :param kernel: writes a block's results, one in a row of an array of two axes
        :param of_one: the result of one sample, for what the kernel leaves
        """
        arrays = {name: real_array(name, values) for name, values in samples.items()}
        for name, array in arrays.items():
            width = self._nq if name == 'q' else self._nv
            rows = len(arrays['q']) if arrays['q'].ndim else 0
            if array.shape != (rows, width):
                raise InputError(name, f'has shape {array.shape}, not ({rows}, {width})')
        count = len(arrays['q'])
        result = np.empty((count, *shape))
        flat = result.reshape(count, int(np.prod(shape)))
        threads = _usable_cores() if threads is None else threads
        if threads < 1:
            raise InputError('threads', f'is {threads}, not at least 1')

        def work(starts: Iterator[int]) -> None:
            base = self._memory.workspace.bodies[BASE]
            workspace = batch.BatchWorkspace(base, self._tree.bodies)
            for start in starts:
                where = slice(start, min(start + BLOCK, count))
                self._block(workspace, arrays, where, flat[where], kernel, of_one)

        starts = iter(range(0, count, BLOCK))  # one iterator, that the threads draw from
        # To start a thread takes as long as a block or two.
        workers = min(threads, count // (4 * BLOCK))
        if workers <= 1:
            work(starts)
            return result
        with ThreadPoolExecutor(workers) as pool:
            for finished in [pool.submit(work, starts) for _ in range(workers)]:
                finished.result()
        return result

    def _block(
        self,
        workspace: batch.BatchWorkspace,
        arrays: dict[str, Array],
        where: slice,
        results: Array,
        kernel: Callable[..., int],
        of_one: Callable[..., Array],
    ) -> None:
        block = [
            np.ascontiguousarray(array[where], dtype=np.float64) for array in arrays.values()
        ]
        if self._quaternions:
            block[0] = np.array([
                with_unit_quaternions(f'q[{where.start + i}]', row.copy(), self._quaternions)
                for i, row in enumerate(block[0])
            ])
        bad = kernel(workspace, *block, results)
        if bad == batch.ALL_RIGHT:
            return
        # Angles beyond the lanes' sine go one by one, and so does what has an error to name.
        for i in range(max(bad, 0), len(results)):
            try:
                results[i] = of_one(*(array[i] for array in block)).reshape(-1)
            except InputError as error:
                name = f'{error.argument}[{where.start + i}]'
                raise InputError(name, error.reason) from None
            except SingularityError as error:
                reason = f'{error.reason} in sample {where.start + i}'
                raise SingularityError(error.element, reason) from None


def _by_mass_matrix(
    workspace: batch.BatchWorkspace, q: Array, qd: Array, tau: Array, qdd: Array
) -> int:
    """Compute forward dynamics where mimic joints close loops: M qdd = tau - C qd - g."""
    bias = np.empty_like(tau)
    M = np.empty((len(q), tau.shape[1] ** 2))
    for bad in (
        workspace.inverse_dynamics(q, qd, np.zeros_like(qd), bias),
        workspace.mass_matrix(q, M),
    ):
        if bad != batch.ALL_RIGHT:
            return bad
    matrices = M.reshape(len(q), tau.shape[1], tau.shape[1])
    inertias = np.linalg.eigvalsh(relative_inertia(matrices))
    resisted = (inertias > RESISTANCE).all(axis=1)
    if not resisted.all():
        return int(np.argmin(resisted))
    qdd[:] = np.linalg.solve(matrices, (tau - bias)[..., np.newaxis])[..., 0]
    finite = np.isfinite(qdd).all(axis=1)
    return batch.ALL_RIGHT if finite.all() else int(np.argmin(finite))


def _usable_cores() -> int:
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
