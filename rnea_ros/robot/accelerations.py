# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Forward dynamics: M(q) qdd = tau - C(q, qd) qd - g(q) + J^T f_ext."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, finite_result
from ..dynamics import Workspace
from ..dynamics.kernels import BASE, checked_kernels
from ..errors import SingularityError
from .forces import copied_result
from .model_data import ModelData
from .wrench import ExternalWrenches, applied

NO_INERTIA = 'has no inertia to accelerate'


def forward_dynamics(
    model: ModelData,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    external_wrenches: ExternalWrenches | None = None,
) -> Array:
    """
    Return the accelerations that efforts cause: M qdd = tau - C qd - g + J^T f_ext.

    By the articulated-body algorithm; by the mass matrix if mimic joints close loops.

    :param q: joint positions, shape (nq,)
    :param qd: joint velocities, shape (nv,)
    :param tau: joint efforts, shape (nv,)
    :param external_wrenches: wrenches that the environment exerts on the robot, by link
    :return: joint accelerations, shape (nv,)
    :raises SingularityError: a joint without inertia to accelerate, with its name
    :raises UnknownNameError: a wrench names a link that the robot does not have
    """
    by_articulated_bodies = not model.shared_coordinates
    if model.kernels_check_arrays and by_articulated_bodies and external_wrenches is None:
        qdd = np.empty(model.nv)
        try:
            if model.shared.forward_dynamics_into(q, qd, tau, qdd):
                return qdd
        except TypeError:
            pass
    q, qd, tau = model.checked(q=q, qd=qd, tau=tau)
    workspace = model.thread.workspace
    with applied(model, workspace, q, external_wrenches):
        if by_articulated_bodies:
            return _by_articulated_bodies(model, workspace, (q, qd), tau)
        return _by_mass_matrix(model, workspace, (q, qd), tau)


def _by_articulated_bodies(
    model: ModelData, workspace: Workspace, state: tuple[Array, Array], tau: Array
) -> Array:
    qdd = np.empty(model.nv)
    if not workspace.forward_dynamics_into(*state, tau, qdd):
        i = checked_kernels.body_without_inertia(workspace.bodies, workspace.articulated)
        if i != BASE:
            joint = model.joint_of(int(model.tree.bodies[i]['dof']))
            raise SingularityError(f'joint {joint!r}', NO_INERTIA)
    return finite_result(qdd)


def _by_mass_matrix(
    model: ModelData, workspace: Workspace, state: tuple[Array, Array], tau: Array
) -> Array:
    bias = workspace.bias_torques(*state).copy()
    M = finite_result(workspace.mass_matrix(state[0]))
    inertias, motions = np.linalg.eigh(relative_inertia(M))
    if not (inertias > checked_kernels.MIN_INERTIA_RATIO).all():
        joint = model.joint_of(int(np.argmax(np.abs(motions[:, 0]))))
        raise SingularityError(f'joint {joint!r}', NO_INERTIA)
    return copied_result(np.asarray(np.linalg.solve(M, tau - bias), dtype=np.float64))


def relative_inertia(M: Array) -> Array:
    """
    Return mass matrices scaled to a diagonal of ones; zeros of the diagonal stay zero.

    Eigenvectors of the result are motions of several coordinates. The eigenvalue is the inertia
    of that motion relative to the coordinates' own inertias.

    :param M: mass matrices, shape (..., nv, nv)
    """
    own = np.diagonal(M, axis1=-2, axis2=-1)
    scale = np.sqrt(np.where(own > 0.0, own, 1.0))
    return np.asarray(M / (scale[..., :, np.newaxis] * scale[..., np.newaxis, :]))
