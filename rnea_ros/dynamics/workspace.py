# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Working memory for the algorithms on one tree, allocated once, for control loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import InputError
from .kernels import (
    BASE,
    MOVING_COMPOSITE,
    Records,
    articulated_dtype,
    body_records,
    branch_dtype,
    composite_dtype,
)
from .self_test import BODIES, FRAME, MOTION, NQ, NV, POINT, STATE, Argument, checked_entry_point
from .tree import KinematicTree

Derivatives: TypeAlias = tuple[Array, Array, Array]


def _kernel(
    name: str, inputs: Sequence[Argument], results: Sequence[Argument],
    memory: Callable[[Workspace], list[NDArray[Any]]] = lambda self: [],
) -> cached_property[Callable[..., bool]]:
    """Return a checked kernel as an attribute that is compiled or loaded at its first use."""

    def prepared(self: Workspace) -> Callable[..., bool]:
        return checked_entry_point(name, (self.bodies, *memory(self)), inputs, results)

    return cached_property(prepared)


class Workspace:
    """
    Preallocated memory and compiled kernels for one tree and one thread.

    After the first one, calls allocate nothing. Arguments are contiguous float64 arrays; compiled
    kernels raise TypeError for others. An argument of a wrong length gives NaN, and numbers are
    not checked: q, shape (nq,), rad or m, qd and qdd, shape (nv,), rad/s and rad/s^2 or m/s and
    m/s^2. The next call overwrites the array that a call returns.

    The kernels named ``..._into`` write into their last arguments, whose shapes the caller
    ensures. They return False for arguments of a wrong type or length, or numbers that are not
    finite. Most of them are compiled or loaded at their first use.

    :param tree: the tree
    :param gravity: acceleration of free fall in the base frame, shape (3,), m/s^2
    :ivar external_forces: force of the environment on each body, [moment; force] in the body's
        coordinates, shape (bodies, 6), N m and N; callers write it
    """

    inverse_dynamics: Callable[[Array, Array, Array], Array]
    """Return tau = ID(q, qd, qdd), shape (nv,), N m or N, with the present external forces."""

    gravity_torques: Callable[[Array], Array]
    """Return g(q) - J^T f_ext, shape (nv,)."""

    def __init__(self, tree: KinematicTree, gravity: Array) -> None:
        self.bodies = body_records(tree.bodies)
        self.bodies[BASE]['R'] = np.eye(3)
        self.external_forces = self._f_ext = self.bodies['f_ext']
        self.articulated = self._records(articulated_dtype())
        self._shared_coordinates = tree.shared_coordinates
        self._zeros = np.zeros(tree.nv)
        self._tau = np.zeros(tree.nv)
        self._qdd = np.zeros(tree.nv)
        self._M = np.zeros((tree.nv, tree.nv))
        by_q, by_qd, by_third = np.zeros((3, tree.nv, tree.nv))
        self._derivatives = (by_q, by_qd, by_third)
        self.set_base_motion(gravity, np.zeros(6), np.zeros(6))
        memory = (self.bodies,)
        self.inverse_dynamics_into = checked_entry_point(
            'inverse_dynamics', memory, MOTION, [(NV,)]
        )
        self.gravity_torques_into = checked_entry_point(
            'gravity_torques', memory, [(NQ,)], [(NV,)]
        )
        # Closures, because the attribute look-ups of a method take a tenth of the call's time.
        self.inverse_dynamics = _bound_inverse_dynamics(self.inverse_dynamics_into, self._tau)
        self.gravity_torques = _bound_gravity_torques(self.gravity_torques_into, self._tau)

    def set_base_motion(self, gravity: Array, velocity: Array, acceleration: Array) -> None:
        """
        Set the motion of the base; the base of a new workspace is at rest.

        :param gravity: acceleration of free fall in the base frame, shape (3,), m/s^2
        :param velocity: spatial velocity of the base in its own coordinates, shape (6,)
        :param acceleration: spatial acceleration of the base in its own coordinates, shape (6,)
        """
        base = self.bodies[BASE]
        base['v'] = velocity
        # Gravity acts like an acceleration of the base by -g (eq. 5.15): a_0 - g.
        base['a'] = acceleration
        base['a'][3:] -= gravity

    def bias_torques(self, q: Array, qd: Array) -> Array:
        """Return C(q, qd) qd + g(q) - J^T f_ext, shape (nv,)."""
        return self.inverse_dynamics(q, qd, self._zeros)

    def mass_matrix(self, q: Array) -> Array:
        """Return M(q), shape (nv, nv)."""
        if not self.mass_matrix_into(q, self._M):
            _check_types(q)
        return self._M

    def forward_dynamics(self, q: Array, qd: Array, tau: Array) -> Array:
        """
        Return qdd = FD(q, qd, tau), shape (nv,), with the present external forces.

        The tree must not have mimic or helical joints (InputError). If a joint has no inertia to
        accelerate, the result is not finite.
        """
        if not self.forward_dynamics_into(q, qd, tau, self._qdd):
            _check_types(q, qd, tau)
        return self._qdd

    def inverse_dynamics_derivatives(self, q: Array, qd: Array, qdd: Array) -> Derivatives:
        """
        Return the derivatives of the joint efforts by q, qd and qdd, shape (nv, nv) each.

        The present external forces are held constant in body coordinates.
        """
        if not self.inverse_dynamics_derivatives_into(q, qd, qdd, *self._derivatives):
            _check_types(q, qd, qdd)
        return self._derivatives

    def forward_dynamics_derivatives(self, q: Array, qd: Array, tau: Array) -> Derivatives:
        """
        Return the derivatives of the joint accelerations by q, qd and tau, shape (nv, nv) each.

        As for :meth:`forward_dynamics`, the tree must not have mimic joints. The present external
        forces are held constant in body coordinates.
        """
        if not self.forward_dynamics_derivatives_into(q, qd, tau, *self._derivatives):
            _check_types(q, qd, tau)
        return self._derivatives

    # Arguments of the kernels, results last:
    mass_matrix_into = _kernel(  # q, M
        'mass_matrix', [(NQ,)], [(NV, NV)], lambda self: [self._records(composite_dtype())]
    )
    coriolis_matrix_into = _kernel(  # q, qd, C
        'coriolis_matrix', STATE, [(NV, NV)], lambda self: [self._records(MOVING_COMPOSITE)]
    )
    forward_dynamics_into = _kernel(  # q, qd, tau, qdd
        'forward_dynamics', MOTION, [(NV,)], lambda self: [self._articulated_bodies()]
    )
    inverse_dynamics_derivatives_into = _kernel(  # q, qd, qdd, by_q, by_qd, M
        'inverse_dynamics_derivatives', MOTION, 3 * [(NV, NV)],
        lambda self: [self._records(branch_dtype())],
    )
    forward_dynamics_derivatives_into = _kernel(  # q, qd, tau, by_q, by_qd, by_tau
        'forward_dynamics_derivatives', MOTION, 3 * [(NV, NV)],
        lambda self: [
            self._articulated_bodies(), self._records(branch_dtype()), self._qdd,
            np.zeros(2 * len(self._M), np.int64), np.zeros((len(self._M), 3 * len(self._M))),
        ],
    )
    # body, frame, q, T
    link_pose_into = _kernel('link_pose', [*FRAME, (NQ,)], [(4, 4)])
    # body, frame, point, q, J
    jacobian_into = _kernel('jacobian', [*POINT, (NQ,)], [(6, NV)])
    # body, frame, point, q, qd, Jdot
    jacobian_rate_into = _kernel('jacobian_rate', [*POINT, *STATE], [(6, NV)])
    # body, frame, point, q, qd, qdd, v, a
    link_motion_into = _kernel('link_motion', [*POINT, *MOTION], [(6,), (6,)])
    # q, c
    centre_of_mass_into = _kernel('centre_of_mass', [(NQ,)], [(3,)])
    # q, qd, energy
    kinetic_energy_into = _kernel('kinetic_energy', STATE, [(1,)])
    # gravity, q, energy
    potential_energy_into = _kernel('potential_energy', [(3,), (NQ,)], [(1,)])
    # q, qd, qdd, Y
    regressor_into = _kernel('regressor', MOTION, [(NV, BODIES, 10)])

    def clear_external_forces(self) -> None:
        """Set every external force to zero."""
        self._f_ext[:] = 0.0

    def add_external_force(self, body: int, moment: Array, force: Array) -> None:
        """Add a moment about the body frame's origin, N m, and a force, N, in body coordinates."""
        f_ext = self._f_ext[body]
        f_ext[:3] += moment
        f_ext[3:] += force

    def _articulated_bodies(self) -> Records:
        # Articulated bodies would give wrong numbers, and the factorisation of M would not end.
        if self._shared_coordinates:
            reason = 'several bodies share a coordinate (mimic, helical): use the RobotModel'
            raise InputError('tree', reason)
        return self.articulated

    def _records(self, dtype: np.dtype[np.void]) -> Records:
        return np.zeros(len(self.bodies), dtype=dtype)


def _bound_inverse_dynamics(
    prepared: partial[bool], tau: Array
) -> Callable[[Array, Array, Array], Array]:
    kernel, (bodies,) = prepared.func, prepared.args

    def inverse_dynamics(q: Array, qd: Array, qdd: Array) -> Array:
        if not kernel(bodies, q, qd, qdd, tau):
            _check_types(q, qd, qdd)
        return tau

    return inverse_dynamics


def _bound_gravity_torques(prepared: partial[bool], tau: Array) -> Callable[[Array], Array]:
    kernel, (bodies,) = prepared.func, prepared.args

    def gravity_torques(q: Array) -> Array:
        if not kernel(bodies, q, tau):
            _check_types(q)
        return tau

    return gravity_torques


def _check_types(*arguments: Array) -> None:
    for array in arguments:
        exact = type(array) is np.ndarray and array.dtype == np.float64 and array.dtype.isnative
        if not (exact and array.ndim == 1 and array.flags.c_contiguous and array.flags.aligned):
            raise TypeError('expected a contiguous float64 array of 1 dimensions')
