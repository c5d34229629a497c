# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Computations for N samples at once, on several cores.

Arrays have one sample in each row. The argument ``threads`` is the number of cores to use; by
default all cores of the process. A kernel computes blocks of samples. From a row on that it
cannot compute, an angle too large for SIMD or an error, the rest of the block is computed one by
one by the method for one sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, real_array, whole_number
from ..dynamics import (
    NO_BAD_SAMPLE,
    QUANTITIES,
    BatchWorkspace,
    Derivatives,
    SpecialisedKernels,
    can_specialise,
    with_unit_quaternions,
)
from ..dynamics.kernels import BASE, MIN_INERTIA_RATIO
from ..errors import InputError, SingularityError
from .derivatives import (
    by_mass_matrix,
    effort_derivatives,
    forward_dynamics_derivatives,
    inverse_dynamics_derivatives,
)
from .equation_of_motion import (
    forward_dynamics,
    gravity_torques,
    inverse_dynamics,
    mass_matrix,
    relative_inertia,
)
from .inertial_parameters import of_links, regressor_of_bodies
from .kinematics import body_poses
from .model_data import ModelData, checked_positions
from .wrench import ROWS, ExternalWrenches, external_efforts_batch, loads, vectors_of_rows

BLOCK = 8192  # samples that a thread computes at a time; its memory is proportional to it

BlockKernel = Callable[..., int]
"""Writes results for a block: workspace, samples, results; returns as a batch kernel."""


def inverse_dynamics_batch(
    model: ModelData, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *,
    external_wrenches: ExternalWrenches | None = None, threads: int | None = None,
    specialised: bool = False,
) -> Array:
    """
    Return the efforts that N motions need, shape (N, nv), as :meth:`inverse_dynamics`.

    :param specialised: use a kernel that is compiled for this model, as :meth:`specialise`
    """
    samples = _checked_samples(model, q=q, qd=qd, qdd=qdd)
    kernel = _specialised(model) if specialised else None
    tau = _computed(model, 'inverse_dynamics', inverse_dynamics, samples, threads, kernel)
    if external_wrenches is not None:
        tau -= _external_efforts(model, samples, external_wrenches)
        _check_finite(tau)
    return tau


@lru_cache(maxsize=8)
def _specialised(model: ModelData) -> BlockKernel | None:
    """Return the kernel of the inverse dynamics of one model."""
    if not can_specialise(model.tree.bodies):
        return None
    kernel = SpecialisedKernels(model.thread.workspace.bodies, {}).inverse_dynamics_batch()
    return lambda workspace, samples, results: kernel(*samples, results)


def gravity_torques_batch(model: ModelData, q: ArrayLike, *, threads: int | None = None) -> Array:
    """Return the gravity torques of N positions, shape (N, nv), as :meth:`gravity_torques`."""
    weight = -model.gravity[:, np.newaxis]

    def kernel(workspace: BatchWorkspace, samples: list[Array], tau: Array) -> int:
        workspace.bodies[BASE]['a'][3:] = weight  # a base at rest, even if the model's base moves
        return workspace.compute('gravity_torques', samples, tau)

    samples = _checked_samples(model, q=q)
    return _computed(model, 'gravity_torques', gravity_torques, samples, threads, kernel)


def mass_matrix_batch(model: ModelData, q: ArrayLike, *, threads: int | None = None) -> Array:
    """Return the mass matrices of N positions, shape (N, nv, nv)."""
    samples = _checked_samples(model, q=q)
    return _computed(model, 'mass_matrix', mass_matrix, samples, threads)


def forward_dynamics_batch(
    model: ModelData, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *,
    external_wrenches: ExternalWrenches | None = None, threads: int | None = None,
) -> Array:
    """
    Return the accelerations that N sets of efforts cause, shape (N, nv).

    :raises SingularityError: a joint without inertia to accelerate, with its name
    """
    kernel = _forward_by_mass_matrix if model.shared_coordinates else None
    samples = _samples_with_wrenches(model, q, qd, tau, external_wrenches)
    return _computed(model, 'forward_dynamics', forward_dynamics, samples, threads, kernel)


def regressor_batch(
    model: ModelData, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, threads: int | None = None
) -> Array:
    """Return the regressors of N motions, shape (N, nv, 10 * bodies), as :meth:`regressor`."""
    samples = _checked_samples(model, q=q, qd=qd, qdd=qdd)
    Y = _computed(model, 'regressor', regressor_of_bodies, samples, threads)
    return np.ascontiguousarray(of_links(model, Y))


def inverse_dynamics_derivatives_batch(
    model: ModelData, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *,
    external_wrenches: ExternalWrenches | None = None, threads: int | None = None,
) -> Derivatives:
    """Return N :meth:`inverse_dynamics_derivatives`, by q, qd and qdd, (N, nv, nv) each."""
    samples = _checked_samples(model, q=q, qd=qd, qdd=qdd)
    name = 'inverse_dynamics_derivatives'
    result = _computed(model, name, inverse_dynamics_derivatives, samples, threads)
    if external_wrenches is not None:
        result[:, 0] -= _by_q(model, samples['q'], external_wrenches)
        _check_finite(result)
    return result[:, 0], result[:, 1], result[:, 2]


def forward_dynamics_derivatives_batch(
    model: ModelData, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *,
    external_wrenches: ExternalWrenches | None = None, threads: int | None = None,
) -> Derivatives:
    """
    Return N :meth:`forward_dynamics_derivatives`, by q, qd and tau, (N, nv, nv) each.

    :raises SingularityError: a joint without inertia to accelerate, with its name
    """

    def kernel(workspace: BatchWorkspace, samples: list[Array], results: Array) -> int:
        if model.shared_coordinates:
            return _forward_derivatives_by_mass_matrix(workspace, samples, results)
        return workspace.forward_dynamics_derivatives(samples, results)

    samples = _samples_with_wrenches(model, q, qd, tau, external_wrenches)
    name = 'inverse_dynamics_derivatives'  # of the same shape
    result = _computed(model, name, forward_dynamics_derivatives, samples, threads, kernel)
    if external_wrenches is not None:
        result[:, 0] += result[:, 2] @ _by_q(model, samples['q'], external_wrenches)
        _check_finite(result)
    return result[:, 0], result[:, 1], result[:, 2]


def _checked_samples(model: ModelData, **given: ArrayLike) -> dict[str, Array]:
    """Return arrays by argument name, the positions first, after a check of their shapes."""
    arrays = {name: real_array(name, values) for name, values in given.items()}
    for name, array in arrays.items():
        width = model.nq if name == 'q' else model.nv
        rows = len(arrays['q']) if arrays['q'].ndim else 0
        if array.shape != (rows, width):
            raise InputError(name, f'has shape {array.shape}, not ({rows}, {width})')
    return arrays


def _samples_with_wrenches(
    model: ModelData, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
    wrenches: ExternalWrenches | None,
) -> dict[str, Array]:
    """Return states, checked, and tau + J^T f_ext = M qdd + C qd + g."""
    samples = _checked_samples(model, q=q, qd=qd, tau=tau)
    if wrenches is not None:
        samples['tau'] = samples['tau'] + _external_efforts(model, samples, wrenches)
    return samples


def _computed(
    model: ModelData, name: str, of_one: Callable[..., Any], samples: dict[str, Array],
    threads: int | None, kernel: BlockKernel | None = None,
) -> Array:
    """Return a quantity of all samples, by default by its kernel of a :class:`BatchWorkspace`."""
    count = len(samples['q'])
    result = np.empty((count, *QUANTITIES[name].shape(model.nv, len(model.tree.bodies) - 1)))
    flat = result.reshape(count, int(np.prod(result.shape[1:])))
    threads = _usable_cores() if threads is None else whole_number('threads', threads, 1)

    def work(starts: Iterator[int]) -> None:
        workspace = BatchWorkspace(model.thread.workspace.bodies[BASE], model.tree.bodies)
        compute = partial(kernel, workspace) if kernel else partial(workspace.compute, name)
        for start in starts:
            block, results = _block(model, samples, start), flat[start : start + BLOCK]
            bad = compute(block, results)
            if bad != NO_BAD_SAMPLE:
                _compute_one_by_one(partial(of_one, model), block, results, max(bad, 0), start)

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


def _usable_cores() -> int:
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _block(model: ModelData, samples: dict[str, Array], start: int) -> list[Array]:
    """Return the samples of one block, with quaternions checked."""
    block = [
        # Writable: kernels would be compiled anew for read-only arrays.
        np.require(array[start : start + BLOCK], np.float64, ('C', 'W'))
        for array in samples.values()
    ]
    if model.quaternions:
        block[0] = np.array([
            with_unit_quaternions(f'q[{start + i}]', row.copy(), model.quaternions)
            for i, row in enumerate(block[0])
        ])
    return block


def _compute_one_by_one(
    of_one: Callable[..., Any], block: list[Array], results: Array, first: int, start: int
) -> None:
    for i in range(first, len(results)):
        try:
            results[i] = np.ravel(of_one(*(array[i] for array in block)))
        except InputError as error:
            raise InputError(f'{error.argument}[{start + i}]', error.reason) from None
        except SingularityError as error:
            reason = f'{error.reason} in sample {start + i}'
            raise SingularityError(error.element, reason) from None


def _external_efforts(
    model: ModelData, samples: dict[str, Array], wrenches: ExternalWrenches
) -> Array:
    """Return J^T f_ext of all samples, shape (N, nv), checked."""
    with np.errstate(over='ignore', invalid='ignore'):
        efforts = external_efforts_batch(model, checked_positions(model, samples['q']), wrenches)
    _check_finite(efforts)
    return efforts


def _by_q(model: ModelData, q: Array, wrenches: ExternalWrenches) -> Array:
    """Return the derivatives of J^T f_ext by q at N positions, shape (N, nv, nv), checked."""
    q = checked_positions(model, q)
    result = np.empty((len(q), *model.matrix_shape))
    for start in range(0, max(len(q), 1), ROWS):
        rows = slice(start, start + ROWS)
        vectors = partial(vectors_of_rows, count=len(q), rows=rows)
        R, p = body_poses(model, q[rows])
        with np.errstate(over='ignore', invalid='ignore'):
            result[rows] = effort_derivatives(model, R, p, loads(model, wrenches, R, p, vectors))
    _check_finite(result)
    return result


def _check_finite(results: Array) -> None:
    """Raise the error of the first sample whose result is not finite."""
    finite = np.isfinite(results).all(axis=tuple(range(1, results.ndim)))
    if not finite.all():
        reason = 'or a wrench is so large that the result is not finite'
        raise InputError(f'motion[{int(np.argmin(finite))}]', reason)


def _forward_by_mass_matrix(
    workspace: BatchWorkspace, samples: list[Array], qdd: Array
) -> int:
    """Compute forward dynamics of trees with mimic joints: M qdd = tau - C qd - g."""
    q, qd, tau = samples
    bias = np.empty_like(tau)
    M = np.empty((len(q), tau.shape[1] ** 2))
    for bad in (
        workspace.compute('inverse_dynamics', (q, qd, np.zeros_like(qd)), bias),
        workspace.compute('mass_matrix', (q,), M),
    ):
        if bad != NO_BAD_SAMPLE:
            return bad
    matrices = M.reshape(len(q), tau.shape[1], tau.shape[1])
    inertias = np.linalg.eigvalsh(relative_inertia(matrices))
    movable = (inertias > MIN_INERTIA_RATIO).all(axis=1)
    if not movable.all():
        return int(np.argmin(movable))
    qdd[:] = np.linalg.solve(matrices, (tau - bias)[..., np.newaxis])[..., 0]
    finite = np.isfinite(qdd).all(axis=1)
    return NO_BAD_SAMPLE if finite.all() else int(np.argmin(finite))


def _forward_derivatives_by_mass_matrix(
    workspace: BatchWorkspace, samples: list[Array], results: Array
) -> int:
    """Compute derivatives of the forward dynamics of trees with mimic joints."""
    q, qd, tau = samples
    qdd = np.empty_like(tau)
    bad = _forward_by_mass_matrix(workspace, samples, qdd)
    if bad == NO_BAD_SAMPLE:
        bad = workspace.compute('inverse_dynamics_derivatives', (q, qd, qdd), results)
    if bad == NO_BAD_SAMPLE:
        nv = tau.shape[1]
        shaped = results.reshape(len(q), 3, nv, nv)
        shaped[:] = by_mass_matrix(shaped)
    return bad
