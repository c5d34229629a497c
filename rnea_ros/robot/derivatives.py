# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Derivatives of inverse and forward dynamics, for one sample and for N samples.

Column k of a derivative by q is the derivative by t, at t = 0, of the result at
``integrate(q, e, t)``, where e is the unit velocity of coordinate k; the other arguments are
constant. For joints without a quaternion this is the partial derivative by their position.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array, finite_result, finite_vector
from ..dynamics import Derivatives
from ..dynamics.kernels import kinematics
from .equation_of_motion import forward_dynamics, inverse_dynamics
from .model_data import ModelData, checked
from .wrench import ExternalWrenches, Load, loads, turned


def inverse_dynamics_derivatives(
    model: ModelData, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
    external_wrenches: ExternalWrenches | None = None,
) -> Derivatives:
    """
    Return the derivatives of :meth:`inverse_dynamics` by q, qd and qdd, shape (nv, nv) each.

    The last one is the mass matrix. Column k of the first one is the derivative of the efforts
    along ``integrate(q, e, t)``, where e is the unit velocity of coordinate k. The motion of the
    base and, in its own frame, each external wrench are held constant.
    """
    if external_wrenches is None:
        shape = model.matrix_shape
        results = np.empty(shape), np.empty(shape), np.empty(shape)
        if model.shared.inverse_dynamics_derivatives_into(q, qd, qdd, *results):
            return results
    motion = checked(model, q=q, qd=qd, qdd=qdd)
    result = np.array(model.thread.workspace.inverse_dynamics_derivatives(*motion))
    if external_wrenches is not None:
        result[0] -= _by_q(model, motion[0], external_wrenches)
    return _separate(finite_result(result))


def forward_dynamics_derivatives(
    model: ModelData, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
    external_wrenches: ExternalWrenches | None = None,
) -> Derivatives:
    """
    Return the derivatives of :meth:`forward_dynamics` by q, qd and tau, shape (nv, nv) each.

    The last one is the inverse of the mass matrix. Column k of the first one is the derivative of
    the accelerations along ``integrate(q, e, t)``, where e is the unit velocity of coordinate k.
    The motion of the base and, in its own frame, each external wrench are held constant.

    :raises SingularityError: a joint without inertia to accelerate, with its name
    """
    by_articulated_bodies = not model.shared_coordinates
    if by_articulated_bodies and external_wrenches is None:
        shape = model.matrix_shape
        results = np.empty(shape), np.empty(shape), np.empty(shape)
        if model.shared.forward_dynamics_derivatives_into(q, qd, tau, *results):
            return results
    # Raises the errors of bad arguments and of a joint without inertia
    qdd = forward_dynamics(model, q, qd, tau, external_wrenches)
    q, qd = checked(model, q=q, qd=qd)
    workspace = model.thread.workspace
    if by_articulated_bodies:
        # tau + J^T f_ext
        total = inverse_dynamics(model, q, qd, qdd)
        result = _copied(workspace.forward_dynamics_derivatives(q, qd, total))
    else:
        result = by_mass_matrix(_copied(workspace.inverse_dynamics_derivatives(q, qd, qdd)))
    if external_wrenches is not None:
        result[0] += result[2] @ _by_q(model, q, external_wrenches)
    return _separate(finite_result(result))


def _copied(derivatives: Derivatives) -> Array:
    """Return a workspace's derivatives as a new array, shape (3, nv, nv), if they are finite."""
    return finite_result(np.array(derivatives))


def _separate(result: Array) -> Derivatives:
    return result[0], result[1], result[2]


def _by_q(model: ModelData, q: Array, wrenches: ExternalWrenches) -> Array:
    """Return the derivatives of J^T f_ext, the efforts of external wrenches, by q, checked."""
    bodies = model.thread.workspace.bodies
    kinematics.place_bodies(bodies, q)
    R, p = bodies['R'], bodies['p']
    vectors = partial(finite_vector, size=3)
    with np.errstate(over='ignore', invalid='ignore'):
        acting = loads(model, wrenches, R, p, vectors)
        return finite_result(effort_derivatives(model, R, p, acting))


def by_mass_matrix(result: Array) -> Array:
    """Return derivatives of the forward dynamics from the inverse's, (..., 3, nv, nv)."""
    M = result[..., 2:, :, :]
    right = -result
    right[..., 2, :, :] = np.eye(result.shape[-1])
    return np.asarray(np.linalg.solve(M, right))


def effort_derivatives(model: ModelData, R: Array, p: Array, given: Iterable[Load]) -> Array:
    """
    Return the derivatives of J^T f_ext by q, shape (..., nv, nv).

    R, shape (..., bodies, 3, 3), and p, shape (..., bodies, 3), m, are the poses of the bodies in
    the base. Force, torque and point of each wrench are constant in its frame.

    S_r is a column of the motion subspace of a joint that carries the load phi = [n; f], both
    about the base's origin: its effort is S_r . phi. Motion along S_k, a column of the same joint
    or of one that carries it, changes S_r at the rate S_k x S_r, and
    (S_k x S_r) . phi = -S_r . (S_k x* phi). The rate of the load itself is added.
    """
    bodies = model.tree.bodies
    body = np.repeat(np.arange(len(bodies)), bodies['qd_size'])
    number = np.arange(len(body)) - np.repeat(
        np.cumsum(bodies['qd_size']) - bodies['qd_size'], bodies['qd_size']
    )
    axes = np.eye(6)[bodies['column'][body] + number] * bodies['ratio'][body, np.newaxis]
    w = turned(R[..., body, :, :], axes[:, :3])
    u = turned(R[..., body, :, :], axes[:, 3:]) + np.cross(p[..., body, :], w)
    carried = _carried(bodies)[body]  # for each column, whether its joint carries a body
    by_column = np.zeros((*R.shape[:-3], len(body), len(body)))
    for load in given:
        x, torque, f = (a[..., np.newaxis, :] for a in (load.point, load.torque, load.force))
        n = torque + np.cross(x, f)
        # The axes of the load turn with body ``turns_with``, its point moves with ``moves_with``.
        turn = w * carried[:, load.turns_with, np.newaxis]
        x_rate = (u + np.cross(w, x)) * carried[:, load.moves_with, np.newaxis]
        f_rate = np.cross(turn, f)
        n_rate = np.cross(turn, torque) + np.cross(x_rate, f) + np.cross(x, f_rate)
        of_load = _products(w, u, n_rate, f_rate)
        of_column = _products(w, u, np.cross(w, n) + np.cross(u, f), np.cross(w, f))
        rates = of_load - of_column * carried[:, body].T
        by_column += rates * carried[:, load.body, np.newaxis]
    # Several bodies may share a coordinate (mimic).
    to_coordinates = np.eye(model.nv)[bodies['qd_index'][body] + number]
    return np.asarray(to_coordinates.T @ by_column @ to_coordinates)


def _products(w: Array, u: Array, n: Array, f: Array) -> Array:
    """Return the products S_r . [n; f]_k of all columns S = [w; u], shape (..., r, k)."""
    return np.asarray(w @ np.swapaxes(n, -1, -2) + u @ np.swapaxes(f, -1, -2))


def _carried(bodies: NDArray[np.void]) -> NDArray[np.bool_]:
    """Return whether body i carries, or is, body j, shape (bodies, bodies)."""
    carried = np.eye(len(bodies), dtype=bool)
    for j in range(1, len(bodies)):
        carried[:, j] |= carried[:, bodies[j]['parent']]
    return carried
