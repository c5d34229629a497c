# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The equation of motion, tau = M(q) qdd + C(q, qd) qd + g(q) - J^T f_ext, for tau and for qdd.

Many functions of this folder first give their arguments to a kernel as they are: it checks types,
lengths and numbers in nanoseconds, and returns False for what it rejects. Then the arguments are
converted, or an error names the argument. The first kernel may use memory that all threads share:
it keeps the interpreter lock until its result is in an array of the caller's.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, finite_result
from ..dynamics import Workspace
from ..dynamics.kernels import BASE, checked_kernels
from ..errors import SingularityError
from .model_data import ModelData, checked, checked_position, computed, joint_of
from .wrench import ExternalWrenches, applied

NO_INERTIA = 'has no inertia to accelerate'


def inverse_dynamics(
    model: ModelData, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
    external_wrenches: ExternalWrenches | None = None,
) -> Array:
    """Return the joint efforts of a motion: tau = M(q) qdd + C(q, qd) qd + g(q) - J^T f_ext."""
    tau = np.empty(model.nv)
    if external_wrenches is None and model.shared.inverse_dynamics_into(q, qd, qdd, tau):
        return tau
    motion = checked(model, q=q, qd=qd, qdd=qdd)
    workspace = model.thread.workspace
    with applied(model, workspace, motion[0], external_wrenches):
        return copied_result(workspace.inverse_dynamics(*motion))


def gravity_torques(model: ModelData, q: ArrayLike) -> Array:
    """Return g(q), the efforts that hold the robot still on a base at rest."""
    tau = np.empty(model.nv)
    if model.base_at_rest and model.shared.gravity_torques_into(q, tau):
        return tau
    # g(q) does not include the acceleration of the base.
    workspace = model.thread.workspace
    base = workspace.bodies[BASE]
    saved_acceleration = base['a'].copy()
    base['a'][3:] = -model.gravity
    try:
        return copied_result(workspace.gravity_torques(checked_position(model, 'q', q)))
    finally:
        base['a'] = saved_acceleration


def bias_torques(model: ModelData, q: ArrayLike, qd: ArrayLike) -> Array:
    """Return C(q, qd) qd + g(q), the efforts that make qdd = 0."""
    return inverse_dynamics(model, q, qd, model.rest)


def coriolis_torques(model: ModelData, q: ArrayLike, qd: ArrayLike) -> Array:
    """
    Return C(q, qd) qd, the Coriolis and centrifugal efforts.

    On a moving base they include the effect of its velocity, but not of its acceleration.
    """
    tau = np.empty(model.nv)
    kernel = model.shared_weightless.inverse_dynamics_into
    if model.base_at_rest and kernel(q, qd, model.rest, tau):
        return tau
    state = checked(model, q=q, qd=qd)
    workspace = model.thread.weightless
    base = workspace.bodies[BASE]
    saved_acceleration = base['a'].copy()
    # Without alpha and a, the base's spatial acceleration [alpha; a - omega x v] is
    # [0; - omega x v].
    base['a'][:3] = 0.0
    velocity, _ = model.base_motion.spatial()
    base['a'][3:] = -np.cross(velocity[:3], velocity[3:])
    try:
        return copied_result(workspace.bias_torques(*state))
    finally:
        base['a'] = saved_acceleration


def mass_matrix(model: ModelData, q: ArrayLike) -> Array:
    """Return M(q), shape (nv, nv), symmetric; positive definite if all joints move inertia."""
    M = np.empty(model.matrix_shape)
    if model.shared.mass_matrix_into(q, M):
        return M
    return computed(model, 'mass_matrix_into', M, q=q)


def coriolis_matrix(model: ModelData, q: ArrayLike, qd: ArrayLike) -> Array:
    """
    Return C(q, qd) of the Christoffel symbols, shape (nv, nv); dM/dt - 2 C is skew-symmetric.

    On a base at rest C qd is :meth:`coriolis_torques`; the matrix is that of a base at rest.
    """
    C = np.empty(model.matrix_shape)
    if model.shared.coriolis_matrix_into(q, qd, C):
        return C
    return computed(model, 'coriolis_matrix_into', C, q=q, qd=qd)


def mass_matrix_rate(model: ModelData, q: ArrayLike, qd: ArrayLike) -> Array:
    """Return dM/dt, the rate of :meth:`mass_matrix` during a motion, shape (nv, nv)."""
    C = coriolis_matrix(model, q, qd)
    return finite_result(C + C.T)


def bias_without_gravity(model: ModelData, q: ArrayLike, qd: ArrayLike) -> Array:
    """Return the efforts that velocities and the base's motion need at qdd = 0, shape (nv,)."""
    return copied_result(model.thread.weightless.bias_torques(*checked(model, q=q, qd=qd)))


def kinetic_energy(model: ModelData, q: ArrayLike, qd: ArrayLike) -> float:
    """Return the kinetic energy of all links, J: the sum of v^T I v / 2."""
    energy = np.empty(1)
    if model.shared.kinetic_energy_into(q, qd, energy):
        return energy.item()
    return computed(model, 'kinetic_energy_into', energy, q=q, qd=qd).item()


def potential_energy(model: ModelData, q: ArrayLike) -> float:
    """Return the potential energy of all links in gravity, J; zero at the base frame's origin."""
    energy = np.empty(1)
    if model.shared.potential_energy_into(model.gravity, q, energy):
        return energy.item()
    return computed(model, 'potential_energy_into', energy, model.gravity, q=q).item()


def forward_dynamics(
    model: ModelData, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
    external_wrenches: ExternalWrenches | None = None,
) -> Array:
    """
    Return the accelerations that efforts cause: M qdd = tau - C qd - g + J^T f_ext.

    By the articulated-body algorithm; by the mass matrix if mimic joints close loops.

    :raises SingularityError: a joint without inertia to accelerate, with its name
    """
    by_articulated_bodies = not model.shared_coordinates
    if by_articulated_bodies and external_wrenches is None:
        qdd = np.empty(model.nv)
        if model.shared.forward_dynamics_into(q, qd, tau, qdd):
            return qdd
    q, qd, tau = checked(model, q=q, qd=qd, tau=tau)
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
            joint = joint_of(model, int(model.tree.bodies[i]['qd_index']))
            raise SingularityError(f'joint {joint!r}', NO_INERTIA)
    return finite_result(qdd)


def _by_mass_matrix(
    model: ModelData, workspace: Workspace, state: tuple[Array, Array], tau: Array
) -> Array:
    bias = workspace.bias_torques(*state).copy()
    M = finite_result(workspace.mass_matrix(state[0]))
    inertias, motions = np.linalg.eigh(relative_inertia(M))
    if not (inertias > checked_kernels.MIN_INERTIA_RATIO).all():
        joint = joint_of(model, int(np.argmax(np.abs(motions[:, 0]))))
        raise SingularityError(f'joint {joint!r}', NO_INERTIA)
    return copied_result(np.asarray(np.linalg.solve(M, tau - bias), dtype=np.float64))


def relative_inertia(M: Array) -> Array:
    """
    Return mass matrices, shape (..., nv, nv), scaled to a diagonal of ones; zeros stay zero.

    Eigenvectors of the result are motions of several coordinates. The eigenvalue is the inertia
    of that motion relative to the coordinates' own inertias.
    """
    own = np.diagonal(M, axis1=-2, axis2=-1)
    scale = np.sqrt(np.where(own > 0.0, own, 1.0))
    return np.asarray(M / (scale[..., :, np.newaxis] * scale[..., np.newaxis, :]))


def copied_result(values: Array) -> Array:
    """Return a copy of a workspace's array, if it is finite."""
    return finite_result(values).copy()
