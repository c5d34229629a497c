# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The terms of the equation of motion by calls of inverse dynamics, and forward dynamics from them.

::

    tau = M(q) qdd + c(q, qd) + g(q) - J^T f_ext

Inverse dynamics ID returns the left side; all but one term of the right vanish for::

    M e_j = ID(q, 0, e_j) without gravity, for each unit vector e_j
    c     = ID(q, qd, 0) without gravity
    g     = ID(q, 0, 0)
    qdd   = M^-1 (tau - h),   h = ID(q, qd, 0, f_ext)

This is method 1 of M. W. Walker and D. E. Orin, *Efficient dynamic computer simulation of robotic
mechanisms*, ASME J. Dyn. Syst. Meas. Control 104 (1982); K. M. Lynch and F. C. Park, *Modern
Robotics*, 2017, section 8.5; R. Featherstone, *Rigid Body Dynamics Algorithms*, 2008, chapter 6.
n calls of a recursion that costs O(n) make O(n^2); solving for qdd adds O(n^3).
Arguments are as in :mod:`.textbook_tree`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Array
from .newton_euler import inverse_dynamics
from .textbook_tree import Body

WEIGHTLESS = np.zeros(3)


def mass_matrix(bodies: Sequence[Body], q: Array) -> Array:
    """Return M(q), shape (n, n)."""
    still, one = np.zeros_like(q), np.eye(len(q))
    M = np.zeros_like(one)
    for j, e_j in enumerate(one):
        M[:, j] = inverse_dynamics(bodies, q, still, e_j, WEIGHTLESS)
    return M


def coriolis_torques(bodies: Sequence[Body], q: Array, qd: Array) -> Array:
    """Return c(q, qd), the Coriolis and centrifugal efforts, shape (n,)."""
    return inverse_dynamics(bodies, q, qd, np.zeros_like(q), WEIGHTLESS)


def gravity_torques(bodies: Sequence[Body], q: Array, gravity: Array) -> Array:
    """Return g(q), the efforts that hold the robot still, shape (n,)."""
    still = np.zeros_like(q)
    return inverse_dynamics(bodies, q, still, still, gravity)


def forward_dynamics(
    bodies: Sequence[Body], q: Array, qd: Array, tau: Array, gravity: Array,
    external: Array | None = None,
) -> Array:
    """Return the joint accelerations that follow from efforts, shape (n,)."""
    h = inverse_dynamics(bodies, q, qd, np.zeros_like(q), gravity, external)
    return np.asarray(np.linalg.solve(mass_matrix(bodies, q), tau - h), dtype=np.float64)
