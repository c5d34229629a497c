# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The classical recursive Newton-Euler algorithm, in vectors of three dimensions.

J. Y. S. Luh, M. W. Walker and R. P. C. Paul, *On-line computational scheme for mechanical
manipulators*, ASME J. Dyn. Syst. Meas. Control 102 (1980); here with the symbols and equation
numbers of J. J. Craig, *Introduction to Robotics*, 3rd ed., section 6.5, whose frame i has its
z axis along joint i, as here. (B. Siciliano et al., *Robotics: Modelling, Planning and
Control*, 2009, equations (7.107) to (7.114), place frame i at joint i + 1.)

R and P are the rotation and the origin of frame i in its parent's frame p, Z is the joint's axis,
P_C the centre of mass. Outwards, from the base to the tips, for a revolute joint::

    omega_i     = R^T omega_p + qd Z                                                   (6.45)
    omega_dot_i = R^T omega_dot_p + R^T omega_p x qd Z + qdd Z                         (6.46)
    v_dot_i     = R^T (omega_dot_p x P + omega_p x (omega_p x P) + v_dot_p)            (6.47)

and for a prismatic one::

    omega_i = R^T omega_p,   omega_dot_i = R^T omega_dot_p
    v_dot_i = R^T (omega_dot_p x P + omega_p x (omega_p x P) + v_dot_p)
              + 2 omega_i x qd Z + qdd Z

Then the force that the motion needs, with v_dot_0 = -g in place of gravity on every body::

    v_dot_C = omega_dot_i x P_C + omega_i x (omega_i x P_C) + v_dot_i                  (6.48)
    F_i     = m v_dot_C                                                                (6.49)
    N_i     = J omega_dot_i + omega_i x J omega_i                                      (6.50)

Inwards, from the tips to the base, summed over the children c of body i::

    f_i   = F_i - f_ext + sum R_c f_c                                                  (6.51)
    n_i   = N_i + P_C x F_i - n_ext + sum (R_c n_c + P_c x R_c f_c)                    (6.52)
    tau_i = n_i . Z for a revolute joint, f_i . Z for a prismatic one                  (6.53)

The classical exercise, F_i and N_i of every link and the reactions f_i and n_i of every joint, is
:func:`link_forces`. Gravity is inside v_dot_0, thus also inside v_dot_C, F, f and n.

The terms of the equation of motion, tau = M(q) qdd + c(q, qd) + g(q) - J^T f_ext, follow from
calls of inverse dynamics ID in which all but one of them vanish::

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
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from .textbook_tree import Body, Z, cross

WEIGHTLESS = np.zeros(3)


@dataclass(frozen=True)
class LinkForces:
    """
    The quantities of every body, each in its own coordinates, shape (1 + bodies, 3).

    Row 0 is the base. Its f and n are those that the base exerts on the robot in all.

    :param omega: angular velocity, rad/s
    :param omega_dot: angular acceleration, rad/s^2
    :param v_dot: acceleration of the frame's origin, minus gravity, m/s^2
    :param v_dot_com: v_dot_C, acceleration of the centre of mass, minus gravity, m/s^2; zero for
        the base
    :param F: force that this motion needs, N; zero for the base
    :param N: moment that this motion needs, about the centre of mass, N m; zero for the base
    :param f: force of the parent on the body, through the joint, N
    :param n: moment of the parent on the body, about the frame's origin, N m
    """

    omega: Array
    omega_dot: Array
    v_dot: Array
    v_dot_com: Array
    F: Array
    N: Array
    f: Array
    n: Array


def inverse_dynamics(
    bodies: Sequence[Body], q: Array, qd: Array, qdd: Array, gravity: Array,
    external: Array | None = None,
) -> Array:
    """Return the joint efforts that a motion needs, shape (n,), N m or N."""
    forces = link_forces(bodies, q, qd, qdd, gravity, external)
    tau = np.zeros_like(q)
    for i, body in enumerate(bodies, start=1):
        tau[body.coordinate] = (forces.f[i] if body.prismatic else forces.n[i]) @ Z    # (6.53)
    return tau


def link_forces(
    bodies: Sequence[Body], q: Array, qd: Array, qdd: Array, gravity: Array,
    external: Array | None = None,
) -> LinkForces:
    """Return accelerations, forces and moments of every body."""
    if external is None:
        external = np.zeros((1 + len(bodies), 6))
    poses = [body.pose(q) for body in bodies]
    omega, omega_dot, v_dot = [np.zeros(3)], [np.zeros(3)], [-gravity]
    v_dot_com, F, N = [np.zeros(3)], [np.zeros(3)], [np.zeros(3)]
    f, n = [np.zeros(3)], [np.zeros(3)]

    for i, (body, (R, P)) in enumerate(zip(bodies, poses, strict=True), start=1):
        p, j = body.parent, body.coordinate
        omega_i = R.T @ omega[p]
        omega_dot_i = R.T @ omega_dot[p]
        v_dot_i = R.T @ (                                                              # (6.47)
            cross(omega_dot[p], P) + cross(omega[p], cross(omega[p], P)) + v_dot[p]
        )
        if body.prismatic:
            v_dot_i = v_dot_i + 2.0 * cross(omega_i, qd[j] * Z) + qdd[j] * Z
        else:
            omega_dot_i = omega_dot_i + cross(omega_i, qd[j] * Z) + qdd[j] * Z         # (6.46)
            omega_i = omega_i + qd[j] * Z                                              # (6.45)

        P_C, J = body.com, body.inertia
        v_dot_C = cross(omega_dot_i, P_C) + cross(omega_i, cross(omega_i, P_C)) + v_dot_i  # (6.48)
        F_i = body.mass * v_dot_C                                                      # (6.49)
        N_i = J @ omega_dot_i + cross(omega_i, J @ omega_i)                            # (6.50)

        for quantity, value in zip(
            (omega, omega_dot, v_dot, v_dot_com, F, N),
            (omega_i, omega_dot_i, v_dot_i, v_dot_C, F_i, N_i),
            strict=True,
        ):
            quantity.append(value)
        f.append(F_i - external[i, 3:])
        n.append(N_i + cross(P_C, F_i) - external[i, :3])

    for i in range(len(bodies), 0, -1):
        R, P = poses[i - 1]
        p = bodies[i - 1].parent
        f_at_parent = R @ f[i]
        f[p] = f[p] + f_at_parent                                                      # (6.51)
        n[p] = n[p] + R @ n[i] + cross(P, f_at_parent)                                 # (6.52)
    return LinkForces(*map(np.array, (omega, omega_dot, v_dot, v_dot_com, F, N, f, n)))


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
