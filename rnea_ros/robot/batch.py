# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Computations for N samples at once, on several cores.

Arrays have one sample in each row. The argument ``threads`` is the number of cores to use; by
default all cores of the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
import os

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, real_array, whole_number
from ..dynamics import batch, with_unit_quaternions
from ..dynamics.kernels import BASE, LEAST_INERTIA_RATIO, PARAMETERS
from ..errors import InputError, SingularityError
from .accelerations import forward_dynamics, relative_inertia
from .forces import gravity_torques, inverse_dynamics, mass_matrix
from .model_data import ModelData
from .regressors import in_link_parameters, regressor
from .wrench import ExternalWrenches, external_efforts_batch

BLOCK = 8192
"""Samples that a thread computes at a time; its memory is proportional to this number."""


def inverse_dynamics_batch(
    model: ModelData,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    external_wrenches: ExternalWrenches | None = None,
    threads: int | None = None,
) -> Array:
    """
    Return the efforts that N motions need, shape (N, nv), as :meth:`inverse_dynamics`.

    :param q: joint positions, shape (N, nq)
    :param qd: joint velocities, shape (N, nv)
    :param qdd: joint accelerations, shape (N, nv)
    :param external_wrenches: wrenches that the environment exerts on the robot, by link; their
        arrays have shape (3,), or (N, 3) with one row for each sample
    :param threads: number of cores to use; all by default
    """
    samples = _samples(model, {'q': q, 'qd': qd, 'qdd': qdd})
    kernel = batch.BatchWorkspace.inverse_dynamics
    tau = _rows(model, samples, (model._nv,), threads, kernel, inverse_dynamics)
    if external_wrenches is not None:
        tau -= _external_efforts(model, samples, external_wrenches)
        _check_finite(tau)
    return tau


def gravity_torques_batch(
    model: ModelData, q: ArrayLike, *, threads: int | None = None
) -> Array:
    """
    Return the gravity torques of N positions, shape (N, nv).

    :param q: joint positions, shape (N, nq)
    :param threads: number of cores to use; all by default
    """
    weight = -model._gravity[:, np.newaxis]

    def kernel(workspace: batch.BatchWorkspace, q: Array, tau: Array) -> int:
        workspace.bodies[BASE]['a'][3:] = weight  # a base at rest, even if the model's base moves
        return workspace.gravity_torques(q, tau)

    samples = _samples(model, {'q': q})
    return _rows(model, samples, (model._nv,), threads, kernel, gravity_torques)


def mass_matrix_batch(model: ModelData, q: ArrayLike, *, threads: int | None = None) -> Array:
    """
    Return the mass matrices of N positions, shape (N, nv, nv).

    :param q: joint positions, shape (N, nq)
    :param threads: number of cores to use; all by default
    """
    kernel = batch.BatchWorkspace.mass_matrix
    samples = _samples(model, {'q': q})
    return _rows(model, samples, model._matrix_shape, threads, kernel, mass_matrix)


def forward_dynamics_batch(
    model: ModelData,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    *,
    external_wrenches: ExternalWrenches | None = None,
    threads: int | None = None,
) -> Array:
    """
    Return the accelerations that N sets of efforts cause, shape (N, nv).

    :param q: joint positions, shape (N, nq)
    :param qd: joint velocities, shape (N, nv)
    :param tau: joint efforts, shape (N, nv)
    :param external_wrenches: wrenches that the environment exerts on the robot, by link; their
        arrays have shape (3,), or (N, 3) with one row for each sample
    :param threads: number of cores to use; all by default
    :raises SingularityError: a joint without inertia to accelerate, with its name
    """
    kernel: Callable[..., int] = batch.BatchWorkspace.forward_dynamics
    if model._shared_coordinates:
        kernel = _by_mass_matrix
    samples = _samples(model, {'q': q, 'qd': qd, 'tau': tau})
    if external_wrenches is not None:
        # M qdd + C qd + g = tau + J^T f_ext
        total = samples['tau'] + _external_efforts(model, samples, external_wrenches)
        samples = {**samples, 'tau': total}
    return _rows(model, samples, (model._nv,), threads, kernel, forward_dynamics)


def regressor_batch(
    model: ModelData, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, threads: int | None = None
) -> Array:
    """
    Return the regressors of N motions, shape (N, nv, 10 * bodies), as :meth:`regressor`.

    :param q: joint positions, shape (N, nq)
    :param qd: joint velocities, shape (N, nv)
    :param qdd: joint accelerations, shape (N, nv)
    :param threads: number of cores to use; all by default
    """
    columns = len(PARAMETERS) * (len(model._tree.bodies) - 1)

    def kernel(
        workspace: batch.BatchWorkspace, q: Array, qd: Array, qdd: Array, Y: Array
    ) -> int:
        of_bodies = np.empty((len(q), model._nv * columns))
        bad = workspace.regressor(q, qd, qdd, of_bodies)
        shaped = of_bodies.reshape(len(q), model._nv, columns)
        with np.errstate(invalid='ignore'):  # rows that are not finite are computed again below
            Y[:] = in_link_parameters(model, shaped).reshape(Y.shape)
        return bad

    shape = (model._nv, len(PARAMETERS) * len(model.body_names))
    samples = _samples(model, {'q': q, 'qd': qd, 'qdd': qdd})
    return _rows(model, samples, shape, threads, kernel, regressor)


def _samples(model: ModelData, given: dict[str, ArrayLike]) -> dict[str, Array]:
    """Return arrays by argument name, the positions first, after a check of their shapes."""
    arrays = {name: real_array(name, values) for name, values in given.items()}
    for name, array in arrays.items():
        width = model._nq if name == 'q' else model._nv
        rows = len(arrays['q']) if arrays['q'].ndim else 0
        if array.shape != (rows, width):
            raise InputError(name, f'has shape {array.shape}, not ({rows}, {width})')
    return arrays


def _external_efforts(
    model: ModelData, samples: dict[str, Array], wrenches: ExternalWrenches
) -> Array:
    """Return J^T f_ext of all samples, shape (N, nv), checked."""
    with np.errstate(over='ignore', invalid='ignore'):
        efforts = external_efforts_batch(model, model._checked_positions(samples['q']), wrenches)
    _check_finite(efforts)
    return efforts


def _check_finite(results: Array) -> None:
    """Raise the error of the first sample whose result is not finite."""
    finite = np.isfinite(results).all(axis=1)
    if not finite.all():
        reason = 'or a wrench is so large that the result is not finite'
        raise InputError(f'motion[{int(np.argmin(finite))}]', reason)


def _rows(
    model: ModelData,
    arrays: dict[str, Array],
    shape: tuple[int, ...],
    threads: int | None,
    kernel: Callable[..., int],
    of_one: Callable[..., Array],
) -> Array:
    """
    Return the results of all rows, computed in blocks.

    :param model: the robot
    :param arrays: samples by argument name, the positions first
    :param shape: shape of one result
    :param threads: number of cores to use; None for all
    :param kernel: function that writes the results of a block, one in each row of a 2-D array
    :param of_one: function for one sample, for the rows that the kernel cannot compute
    """
    count = len(arrays['q'])
    result = np.empty((count, *shape))
    flat = result.reshape(count, int(np.prod(shape)))
    threads = _usable_cores() if threads is None else whole_number('threads', threads, 1)

    def compute_block(workspace: batch.BatchWorkspace, start: int) -> None:
        block = _block(model, arrays, start)
        results = flat[start : start + BLOCK]
        bad = kernel(workspace, *block, results)
        if bad != batch.NO_BAD_SAMPLE:
            _compute_one_by_one(partial(of_one, model), block, results, max(bad, 0), start)

    def work(starts: Iterator[int]) -> None:
        base = model._thread_memory.workspace.bodies[BASE]
        workspace = batch.BatchWorkspace(base, model._tree.bodies)
        for start in starts:
            compute_block(workspace, start)

    starts = iter(range(0, count, BLOCK))  # one iterator for all threads
    # Starting a thread takes as long as one or two blocks.
    workers = min(threads, count // (4 * BLOCK))
    if workers <= 1:
        work(starts)
        return result
    with ThreadPoolExecutor(workers) as pool:
        for finished in [pool.submit(work, starts) for _ in range(workers)]:
            finished.result()
    return result


def _block(model: ModelData, arrays: dict[str, Array], start: int) -> list[Array]:
    """Return the samples of one block, with quaternions checked."""
    block = [
        np.ascontiguousarray(array[start : start + BLOCK], dtype=np.float64)
        for array in arrays.values()
    ]
    if model._quaternions:
        block[0] = np.array([
            with_unit_quaternions(f'q[{start + i}]', row.copy(), model._quaternions)
            for i, row in enumerate(block[0])
        ])
    return block


def _compute_one_by_one(
    of_one: Callable[..., Array], block: list[Array], results: Array, first: int, start: int
) -> None:
    """
    Compute the samples of a block from one on: angles too large for SIMD, and those in error.

    :param of_one: function for one sample
    :param block: the block's samples
    :param results: the block's results, written from row ``first`` on
    :param first: row of the block
    :param start: number of the block's first sample, for errors
    """
    for i in range(first, len(results)):
        try:
            results[i] = of_one(*(array[i] for array in block)).reshape(-1)
        except InputError as error:
            raise InputError(f'{error.argument}[{start + i}]', error.reason) from None
        except SingularityError as error:
            reason = f'{error.reason} in sample {start + i}'
            raise SingularityError(error.element, reason) from None


def _by_mass_matrix(
    workspace: batch.BatchWorkspace, q: Array, qd: Array, tau: Array, qdd: Array
) -> int:
    """Compute forward dynamics of trees with mimic joints: M qdd = tau - C qd - g."""
    bias = np.empty_like(tau)
    M = np.empty((len(q), tau.shape[1] ** 2))
    for bad in (
        workspace.inverse_dynamics(q, qd, np.zeros_like(qd), bias),
        workspace.mass_matrix(q, M),
    ):
        if bad != batch.NO_BAD_SAMPLE:
            return bad
    matrices = M.reshape(len(q), tau.shape[1], tau.shape[1])
    inertias = np.linalg.eigvalsh(relative_inertia(matrices))
    movable = (inertias > LEAST_INERTIA_RATIO).all(axis=1)
    if not movable.all():
        return int(np.argmin(movable))
    qdd[:] = np.linalg.solve(matrices, (tau - bias)[..., np.newaxis])[..., 0]
    finite = np.isfinite(qdd).all(axis=1)
    return batch.NO_BAD_SAMPLE if finite.all() else int(np.argmin(finite))


def _usable_cores() -> int:
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
