# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The recursive Newton-Euler algorithm of a serial chain in twists and wrenches.

K. M. Lynch and F. C. Park, *Modern Robotics*, 2017, section 8.3; symbols and equation numbers are
the book's. Frame {i} is at the centre of mass of link i, frame {0} is the base, frame {n + 1} the
tip. A twist is V = (omega, v), a wrench F = (m, f). At joint position 0, M_{i,i-1} is the pose of
frame {i - 1} in frame {i}. A_i is the screw axis of joint i in frame {i}, G_i the link's inertia.

Outwards, with V_0 = 0 and V_dot_0 = (0, -g)::

    T_{i,i-1} = exp(-[A_i] theta_i) M_{i,i-1}                                          (8.50)
    V_i       = Ad(T_{i,i-1}) V_{i-1} + A_i dtheta_i                                   (8.51)
    V_dot_i   = Ad(T_{i,i-1}) V_dot_{i-1} + ad(V_i) A_i dtheta_i + A_i ddtheta_i       (8.52)

Inwards, with F_{n+1} = F_tip::

    F_i   = Ad(T_{i+1,i})^T F_{i+1} + G_i V_dot_i - ad(V_i)^T G_i V_i                  (8.53)
    tau_i = F_i^T A_i                                                                  (8.54)

F_tip is the wrench of the tip on the environment, the opposite of an external wrench.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ..tree import Placement
from .linkage import Body
from .vectors import Z, cross, skew


@dataclass(frozen=True)
class ScrewChain:
    """
    A serial chain as the book describes it.

    :param M: poses M_{1,0} to M_{n+1,n} at joint position 0, homogeneous, shape (n + 1, 4, 4)
    :param A: screw axes A_1 to A_n, shape (n, 6); the angular part is a unit vector, or is zero
        and the linear part is one
    :param G: spatial inertias G_1 to G_n, shape (n, 6, 6)
    """

    M: Array
    A: Array
    G: Array


def screw_chain(bodies: Sequence[Body], tip: Placement) -> ScrewChain:
    """
    Return a serial chain with its frames moved to the centres of mass.

    :param bodies: bodies of a serial chain (:func:`~rnea_ros.dynamics.reference.linkage.chain_of`)
    :param tip: pose of the tip frame in the last body's frame
    """
    M, A, G = [], [], []
    com_of_parent = np.zeros(3)
    for body in bodies:
        # {i} in {i - 1}: both origins are moved by a centre of mass.
        R, p = body.rotation, body.position + body.rotation @ body.com - com_of_parent
        M.append(Placement(R, p).inverse().matrix())
        # The axis passes through the body frame's origin, at -com in frame {i}.
        A.append(np.concatenate(
            [np.zeros(3), Z] if body.prismatic else [Z, cross(Z, body.com)]
        ))
        G.append(np.block([
            [body.inertia, np.zeros((3, 3))], [np.zeros((3, 3)), body.mass * np.eye(3)]
        ]))
        com_of_parent = body.com
    tip_in_last = Placement(tip.rotation, tip.translation - com_of_parent)
    M.append(tip_in_last.inverse().matrix())
    return ScrewChain(np.array(M), np.array(A), np.array(G))


def inverse_dynamics(
    chain: ScrewChain, theta: Array, dtheta: Array, ddtheta: Array, gravity: Array, F_tip: Array
) -> Array:
    """
    Return the joint efforts that a motion needs.

    :param chain: the serial chain
    :param theta: joint positions, shape (n,), rad or m
    :param dtheta: joint velocities, shape (n,)
    :param ddtheta: joint accelerations, shape (n,)
    :param gravity: acceleration of free fall in the base frame, shape (3,), m/s^2
    :param F_tip: wrench of the tip on the environment, [moment; force] in the tip frame, (6,)
    :return: joint efforts, shape (n,), N m or N
    """
    A, G, n = chain.A, chain.G, len(chain.A)
    Ad = adjoints(chain, theta)
    V, V_dot = [np.zeros(6)], [np.concatenate([np.zeros(3), -gravity])]
    for i in range(n):
        V.append(Ad[i] @ V[-1] + A[i] * dtheta[i])                                     # (8.51)
        V_dot.append(                                                                  # (8.52)
            Ad[i] @ V_dot[-1] + ad(V[-1]) @ A[i] * dtheta[i] + A[i] * ddtheta[i]
        )
    tau = np.zeros(n)
    F = F_tip
    for i in range(n - 1, -1, -1):
        V_i, V_dot_i = V[i + 1], V_dot[i + 1]
        F = Ad[i + 1].T @ F + G[i] @ V_dot_i - ad(V_i).T @ G[i] @ V_i                  # (8.53)
        tau[i] = F @ A[i]                                                              # (8.54)
    return tau


def adjoints(chain: ScrewChain, theta: Array) -> list[Array]:
    """
    Return Ad(T_{1,0}) to Ad(T_{n+1,n}), which transform twists from each frame to the next.

    :param chain: the serial chain
    :param theta: joint positions, shape (n,), rad or m
    """
    T = [
        exponential(A_i, -theta_i) @ M_i                                               # (8.50)
        for A_i, theta_i, M_i in zip(chain.A, theta, chain.M[:-1], strict=True)
    ]
    return [adjoint(T_i) for T_i in (*T, chain.M[-1])]


def exponential(S: Array, theta: float) -> Array:
    """
    Return exp([S] theta), the displacement along a screw axis (section 3.3.3).

    :param S: screw axis, shape (6,)
    :param theta: how far, rad or m
    :return: homogeneous, shape (4, 4)
    """
    T = np.eye(4)
    K = skew(S[:3])
    K2 = K @ K
    T[:3, :3] += np.sin(theta) * K + (1.0 - np.cos(theta)) * K2
    T[:3, 3] = theta * S[3:] + (1.0 - np.cos(theta)) * K @ S[3:]
    T[:3, 3] += (theta - np.sin(theta)) * K2 @ S[3:]
    return T


def adjoint(T: Array) -> Array:
    """
    Return Ad(T), shape (6, 6) (section 3.3.2).

    :param T: homogeneous, shape (4, 4)
    """
    R, p = T[:3, :3], T[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [skew(p) @ R, R]])


def ad(V: Array) -> Array:
    """
    Return the matrix of the Lie bracket with V, ad_V U = [V, U], shape (6, 6) (section 8.2.2).

    :param V: twist, shape (6,)
    """
    return np.block([[skew(V[:3]), np.zeros((3, 3))], [skew(V[3:]), skew(V[:3])]])
