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
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from .linkage import Body
from .vectors import Z, cross


def inverse_dynamics(
    bodies: Sequence[Body],
    q: Array,
    qd: Array,
    qdd: Array,
    gravity: Array,
    external: Array | None = None,
) -> Array:
    """
    Return the joint efforts that a motion needs.

    :param bodies: bodies of a tree (:func:`~rnea_ros.dynamics.reference.linkage.bodies_of`)
    :param q: joint positions, shape (n,), rad or m
    :param qd: joint velocities, shape (n,)
    :param qdd: joint accelerations, shape (n,)
    :param gravity: acceleration of free fall in the base frame, shape (3,), m/s^2
    :param external: external force on each body, [moment; force] about the body frame's origin, in
        body coordinates, shape (1 + bodies, 6); row 0, for the base, has no effect
    :return: joint efforts, shape (n,), N m or N
    """
    if external is None:
        external = np.zeros((1 + len(bodies), 6))
    poses = [body.pose(q) for body in bodies]
    omega, omega_dot, v_dot = [np.zeros(3)], [np.zeros(3)], [-gravity]
    n, f = [np.zeros(3)], [np.zeros(3)]

    for i, (body, (R, P)) in enumerate(zip(bodies, poses, strict=True), start=1):
        p, j = body.parent, body.coordinate
        omega_i = R.T @ omega[p]
        omega_dot_i = R.T @ omega_dot[p]
        v_dot_i = R.T @ (                                                              # (6.47)
            cross(omega_dot[p], P) + cross(omega[p], cross(omega[p], P)) + v_dot[p]
        )
        if body.prismatic:
            v_dot_i += 2.0 * cross(omega_i, qd[j] * Z) + qdd[j] * Z
        else:
            omega_dot_i += cross(omega_i, qd[j] * Z) + qdd[j] * Z                      # (6.46)
            omega_i += qd[j] * Z                                                       # (6.45)

        P_C, J = body.com, body.inertia
        v_dot_C = cross(omega_dot_i, P_C) + cross(omega_i, cross(omega_i, P_C)) + v_dot_i  # (6.48)
        F = body.mass * v_dot_C                                                        # (6.49)
        N = J @ omega_dot_i + cross(omega_i, J @ omega_i)                              # (6.50)

        omega.append(omega_i)
        omega_dot.append(omega_dot_i)
        v_dot.append(v_dot_i)
        n.append(N + cross(P_C, F) - external[i, :3])
        f.append(F - external[i, 3:])

    tau = np.zeros_like(q)
    for i in range(len(bodies), 0, -1):
        body, (R, P) = bodies[i - 1], poses[i - 1]
        tau[body.coordinate] = (f[i] if body.prismatic else n[i]) @ Z                  # (6.53)
        f_at_parent = R @ f[i]
        f[body.parent] += f_at_parent                                                  # (6.51)
        n[body.parent] += R @ n[i] + cross(P, f_at_parent)                             # (6.52)
    return tau
