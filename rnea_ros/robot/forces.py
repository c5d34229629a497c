# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Inverse dynamics and its parts: tau = M(q) qdd + C(q, qd) qd + g(q) - J^T f_ext.

The functions of a control loop have two paths. The kernel checks types, lengths and numbers of its
arrays in nanoseconds. Arguments that it rejects take the slow path, which converts them or raises
the error that names the argument. The kernel of the first path may use memory that all threads
share: it keeps the interpreter lock until its result is in an array of the caller's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, finite_array, finite_result, finite_vector
from ..dynamics import ContactSolution, check_contact_motion
from ..dynamics import constrained_inverse_dynamics as solve_contacts
from ..dynamics.kernels import BASE
from ..errors import InputError
from .model_data import ModelData, checked_names, computed
from .wrench import ExternalWrenches, applied


def inverse_dynamics(
    model: ModelData,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    external_wrenches: ExternalWrenches | None = None,
) -> Array:
    """
    Return the joint efforts of a motion: tau = M(q) qdd + C(q, qd) qd + g(q) - J^T f_ext.

    :param q: joint positions, shape (nq,)
    :param qd: joint velocities, shape (nv,)
    :param qdd: joint accelerations, shape (nv,)
    :param external_wrenches: wrenches that the environment exerts on the robot, by link
    :return: joint efforts, shape (nv,)
    :raises UnknownNameError: a wrench names a link that the robot does not have
    """
    if model.kernels_check_arrays and external_wrenches is None:
        tau = np.empty(model.nv)
        try:
            if model.shared.inverse_dynamics_into(q, qd, qdd, tau):
                return tau
        except TypeError:
            pass
    motion = model.checked(q=q, qd=qd, qdd=qdd)
    workspace = model.thread.workspace
    with applied(model, workspace, motion[0], external_wrenches):
        return copied_result(workspace.inverse_dynamics(*motion))


def gravity_torques(model: ModelData, q: ArrayLike) -> Array:
    """
    Return g(q), the efforts that hold the robot still on a base at rest.

    :param q: joint positions, shape (nq,)
    """
    if model.kernels_check_arrays and model.base_at_rest:
        tau = np.empty(model.nv)
        try:
            if model.shared.gravity_torques_into(q, tau):
                return tau
        except TypeError:
            pass
    # g(q) does not include the acceleration of the base.
    workspace = model.thread.workspace
    base = workspace.bodies[BASE]
    saved_acceleration = base['a'].copy()
    base['a'][3:] = -model.gravity
    try:
        return copied_result(workspace.gravity_torques(model.checked_position('q', q)))
    finally:
        base['a'] = saved_acceleration


def bias_torques(model: ModelData, q: ArrayLike, qd: ArrayLike) -> Array:
    """
    Return C(q, qd) qd + g(q), the efforts that make qdd = 0.

    :param q: joint positions, shape (nq,)
    :param qd: joint velocities, shape (nv,)
    """
    return inverse_dynamics(model, q, qd, model.rest)


def coriolis_torques(model: ModelData, q: ArrayLike, qd: ArrayLike) -> Array:
    """
    Return C(q, qd) qd, the Coriolis and centrifugal efforts.

    On a moving base they include the effect of its velocity, but not of its acceleration.

    :param q: joint positions, shape (nq,)
    :param qd: joint velocities, shape (nv,)
    """
    if model.kernels_check_arrays and model.base_at_rest:
        tau = np.empty(model.nv)
        try:
            if model.shared_weightless.inverse_dynamics_into(q, qd, model.rest, tau):
                return tau
        except TypeError:
            pass
    state = model.checked(q=q, qd=qd)
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
    """
    Return M(q), symmetric; positive definite if every joint moves some inertia.

    :param q: joint positions, shape (nq,)
    :return: shape (nv, nv)
    """
    M = np.empty(model.matrix_shape)
    if model.kernels_check_arrays:
        try:
            if model.shared.mass_matrix_into(q, M):
                return M
        except TypeError:
            pass
    return computed(model, model.thread.workspace.mass_matrix_into, M, q=q)


def coriolis_matrix(model: ModelData, q: ArrayLike, qd: ArrayLike) -> Array:
    """
    Return C(q, qd) of the Christoffel symbols, shape (nv, nv); dM/dt - 2 C is skew-symmetric.

    On a base at rest C qd is :meth:`coriolis_torques`; the matrix is that of a base at rest.

    :param q: joint positions, shape (nq,)
    :param qd: joint velocities, shape (nv,)
    """
    C = np.empty(model.matrix_shape)
    if model.kernels_check_arrays:
        try:
            if model.shared.coriolis_matrix_into(q, qd, C):
                return C
        except TypeError:
            pass
    return computed(model, model.thread.workspace.coriolis_matrix_into, C, q=q, qd=qd)


def mass_matrix_rate(model: ModelData, q: ArrayLike, qd: ArrayLike) -> Array:
    """
    Return dM/dt, the rate of :meth:`mass_matrix` during a motion, shape (nv, nv).

    :param q: joint positions, shape (nq,)
    :param qd: joint velocities, shape (nv,)
    """
    C = coriolis_matrix(model, q, qd)
    return finite_result(C + C.T)


def constrained_inverse_dynamics(
    model: ModelData,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    contact_jacobian: ArrayLike,
    unactuated: Sequence[str] = (),
    *,
    contact_bias: ArrayLike | None = None,
    external_wrenches: ExternalWrenches | None = None,
) -> ContactSolution:
    """
    Return joint efforts and contact forces for a motion of a robot in contact.

    Contacts do not accelerate, J qdd + Jdot qd = 0; another motion is rejected. Velocities are not
    checked, since the ground may move. If it accelerates, subtract its acceleration from
    ``contact_bias``.

    If several sets of contact forces give the same motion, the set of least norm is returned, and
    ``determined`` of the result is False. Contacts may pull: signs and friction cones are not
    checked.

    :param q: joint positions, shape (nq,)
    :param qd: joint velocities, shape (nv,)
    :param qdd: joint accelerations, shape (nv,)
    :param contact_jacobian: rows of :meth:`jacobian`, one for each contact force, shape (k, nv)
    :param unactuated: names of joints without an actuator, such as the floating base
    :param contact_bias: Jdot qd, the same rows of :meth:`bias_acceleration`, shape (k,), rad/s^2
        and m/s^2; zeros by default if neither the joints nor the base move
    :param external_wrenches: wrenches that the environment exerts on the robot beside the contact
        forces, by link
    :raises InputError: a motion that the contacts do not allow; no ``contact_bias`` although the
        robot or its base moves
    :raises SingularityError: no contact forces give this motion
    :raises UnknownNameError: no such joint
    """
    actuated = np.ones(model.nv, dtype=bool)
    for joint in checked_names('unactuated', unactuated):
        actuated[model.coordinates_of(joint).velocities] = False
    J = finite_array('contact_jacobian', contact_jacobian, (None, model.nv))
    (velocity,) = model.checked(qd=qd)
    if contact_bias is not None:
        bias = finite_vector('contact_bias', contact_bias, len(J))
    elif len(J) and (velocity.any() or not model.base_at_rest):
        raise InputError(
            'contact_bias', 'is required if the robot or its base moves: the rows of '
            'bias_acceleration for the rows of contact_jacobian',
        )
    else:
        bias = np.zeros(len(J))
    (acceleration,) = model.checked(qdd=qdd)
    check_contact_motion(acceleration, J, bias)
    forces = inverse_dynamics(model, q, velocity, acceleration, external_wrenches)
    return solve_contacts(forces, J, actuated)


def bias_without_gravity(model: ModelData, q: ArrayLike, qd: ArrayLike) -> Array:
    """Return the efforts that velocities and the base's motion need at qdd = 0, shape (nv,)."""
    state = model.checked(q=q, qd=qd)
    return copied_result(model.thread.weightless.bias_torques(*state))


def kinetic_energy(model: ModelData, q: ArrayLike, qd: ArrayLike) -> float:
    """
    Return the kinetic energy of all links, J: the sum of v^T I v / 2.

    :param q: joint positions, shape (nq,)
    :param qd: joint velocities, shape (nv,)
    """
    energy = np.empty(1)
    if model.kernels_check_arrays:
        try:
            if model.shared.kinetic_energy_into(q, qd, energy):
                return energy.item()
        except TypeError:
            pass
    return computed(model, model.thread.workspace.kinetic_energy_into, energy, q=q, qd=qd).item()


def potential_energy(model: ModelData, q: ArrayLike) -> float:
    """
    Return the potential energy of all links in gravity, J; zero at the base frame's origin.

    :param q: joint positions, shape (nq,)
    """
    energy = np.empty(1)
    if model.kernels_check_arrays:
        try:
            if model.shared.potential_energy_into(model.gravity, q, energy):
                return energy.item()
        except TypeError:
            pass
    kernel = model.thread.workspace.potential_energy_into
    return computed(model, kernel, energy, model.gravity, q=q).item()


def copied_result(values: Array) -> Array:
    """Return a copy of a workspace's array, if it is finite."""
    return finite_result(values).copy()
