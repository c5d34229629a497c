# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Memory for the recursion over one tree: everything that a control loop needs, allocated once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .compiled import entry_point
from .placement import Placement
from .rnea import inverse_dynamics
from .tree import BASE, KinematicTree


class Workspace:
    """
    Preallocated memory and compiled kernels for one tree; not to be shared between threads.

    Methods check nothing and allocate nothing. Arrays in are contiguous float64 of shape (n,); the
    array that is returned is overwritten by the next call.

    :param tree: the tree
    :param gravity: acceleration of free fall in the base frame, shape (3,), m/s^2
    """

    def __init__(self, tree: KinematicTree, gravity: NDArray[np.float64]) -> None:
        n = len(tree.coordinates)
        self._bodies = tree.bodies.copy()
        # The base is accelerated upwards in place of gravity on every body: a_0 = -g (eq. 5.9).
        self._bodies[BASE]['a'][3:] = -gravity
        self._still = np.zeros(n)
        self._tau = np.zeros(n)
        arguments = (self._bodies, self._still, self._still, self._still, self._tau)
        self._rnea = entry_point(inverse_dynamics, arguments)

    def inverse_dynamics(
        self, q: NDArray[np.float64], qd: NDArray[np.float64], qdd: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """
        Return tau = ID(q, qd, qdd), with the external forces that are set.

        :param q: joint positions, shape (n,), rad or m
        :param qd: joint velocities, shape (n,), rad/s or m/s
        :param qdd: joint accelerations, shape (n,), rad/s^2 or m/s^2
        :return: joint efforts, shape (n,), N m or N; overwritten by the next call
        """
        self._rnea(self._bodies, q, qd, qdd, self._tau)
        return self._tau

    def bias_torques(self, q: NDArray[np.float64], qd: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return C(q, qd) qd + g(q) - J^T f_ext; shapes and units as in inverse_dynamics."""
        return self.inverse_dynamics(q, qd, self._still)

    def gravity_torques(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return g(q) - J^T f_ext; shapes and units as in inverse_dynamics."""
        return self.inverse_dynamics(q, self._still, self._still)

    def clear_external_forces(self) -> None:
        """Set every external force to zero."""
        self._bodies['f_ext'] = 0.0

    def add_external_force(
        self, body: int, moment: NDArray[np.float64], force: NDArray[np.float64]
    ) -> None:
        """
        Add a force that the environment exerts on a body.

        :param body: the body's number in the tree
        :param moment: about the body frame's origin, in body coordinates, shape (3,), N m
        :param force: in body coordinates, shape (3,), N
        """
        f_ext = self._bodies[body]['f_ext']
        f_ext[:3] += moment
        f_ext[3:] += force

    def body_placements(self, q: NDArray[np.float64]) -> list[Placement]:
        """
        Return where each body stands in the base frame, base first.

        :param q: joint positions, shape (n,), rad or m
        """
        self.gravity_torques(q)  # the outward pass leaves X_up of every joint in the bodies
        placements = [Placement.identity()]
        for body in self._bodies[1:]:
            in_parent = Placement(body['E'].T.copy(), body['r'].copy())
            placements.append(placements[body['parent']] @ in_parent)
        return placements
