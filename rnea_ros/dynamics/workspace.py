# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Memory for the recursions over one tree: all that a control loop needs, allocated once."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from . import entries
from .articulated_body import articulated_dtype
from .bodies import BASE, body_records
from .compiled import entry_point
from .composite_inertia import composite_dtype
from .tree import KinematicTree

Array = NDArray[np.float64]


class Workspace:
    """
    Preallocated memory and compiled kernels for one tree; not to be shared between threads.

    Methods check nothing and, after their first call, allocate nothing. Arrays in are contiguous
    float64 of the right shape; an array that is returned is overwritten by the next call.

    :param tree: the tree
    :param gravity: acceleration of free fall in the base frame, shape (3,), m/s^2
    """

    def __init__(self, tree: KinematicTree, gravity: Array) -> None:
        self.bodies = body_records(tree.bodies)
        self.bodies[BASE]['R'] = np.eye(3)
        self._position = np.zeros(tree.nq)
        self._still = np.zeros(tree.nv)
        self._tau = np.zeros(tree.nv)
        self._qdd = np.zeros(tree.nv)
        self.set_base_motion(gravity, np.zeros(6), np.zeros(6))
        motion = (self._position, self._still, self._still)
        self._inverse_dynamics = entry_point(
            entries.inverse_dynamics, (self.bodies, *motion, self._tau)
        )
        self._gravity_torques = entry_point(
            entries.gravity_torques, (self.bodies, self._position, self._tau)
        )

    def set_base_motion(self, gravity: Array, velocity: Array, acceleration: Array) -> None:
        """
        Set how the base moves; it stands still in a new workspace.

        :param gravity: acceleration of free fall in the base frame, shape (3,), m/s^2
        :param velocity: spatial velocity of the base in its own coordinates, shape (6,)
        :param acceleration: spatial acceleration of the base in its own coordinates, shape (6,)
        """
        base = self.bodies[BASE]
        base['v'] = velocity
        # The base is accelerated upwards in place of gravity on every body: a_0 = -g (eq. 5.9).
        base['a'] = acceleration
        base['a'][3:] -= gravity

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """
        Return tau = ID(q, qd, qdd), with the external forces that are set.

        :param q: joint positions, shape (nq,), rad or m
        :param qd: joint velocities, shape (nv,), rad/s or m/s
        :param qdd: joint accelerations, shape (nv,), rad/s^2 or m/s^2
        :return: joint efforts, shape (nv,), N m or N; overwritten by the next call
        """
        self._inverse_dynamics(self.bodies, q, qd, qdd, self._tau)
        return self._tau

    def bias_torques(self, q: Array, qd: Array) -> Array:
        """Return C(q, qd) qd + g(q) - J^T f_ext; shapes and units as in inverse_dynamics."""
        return self.inverse_dynamics(q, qd, self._still)

    def gravity_torques(self, q: Array) -> Array:
        """Return g(q) - J^T f_ext; shapes and units as in inverse_dynamics."""
        self._gravity_torques(self.bodies, q, self._tau)
        return self._tau

    def mass_matrix(self, q: Array) -> Array:
        """
        Return M(q), shape (nv, nv); overwritten by the next call.

        :param q: joint positions, shape (nq,), rad or m
        """
        self._mass_matrix(self.bodies, self.composites, q, self._matrix)
        return self._matrix

    def forward_dynamics(self, q: Array, qd: Array, tau: Array) -> Array:
        """
        Return qdd = FD(q, qd, tau), with the external forces that are set.

        The tree must be without mimic joints. Where a joint has nothing to accelerate, numbers are
        not finite.

        :param q: joint positions, shape (nq,), rad or m
        :param qd: joint velocities, shape (nv,), rad/s or m/s
        :param tau: joint efforts, shape (nv,), N m or N
        :return: joint accelerations, shape (nv,), rad/s^2 or m/s^2; overwritten by the next call
        """
        self._forward_dynamics(self.bodies, self.articulated, q, qd, tau, self._qdd)
        return self._qdd

    def clear_external_forces(self) -> None:
        """Set every external force to zero."""
        self.bodies['f_ext'] = 0.0

    def add_external_force(self, body: int, moment: Array, force: Array) -> None:
        """
        Add a force that the environment exerts on a body.

        :param body: the body's number in the tree
        :param moment: about the body frame's origin, in body coordinates, shape (3,), N m
        :param force: in body coordinates, shape (3,), N
        """
        f_ext = self.bodies[body]['f_ext']
        f_ext[:3] += moment
        f_ext[3:] += force

    # What not every control loop needs is made, and compiled, where it is first asked for.

    @cached_property
    def composites(self) -> NDArray[np.void]:
        """What the mass matrix is computed in."""
        return np.zeros(len(self.bodies), dtype=composite_dtype())

    @cached_property
    def articulated(self) -> NDArray[np.void]:
        """What the forward dynamics are computed in."""
        return np.zeros(len(self.bodies), dtype=articulated_dtype())

    @cached_property
    def _matrix(self) -> Array:
        return np.zeros((self._still.size, self._still.size))

    @cached_property
    def _mass_matrix(self) -> entries.Entry:
        return entry_point(
            entries.mass_matrix, (self.bodies, self.composites, self._position, self._matrix)
        )

    @cached_property
    def _forward_dynamics(self) -> entries.Entry:
        state = (self._position, self._still, self._still)
        return entry_point(
            entries.forward_dynamics, (self.bodies, self.articulated, *state, self._qdd)
        )
