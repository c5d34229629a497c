# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The methods for N samples."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array
from ...dynamics import batch, batch_kernels
from ...dynamics.kernels import BASE, MIN_INERTIA_RATIO, PARAMETERS
from ...errors import InputError
from ..accelerations import forward_dynamics, relative_inertia
from ..forces import gravity_torques, inverse_dynamics, mass_matrix
from ..model_data import ModelData
from ..regressors import of_links, regressor
from ..wrench import ExternalWrenches, external_efforts_batch
from .rows import checked_samples, computed_rows


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
    samples = checked_samples(model, {'q': q, 'qd': qd, 'qdd': qdd})
    kernel = batch.BatchWorkspace.inverse_dynamics
    tau = computed_rows(model, samples, (model.nv,), threads, kernel, inverse_dynamics)
    if external_wrenches is not None:
        tau -= external_efforts(model, samples, external_wrenches)
        check_finite(tau)
    return tau


def gravity_torques_batch(
    model: ModelData, q: ArrayLike, *, threads: int | None = None
) -> Array:
    """
    Return the gravity torques of N positions, shape (N, nv).

    :param q: joint positions, shape (N, nq)
    :param threads: number of cores to use; all by default
    """
    weight = -model.gravity[:, np.newaxis]

    def kernel(workspace: batch.BatchWorkspace, q: Array, tau: Array) -> int:
        workspace.bodies[BASE]['a'][3:] = weight  # a base at rest, even if the model's base moves
        return workspace.gravity_torques(q, tau)

    samples = checked_samples(model, {'q': q})
    return computed_rows(model, samples, (model.nv,), threads, kernel, gravity_torques)


def mass_matrix_batch(model: ModelData, q: ArrayLike, *, threads: int | None = None) -> Array:
    """
    Return the mass matrices of N positions, shape (N, nv, nv).

    :param q: joint positions, shape (N, nq)
    :param threads: number of cores to use; all by default
    """
    kernel = batch.BatchWorkspace.mass_matrix
    samples = checked_samples(model, {'q': q})
    return computed_rows(model, samples, model.matrix_shape, threads, kernel, mass_matrix)


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
    if model.shared_coordinates:
        kernel = forward_dynamics_by_mass_matrix
    samples = checked_samples(model, {'q': q, 'qd': qd, 'tau': tau})
    if external_wrenches is not None:
        # M qdd + C qd + g = tau + J^T f_ext
        total = samples['tau'] + external_efforts(model, samples, external_wrenches)
        samples = {**samples, 'tau': total}
    return computed_rows(model, samples, (model.nv,), threads, kernel, forward_dynamics)


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
    bodies = len(model.tree.bodies) - 1

    def kernel(
        workspace: batch.BatchWorkspace, q: Array, qd: Array, qdd: Array, Y: Array
    ) -> int:
        of_bodies = np.empty((len(q), model.nv * bodies * len(PARAMETERS)))
        bad = workspace.regressor(q, qd, qdd, of_bodies)
        shaped = of_bodies.reshape(len(q), model.nv, bodies, len(PARAMETERS))
        Y[:] = of_links(model, shaped).reshape(Y.shape)
        return bad

    shape = (model.nv, len(PARAMETERS) * len(model.body_names))
    samples = checked_samples(model, {'q': q, 'qd': qd, 'qdd': qdd})
    return computed_rows(model, samples, shape, threads, kernel, regressor)


def external_efforts(
    model: ModelData, samples: dict[str, Array], wrenches: ExternalWrenches
) -> Array:
    """Return J^T f_ext of all samples, shape (N, nv), checked."""
    with np.errstate(over='ignore', invalid='ignore'):
        efforts = external_efforts_batch(model, model.checked_positions(samples['q']), wrenches)
    check_finite(efforts)
    return efforts


def check_finite(results: Array) -> None:
    """Raise the error of the first sample whose result is not finite."""
    finite = np.isfinite(results).all(axis=1)
    if not finite.all():
        reason = 'or a wrench is so large that the result is not finite'
        raise InputError(f'motion[{int(np.argmin(finite))}]', reason)


def forward_dynamics_by_mass_matrix(
    workspace: batch.BatchWorkspace, q: Array, qd: Array, tau: Array, qdd: Array
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
