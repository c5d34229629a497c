# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The methods for N samples."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array
from ...dynamics import (
    BatchWorkspace,
    Derivatives,
    SpecialisedKernels,
    batch_kernels,
    can_specialise,
)
from ...dynamics.kernels import BASE, MIN_INERTIA_RATIO, PARAMETERS
from ...errors import InputError
from ..derivatives import (
    by_mass_matrix,
    effort_derivatives,
    forward_dynamics_derivatives,
    inverse_dynamics_derivatives,
)
from ..equation_of_motion import (
    forward_dynamics,
    gravity_torques,
    inverse_dynamics,
    mass_matrix,
    relative_inertia,
)
from ..kinematics import body_poses
from ..model_data import ModelData, checked_positions
from ..regressors import of_links, regressor
from ..wrench import ROWS, ExternalWrenches, external_efforts_batch, loads, vectors_of_rows
from .rows import checked_samples, computed_rows


def inverse_dynamics_batch(
    model: ModelData, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *,
    external_wrenches: ExternalWrenches | None = None, threads: int | None = None,
    specialised: bool = False,
) -> Array:
    """
    Return the efforts that N motions need, shape (N, nv), as :meth:`inverse_dynamics`.

    :param specialised: use a kernel that is compiled for this model, as :meth:`specialise`
    """
    samples = checked_samples(model, {'q': q, 'qd': qd, 'qdd': qdd})
    kernel: Callable[..., int] = BatchWorkspace.inverse_dynamics
    if specialised:
        kernel = _specialised(model)
    tau = computed_rows(model, samples, (model.nv,), threads, kernel, inverse_dynamics)
    if external_wrenches is not None:
        tau -= external_efforts(model, samples, external_wrenches)
        check_finite(tau)
    return tau


@lru_cache(maxsize=8)
def _specialised(model: ModelData) -> Callable[..., int]:
    """Return the kernel of the inverse dynamics of one model."""
    if not can_specialise(model.tree.bodies):
        return BatchWorkspace.inverse_dynamics
    kernel = SpecialisedKernels(model.thread.workspace.bodies, {}).inverse_dynamics_batch()
    return lambda workspace, *rows: kernel(*rows)


def gravity_torques_batch(model: ModelData, q: ArrayLike, *, threads: int | None = None) -> Array:
    """Return the gravity torques of N positions, shape (N, nv), as :meth:`gravity_torques`."""
    weight = -model.gravity[:, np.newaxis]

    def kernel(workspace: BatchWorkspace, q: Array, tau: Array) -> int:
        workspace.bodies[BASE]['a'][3:] = weight  # a base at rest, even if the model's base moves
        return workspace.gravity_torques(q, tau)

    samples = checked_samples(model, {'q': q})
    return computed_rows(model, samples, (model.nv,), threads, kernel, gravity_torques)


def mass_matrix_batch(model: ModelData, q: ArrayLike, *, threads: int | None = None) -> Array:
    """Return the mass matrices of N positions, shape (N, nv, nv)."""
    kernel = BatchWorkspace.mass_matrix
    samples = checked_samples(model, {'q': q})
    return computed_rows(model, samples, model.matrix_shape, threads, kernel, mass_matrix)


def forward_dynamics_batch(
    model: ModelData, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *,
    external_wrenches: ExternalWrenches | None = None, threads: int | None = None,
) -> Array:
    """
    Return the accelerations that N sets of efforts cause, shape (N, nv).

    :raises SingularityError: a joint without inertia to accelerate, with its name
    """
    kernel: Callable[..., int] = BatchWorkspace.forward_dynamics
    if model.shared_coordinates:
        kernel = forward_dynamics_by_mass_matrix
    samples = _samples_with_wrenches(model, q, qd, tau, external_wrenches)
    return computed_rows(model, samples, (model.nv,), threads, kernel, forward_dynamics)


def regressor_batch(
    model: ModelData, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, threads: int | None = None
) -> Array:
    """Return the regressors of N motions, shape (N, nv, 10 * bodies), as :meth:`regressor`."""
    bodies = len(model.tree.bodies) - 1

    def kernel(workspace: BatchWorkspace, q: Array, qd: Array, qdd: Array, Y: Array) -> int:
        of_bodies = np.empty((len(q), model.nv * bodies * len(PARAMETERS)))
        bad = workspace.regressor(q, qd, qdd, of_bodies)
        shaped = of_bodies.reshape(len(q), model.nv, bodies, len(PARAMETERS))
        Y[:] = of_links(model, shaped).reshape(Y.shape)
        return bad

    shape = (model.nv, len(PARAMETERS) * len(model.body_names))
    samples = checked_samples(model, {'q': q, 'qd': qd, 'qdd': qdd})
    return computed_rows(model, samples, shape, threads, kernel, regressor)


def inverse_dynamics_derivatives_batch(
    model: ModelData, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *,
    external_wrenches: ExternalWrenches | None = None, threads: int | None = None,
) -> Derivatives:
    """Return N :meth:`inverse_dynamics_derivatives`, by q, qd and qdd, (N, nv, nv) each."""
    samples = checked_samples(model, {'q': q, 'qd': qd, 'qdd': qdd})
    kernel = BatchWorkspace.inverse_dynamics_derivatives
    result = _rows(model, samples, threads, kernel, inverse_dynamics_derivatives)
    if external_wrenches is not None:
        result[:, 0] -= _by_q(model, samples['q'], external_wrenches)
        check_finite(result.reshape(len(result), -1))
    return result[:, 0], result[:, 1], result[:, 2]


def forward_dynamics_derivatives_batch(
    model: ModelData, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *,
    external_wrenches: ExternalWrenches | None = None, threads: int | None = None,
) -> Derivatives:
    """
    Return N :meth:`forward_dynamics_derivatives`, by q, qd and tau, (N, nv, nv) each.

    :raises SingularityError: a joint without inertia to accelerate, with its name
    """
    kernel: Callable[..., int] = BatchWorkspace.forward_dynamics_derivatives
    if model.shared_coordinates:
        kernel = _forward_by_mass_matrix
    samples = _samples_with_wrenches(model, q, qd, tau, external_wrenches)
    result = _rows(model, samples, threads, kernel, forward_dynamics_derivatives)
    if external_wrenches is not None:
        result[:, 0] += result[:, 2] @ _by_q(model, samples['q'], external_wrenches)
        check_finite(result.reshape(len(result), -1))
    return result[:, 0], result[:, 1], result[:, 2]


def external_efforts(
    model: ModelData, samples: dict[str, Array], wrenches: ExternalWrenches
) -> Array:
    """Return J^T f_ext of all samples, shape (N, nv), checked."""
    with np.errstate(over='ignore', invalid='ignore'):
        efforts = external_efforts_batch(model, checked_positions(model, samples['q']), wrenches)
    check_finite(efforts)
    return efforts


def _samples_with_wrenches(
    model: ModelData, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
    wrenches: ExternalWrenches | None,
) -> dict[str, Array]:
    """Return states, checked, and tau + J^T f_ext = M qdd + C qd + g."""
    samples = checked_samples(model, {'q': q, 'qd': qd, 'tau': tau})
    if wrenches is not None:
        samples['tau'] = samples['tau'] + external_efforts(model, samples, wrenches)
    return samples


def check_finite(results: Array) -> None:
    """Raise the error of the first sample whose result is not finite."""
    finite = np.isfinite(results).all(axis=1)
    if not finite.all():
        reason = 'or a wrench is so large that the result is not finite'
        raise InputError(f'motion[{int(np.argmin(finite))}]', reason)


def forward_dynamics_by_mass_matrix(
    workspace: BatchWorkspace, q: Array, qd: Array, tau: Array, qdd: Array
) -> int:
    """Compute forward dynamics of trees with mimic joints: M qdd = tau - C qd - g."""
    bias = np.empty_like(tau)
    M = np.empty((len(q), tau.shape[1] ** 2))
    for bad in (
        workspace.inverse_dynamics(q, qd, np.zeros_like(qd), bias),
        workspace.mass_matrix(q, M),
    ):
        if bad != batch_kernels.NO_BAD_SAMPLE:
            return bad
    matrices = M.reshape(len(q), tau.shape[1], tau.shape[1])
    inertias = np.linalg.eigvalsh(relative_inertia(matrices))
    movable = (inertias > MIN_INERTIA_RATIO).all(axis=1)
    if not movable.all():
        return int(np.argmin(movable))
    qdd[:] = np.linalg.solve(matrices, (tau - bias)[..., np.newaxis])[..., 0]
    finite = np.isfinite(qdd).all(axis=1)
    return batch_kernels.NO_BAD_SAMPLE if finite.all() else int(np.argmin(finite))


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
    check_finite(result.reshape(len(q), model.nv**2))
    return result


def _rows(
    model: ModelData, samples: dict[str, Array], threads: int | None, kernel: Callable[..., int],
    one_row: Callable[..., Derivatives],
) -> Array:
    """Return the derivatives of all samples, shape (N, 3, nv, nv)."""

    def stacked(*arguments: Any) -> Array:
        return np.array(one_row(*arguments))

    return computed_rows(model, samples, (3, *model.matrix_shape), threads, kernel, stacked)


def _forward_by_mass_matrix(
    workspace: BatchWorkspace, q: Array, qd: Array, tau: Array, results: Array
) -> int:
    """Compute derivatives of the forward dynamics of trees with mimic joints."""
    qdd = np.empty_like(tau)
    bad = forward_dynamics_by_mass_matrix(workspace, q, qd, tau, qdd)
    if bad == batch_kernels.NO_BAD_SAMPLE:
        bad = workspace.inverse_dynamics_derivatives(q, qd, qdd, results)
    if bad == batch_kernels.NO_BAD_SAMPLE:
        nv = tau.shape[1]
        shaped = results.reshape(len(q), 3, nv, nv)
        shaped[:] = by_mass_matrix(shaped)
    return bad
