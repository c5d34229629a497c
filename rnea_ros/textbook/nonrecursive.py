# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Inverse dynamics without recursion: every body's motion is a sum over all joints from the base.

D'Alembert's principle: in any small motion of the joints, the efforts do the same work as the
forces that the bodies' motion needs. With the equations of Newton and Euler for body i (J. J.
Craig, *Introduction to Robotics*, 3rd ed., (6.49) and (6.50)), everything in base coordinates::

    tau_j = sum over the bodies i that joint j carries of
                z_j . ((p_Ci - o_j) x F_i + N_i)    for a revolute joint
                z_j . F_i                           for a prismatic one

z_j is joint j's axis, o_j its origin; both factors are columns of the Jacobian of body i's centre
of mass, and of its rotation (Siciliano et al., *Robotics: Modelling, Planning and Control*, 2009,
section 3.1.3). The motion of body i is a sum over the joints k between it and the base::

    omega     = sum z_k qd_k                                     over the revolute ones
    omega_dot = sum (z_k qdd_k + omega_(k-1) x z_k qd_k)         over the revolute ones
    v_dot     = -g + sum (omega_dot_(k-1) x d_k + omega_(k-1) x (omega_(k-1) x d_k))
                   + sum (z_k qdd_k + 2 omega_(k-1) x z_k qd_k)  over the prismatic ones

where d_k = o_k - o_(k-1), and k - 1 denotes the sums up to joint k - 1. There is one term for
every pair of a body and a joint that carries it: n (n + 1) / 2 terms for a chain of n bodies,
twice. The recursion uses each body's sum for its children: n steps outwards and n steps inwards.
J. M. Hollerbach, *A recursive Lagrangian formulation of manipulator dynamics and a comparative
study of dynamics formulation complexity*, IEEE Trans. Syst. Man Cybern. 10 (1980), compares such
costs. Arguments are as in :mod:`.textbook_tree`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Array
from .textbook_tree import Body, cross


def inverse_dynamics(
    bodies: Sequence[Body], q: Array, qd: Array, qdd: Array, gravity: Array,
    external: Array | None = None,
) -> Array:
    """Return the joint efforts that a motion needs, shape (n,), N m or N."""
    if external is None:
        external = np.zeros((1 + len(bodies), 6))
    tau = np.zeros_like(q)
    for i, body in enumerate(bodies, start=1):
        R, o = np.eye(3), np.zeros(3)
        omega, omega_dot, v_dot = np.zeros(3), np.zeros(3), -gravity
        axes: list[tuple[Body, Array, Array]] = []
        for carrier in path_to(bodies, i):
            R_k, p_k = carrier.pose(q)
            d = R @ p_k
            R, o = R @ R_k, o + d
            z, j = R[:, 2], carrier.coordinate
            v_dot = v_dot + cross(omega_dot, d) + cross(omega, cross(omega, d))
            turn = cross(omega, qd[j] * z)
            if carrier.prismatic:
                v_dot = v_dot + qdd[j] * z + 2.0 * turn
            else:
                omega_dot = omega_dot + qdd[j] * z + turn
                omega = omega + qd[j] * z
            axes.append((carrier, z, o))

        to_com = R @ body.com
        v_dot_C = cross(omega_dot, to_com) + cross(omega, cross(omega, to_com)) + v_dot
        J = R @ body.inertia @ R.T
        F = body.mass * v_dot_C
        N = J @ omega_dot + cross(omega, J @ omega)
        # About the body frame's origin, minus the external force.
        moment = N + cross(to_com, F) - R @ external[i, :3]
        force = F - R @ external[i, 3:]
        for carrier, z, o_j in axes:
            effort = z @ force if carrier.prismatic else z @ (moment + cross(o - o_j, force))
            tau[carrier.coordinate] += effort
    return tau


def path_to(bodies: Sequence[Body], number: int) -> list[Body]:
    """Return the bodies on the way from the base to a body, this body last."""
    path = []
    while number:
        path.append(bodies[number - 1])
        number = path[-1].parent
    return path[::-1]
