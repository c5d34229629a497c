# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The equation of motion of a serial chain in closed form, by stacking the recursion's steps.

K. M. Lynch and F. C. Park, *Modern Robotics*, 2017, section 8.4; symbols are the book's. Stack
the twists of all links in V and the wrenches in F, both of shape (6 n,). Put on the diagonal of
block matrices the screw axes in A, of shape (6 n, n), the inertias in G, the matrices ad(V_i) in
ad_V and ad(A_i dtheta_i) in ad_Adtheta. W(theta) has Ad(T_{i,i-1}) in block row i, column i - 1,
and zeros elsewhere. The recursion (8.51) to (8.54) is then four equations::

    V     = W V + A dtheta + V_base
    V_dot = W V_dot + A ddtheta - ad_Adtheta (W V + V_base) + V_dot_base
    F     = W^T F + G V_dot - ad_V^T G V + F_tip
    tau   = A^T F

where V_base and V_dot_base hold Ad(T_{1,0}) V_0 and Ad(T_{1,0}) V_dot_0 in their first blocks,
F_tip holds Ad(T_{n+1,n})^T F_tip in its last. A base at rest has V_0 = 0 and V_dot_0 = (0, -g).
W transforms every twist to the next link outwards, so that W^n = 0; hence, for a base at
rest::

    L(theta) = (I - W)^-1 = I + W + W^2 + ... + W^(n-1)

    M(theta)         = A^T L^T G L A
    c(theta, dtheta) = -A^T L^T (G L ad_Adtheta W + ad_V^T G) L A dtheta
    g(theta)         = A^T L^T G L V_dot_base
    J^T F_tip        = A^T L^T F_tip

    tau = M ddtheta + c + g + J^T F_tip

On a moving base, V = L (A dtheta + V_base), V_dot_base contains the rate of V_0, and::

    c = -A^T L^T (G L ad_Adtheta (W V + V_base) + ad_V^T G V)

Arguments are as in :mod:`.screw`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Array
from .screw import AT_REST, ScrewChain, ad, adjoints


def inverse_dynamics(
    chain: ScrewChain, theta: Array, dtheta: Array, ddtheta: Array, gravity: Array, F_tip: Array,
    V_0: Array = AT_REST, V_dot_0: Array = AT_REST,
) -> Array:
    """Return the joint efforts that a motion needs, as the sum of four terms, shape (n,)."""
    return (
        mass_matrix(chain, theta) @ ddtheta
        + coriolis_torques(chain, theta, dtheta, V_0)
        + gravity_torques(chain, theta, gravity, V_dot_0)
        + tip_torques(chain, theta, F_tip)
    )


def mass_matrix(chain: ScrewChain, theta: Array) -> Array:
    """Return M(theta), shape (n, n)."""
    LA = outward_sum(outward_step(chain, theta)) @ stacked_axes(chain)
    M: Array = LA.T @ block_diagonal(chain.G) @ LA
    return M


def coriolis_torques(
    chain: ScrewChain, theta: Array, dtheta: Array, V_0: Array = AT_REST
) -> Array:
    """Return c(theta, dtheta), the Coriolis and centrifugal efforts, shape (n,)."""
    W = outward_step(chain, theta)
    L, A, G = outward_sum(W), stacked_axes(chain), block_diagonal(chain.G)
    V_base = stacked_base(chain, theta, V_0)
    V = L @ (A @ dtheta + V_base)
    ad_V = block_diagonal([ad(V_i) for V_i in V.reshape(-1, 6)])
    ad_Adtheta = block_diagonal([ad(V_i) for V_i in (A @ dtheta).reshape(-1, 6)])
    c: Array = -A.T @ L.T @ (G @ L @ ad_Adtheta @ (W @ V + V_base) + ad_V.T @ G @ V)
    return c


def gravity_torques(
    chain: ScrewChain, theta: Array, gravity: Array, V_dot_0: Array = AT_REST
) -> Array:
    """Return g(theta), the efforts that hold the robot still, shape (n,)."""
    L, A, G = outward_sum(outward_step(chain, theta)), stacked_axes(chain), block_diagonal(chain.G)
    V_dot_base = stacked_base(chain, theta, V_dot_0 + np.concatenate([np.zeros(3), -gravity]))
    g: Array = A.T @ L.T @ G @ L @ V_dot_base
    return g


def tip_torques(chain: ScrewChain, theta: Array, F_tip: Array) -> Array:
    """Return J(theta)^T F_tip, the efforts that a wrench at the tip needs, shape (n,)."""
    L, A = outward_sum(outward_step(chain, theta)), stacked_axes(chain)
    stacked_F_tip = np.zeros(len(A))
    stacked_F_tip[-6:] = adjoints(chain, theta)[-1].T @ F_tip
    efforts: Array = A.T @ L.T @ stacked_F_tip
    return efforts


def outward_step(chain: ScrewChain, theta: Array) -> Array:
    """Return W(theta), which transforms every link's twist to the next link, shape (6 n, 6 n)."""
    Ad, n = adjoints(chain, theta), len(chain.A)
    W = np.zeros((6 * n, 6 * n))
    for i in range(1, n):
        W[6 * i:6 * i + 6, 6 * i - 6:6 * i] = Ad[i]
    return W


def outward_sum(W: Array) -> Array:
    """Return L = I + W + W^2 + ... + W^(n-1), shape (6 n, 6 n)."""
    one = np.eye(len(W))
    L = one
    for _ in range(len(W) // 6 - 1):
        L = one + W @ L
    return L


def stacked_base(chain: ScrewChain, theta: Array, twist: Array) -> Array:
    """
    Return V_base or V_dot_base, the base's share of the first link's twist, shape (6 n,).

    :param twist: V_0 or V_dot_0, in frame {0}, shape (6,)
    """
    stacked = np.zeros(6 * len(chain.A))
    stacked[:6] = adjoints(chain, theta)[0] @ twist
    return stacked


def stacked_axes(chain: ScrewChain) -> Array:
    """Return A, the screw axes of all joints, shape (6 n, n)."""
    return block_diagonal(chain.A[:, :, np.newaxis])


def block_diagonal(blocks: Sequence[Array] | Array) -> Array:
    """Return a matrix with blocks of one shape on its diagonal."""
    count, (rows, columns) = len(blocks), np.shape(blocks)[1:]
    matrix = np.zeros((count, rows, count, columns))
    for i, block in enumerate(blocks):
        matrix[i, :, i, :] = block
    return matrix.reshape(count * rows, count * columns)
