# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Recurrence relations against sums: why the algorithm is recursive.

In spatial vectors and base coordinates, after R. Featherstone, *Rigid Body Dynamics Algorithms*,
2008, chapter 5. kappa(i) are the bodies from the base to body i, nu(i) those that body i carries.
With recursion, as (5.7) to (5.11)::

    v_i   = v_p + S_i qd_i
    a_i   = a_p + S_i qdd_i + v_i x S_i qd_i                with a_0 = -g
    f_i   = I_i a_i + v_i x* I_i v_i - f_ext + sum of f_c over the children c
    tau_i = S_i^T f_i

Without recursion, every quantity as a sum over the joints and bodies::

    v_i   = sum of S_j qd_j                                 over kappa(i)
    a_i   = sum of (S_j qdd_j + v_j x S_j qd_j)             over kappa(i), plus a_0
    f_i^B = I_i a_i + v_i x* I_i v_i - f_ext
    tau_i = S_i^T sum of f_j^B                              over nu(i)

Let m be the cost of a product S_j qd_j, a that of a sum of two vectors. The velocities of a chain
cost n (m + a) with recursion, and n (n + 1) / 2 m + n (n - 1) / 2 a without. Without recursion and
without storing any sum, the efforts of a chain cost O(n^4): n (n + 1) / 2 forces, in each of which
are up to n accelerations' terms, in each of which is a velocity of up to n terms. With recursion
they cost O(n). :mod:`.nonrecursive` is in between: it stores the sums on the way to one body, and
costs O(n^2). Arguments are as in :mod:`.textbook_tree`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

import numpy as np

from ..arrays import Array
from .nonrecursive import path_to
from .screw import ad, adjoint, inverse
from .textbook_tree import Body, Z


def inverse_dynamics(
    bodies: Sequence[Body], q: Array, qd: Array, qdd: Array, gravity: Array
) -> Array:
    """Return the joint efforts that a motion needs, with recursion, in O(n)."""
    S, inertias = in_base(bodies, q)
    v, a, f = [np.zeros(6)], [np.concatenate([np.zeros(3), -gravity])], [np.zeros(6)]
    for body, S_i, I_i in zip(bodies, S, inertias, strict=True):
        p, j = body.parent, body.coordinate
        v_i = v[p] + S_i * qd[j]                                                       # (5.7)
        a_i = a[p] + S_i * qdd[j] + ad(v_i) @ S_i * qd[j]                              # (5.8)
        v.append(v_i)
        a.append(a_i)
        f.append(I_i @ a_i - ad(v_i).T @ (I_i @ v_i))                                  # (5.9)
    tau = np.zeros_like(q)
    for i in range(len(bodies), 0, -1):
        body = bodies[i - 1]
        tau[body.coordinate] = S[i - 1] @ f[i]                                         # (5.11)
        f[body.parent] = f[body.parent] + f[i]                                         # (5.10)
    return tau


def inverse_dynamics_without_recursion(
    bodies: Sequence[Body], q: Array, qd: Array, qdd: Array, gravity: Array
) -> Array:
    """Return the same efforts without recursion and without storing a sum, in O(n^4)."""
    S, inertias = in_base(bodies, q)
    number = {id(body): i for i, body in enumerate(bodies)}
    kappa = [[number[id(body)] for body in path_to(bodies, i + 1)] for i in range(len(bodies))]
    joint = [body.coordinate for body in bodies]
    a_0 = np.concatenate([np.zeros(3), -gravity])

    def v(i: int) -> Array:
        return reduce(add, [S[j] * qd[joint[j]] for j in kappa[i]])

    def a(i: int) -> Array:
        return reduce(add, [
            S[j] * qdd[joint[j]] + ad(v(j)) @ S[j] * qd[joint[j]] for j in kappa[i]
        ], a_0)

    def net_force(i: int) -> Array:
        return inertias[i] @ a(i) - ad(v(i)).T @ (inertias[i] @ v(i))

    tau = np.zeros_like(q)
    for i in range(len(bodies)):
        nu = [j for j in range(len(bodies)) if i in kappa[j]]
        tau[joint[i]] = S[i] @ reduce(add, [net_force(j) for j in nu])
    return tau


def in_base(bodies: Sequence[Body], q: Array) -> tuple[list[Array], list[Array]]:
    """Return S_i, shape (6,), and I_i, shape (6, 6), of all bodies in base coordinates."""
    poses, S, inertias = [np.eye(4)], [], []
    for body in bodies:
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = body.pose(q)
        pose = poses[body.parent] @ T
        poses.append(pose)
        axis = np.concatenate([np.zeros(3), Z] if body.prismatic else [Z, np.zeros(3)])
        S.append(adjoint(pose) @ axis)
        com = pose.copy()
        com[:3, 3] += pose[:3, :3] @ body.com
        to_com = adjoint(inverse(com))
        about_com = np.block([
            [body.inertia, np.zeros((3, 3))], [np.zeros((3, 3)), body.mass * np.eye(3)]
        ])
        inertias.append(to_com.T @ about_com @ to_com)     # X^T I X, from the com to the base
    return S, inertias
