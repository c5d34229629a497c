# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The recursive Newton-Euler algorithm of a serial chain in twists and wrenches.

K. M. Lynch and F. C. Park, *Modern Robotics*, 2017, section 8.3; symbols and equation numbers are
the book's. Frame {i} is at the centre of mass of link i, frame {0} is the base, frame {n + 1} the
tip. A twist is V = (omega, v), a wrench F = (m, f). At joint position 0, M_{i,i-1} is the pose of
frame {i - 1} in frame {i}. A_i is the screw axis of joint i in frame {i}, G_i the link's inertia.

Outwards, with V_0 = 0 and V_dot_0 = (0, -g) for a base at rest::

    T_{i,i-1} = exp(-[A_i] theta_i) M_{i,i-1}                                          (8.50)
    V_i       = Ad(T_{i,i-1}) V_{i-1} + A_i dtheta_i                                   (8.51)
    V_dot_i   = Ad(T_{i,i-1}) V_dot_{i-1} + ad(V_i) A_i dtheta_i + A_i ddtheta_i       (8.52)

Inwards, with F_{n+1} = F_tip::

    F_i   = Ad(T_{i+1,i})^T F_{i+1} + G_i V_dot_i - ad(V_i)^T G_i V_i                  (8.53)
    tau_i = F_i^T A_i                                                                  (8.54)

F_tip is the wrench of the tip on the environment, the opposite of an external wrench. A moving
base has the twist V_0, and V_dot_0 is the rate of its numbers, in frame {0}, plus (0, -g).

The arguments of the functions, here and in :mod:`.closed_form`:

- ``chain``: the serial chain
- ``theta``, ``dtheta``, ``ddtheta``: joint positions, rad or m, velocities and accelerations,
  shape (n,) each
- ``gravity``: acceleration of free fall in the base frame, shape (3,), m/s^2
- ``F_tip``: wrench of the tip on the environment, [moment; force] in the tip frame, shape (6,)
- ``V_0``, ``V_dot_0``: twist of the base and its rate without gravity, in frame {0}, shape (6,);
  zero for a base at rest
- ``T``: a pose or displacement, homogeneous, shape (4, 4); ``V``: a twist, shape (6,)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, finite_array
from ..dynamics.tree import Placement
from .textbook_tree import Body, Z, cross, skew

AT_REST = np.zeros(6)
"""The twist of a base at rest, and its rate."""
AT_REST.setflags(write=False)


@dataclass(frozen=True)
class ScrewChain:
    """
    A serial chain as the book describes it.

    :param M: poses M_{1,0} to M_{n+1,n} at joint position 0, homogeneous, shape (n + 1, 4, 4)
    :param A: screw axes A_1 to A_n, shape (n, 6); the angular part is a unit vector, or is zero
        and the linear part is one (:func:`chain_of_lists` permits other lengths)
    :param G: spatial inertias G_1 to G_n, shape (n, 6, 6)
    """

    M: Array
    A: Array
    G: Array


def screw_chain(bodies: Sequence[Body], tip: Placement) -> ScrewChain:
    """
    Return a serial chain with its frames moved to the centres of mass.

    :param bodies: bodies of a serial chain
        (:func:`~rnea_ros.textbook.textbook_tree.chain_of`)
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


def chain_of_lists(Mlist: ArrayLike, Slist: ArrayLike, Glist: ArrayLike) -> ScrewChain:
    """
    Return a serial chain from home poses, screws and spatial inertias.

    They are the arguments of ``InverseDynamics`` in the book's own code. A screw whose angular
    part is not a unit vector is permitted: its joint position counts in units of 1 / length rad.

    :param Mlist: poses M_{0,1} to M_{n,n+1} of frame {i} in frame {i - 1} at joint position 0,
        shape (n + 1, 4, 4)
    :param Slist: screw axes S_1 to S_n in frame {0} at joint position 0, as columns, shape (6, n)
    :param Glist: spatial inertias G_1 to G_n in frames {1} to {n}, shape (n, 6, 6)
    :raises InputError: another shape, or a number that is not finite
    """
    S = finite_array('Slist', Slist, (6, None)).T
    steps = finite_array('Mlist', Mlist, (len(S) + 1, 4, 4))
    G = finite_array('Glist', Glist, (len(S), 6, 6))
    A, M_0i = [], np.eye(4)
    for step, S_i in zip(steps[:-1], S, strict=True):
        M_0i = M_0i @ step
        A.append(adjoint(inverse(M_0i)) @ S_i)           # A_i = Ad(M_0i^-1) S_i
    return ScrewChain(
        M=np.array([inverse(step) for step in steps]), A=np.array(A).reshape(-1, 6), G=G
    )


def inverse_dynamics(
    chain: ScrewChain, theta: Array, dtheta: Array, ddtheta: Array, gravity: Array, F_tip: Array,
    V_0: Array = AT_REST, V_dot_0: Array = AT_REST,
) -> Array:
    """Return the joint efforts that a motion needs, shape (n,), N m or N."""
    A, G, n = chain.A, chain.G, len(chain.A)
    Ad = adjoints(chain, theta)
    V, V_dot = [V_0], [V_dot_0 + np.concatenate([np.zeros(3), -gravity])]
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
    """Return Ad(T_{1,0}) to Ad(T_{n+1,n}), which transform twists from each frame to the next."""
    T = [
        exponential(A_i, -theta_i) @ M_i                                               # (8.50)
        for A_i, theta_i, M_i in zip(chain.A, theta, chain.M[:-1], strict=True)
    ]
    return [adjoint(T_i) for T_i in (*T, chain.M[-1])]


def exponential(S: Array, theta: float) -> Array:
    """
    Return exp([S] theta), the displacement along a screw axis (section 3.3.3).

    :param S: screw axis, shape (6,), its angular part of any length
    :param theta: how far, rad or m
    :return: homogeneous, shape (4, 4)
    """
    T = np.eye(4)
    length = float(np.linalg.norm(S[:3]))
    if length > 0.0:
        S, theta = S / length, theta * length
    K = skew(S[:3])
    K2 = K @ K
    T[:3, :3] += np.sin(theta) * K + (1.0 - np.cos(theta)) * K2
    T[:3, 3] = theta * S[3:] + (1.0 - np.cos(theta)) * K @ S[3:]
    T[:3, 3] += (theta - np.sin(theta)) * K2 @ S[3:]
    return T


def inverse(T: Array) -> Array:
    """Return T^-1 (section 3.3.1)."""
    return Placement(T[:3, :3], T[:3, 3]).inverse().matrix()


def adjoint(T: Array) -> Array:
    """Return Ad(T), shape (6, 6) (section 3.3.2)."""
    R, p = T[:3, :3], T[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [skew(p) @ R, R]])


def ad(V: Array) -> Array:
    """Return the matrix of the Lie bracket, ad_V U = [V, U], shape (6, 6) (section 8.2.2)."""
    return np.block([[skew(V[:3]), np.zeros((3, 3))], [skew(V[3:]), skew(V[:3])]])
