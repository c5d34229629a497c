# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Derivatives of the forward dynamics by q, qd and tau.

tau = ID(q, qd, FD(q, qd, tau)) holds for every q, qd and tau. Its derivatives, with those of the
inverse dynamics at the acceleration qdd, are (Carpentier and Mansard 2018)::

    dqdd/dq = -M^-1 dtau/dq,  dqdd/dqd = -M^-1 dtau/dqd,  dqdd/dtau = M^-1
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ..compilation import compiled
from .bodies import BASE


@compiled
def from_inverse_dynamics(
    bodies: NDArray[np.void], X: Array, by_q: Array, by_qd: Array, by_third: Array
) -> None:
    """
    Replace the derivatives of the inverse dynamics by those of the forward dynamics.

    :param bodies: of a tree without mimic joints
    :param X: working memory, shape (nv, 3 nv)
    :param by_q: dtau/dq becomes dqdd/dq, shape (nv, nv)
    :param by_qd: dtau/dqd becomes dqdd/dqd, shape (nv, nv)
    :param by_third: M becomes dqdd/dtau, shape (nv, nv)
    """
    # X = M^-1 [-dtau/dq, -dtau/dqd, 1]
    nv = by_q.shape[0]
    for row in range(nv):
        for column in range(nv):
            X[row, column] = -by_q[row, column]
            X[row, nv + column] = -by_qd[row, column]
            X[row, 2 * nv + column] = 1.0 if row == column else 0.0
    factorise(bodies, by_third)
    solve(bodies, by_third, X)
    for row in range(nv):
        for column in range(nv):
            by_q[row, column] = X[row, column]
            by_qd[row, column] = X[row, nv + column]
            by_third[row, column] = X[row, 2 * nv + column]


@compiled
def factorise(bodies: NDArray[np.void], M: Array) -> None:
    """
    Replace a mass matrix by its factors L and D with M = L^T D L (Featherstone 2008, table 6.3).

    M_ij is zero unless one of the joints carries the other. This factorisation, from the leaves
    to the base, keeps these zeros; that of Cholesky would not.

    :param bodies: of a tree without mimic joints
    :param M: shape (nv, nv); its lower triangle, of each coordinate with those that carry it,
        becomes L, its diagonal D
    """
    for body_k in range(bodies.shape[0] - 1, 0, -1):
        for column_k in range(bodies[body_k]['dofs'] - 1, -1, -1):
            k = bodies[body_k]['dof'] + column_k
            over_D = 1.0 / M[k, k]
            body_i, column_i = carrier_of(bodies, body_k, column_k)
            while body_i != BASE:
                i = bodies[body_i]['dof'] + column_i
                L_ki = M[k, i] * over_D
                body_j, column_j = body_i, column_i
                while body_j != BASE:
                    j = bodies[body_j]['dof'] + column_j
                    # M_ij = M_ij - L_ki M_kj
                    M[i, j] -= L_ki * M[k, j]
                    body_j, column_j = carrier_of(bodies, body_j, column_j)
                M[k, i] = L_ki
                body_i, column_i = carrier_of(bodies, body_i, column_i)


@compiled
def solve(bodies: NDArray[np.void], L: Array, X: Array) -> None:
    """
    Replace X by M^-1 X.

    :param bodies: of a tree without mimic joints
    :param L: factors of M that :func:`factorise` wrote
    :param X: shape (nv, m); long rows are the fastest
    """
    # X = L^-T X
    for body_k in range(bodies.shape[0] - 1, 0, -1):
        for column_k in range(bodies[body_k]['dofs'] - 1, -1, -1):
            k = bodies[body_k]['dof'] + column_k
            body_i, column_i = carrier_of(bodies, body_k, column_k)
            while body_i != BASE:
                i = bodies[body_i]['dof'] + column_i
                _subtract_row(X, i, L[k, i], k)
                body_i, column_i = carrier_of(bodies, body_i, column_i)
    # X = L^-1 D^-1 X
    for body_k in range(1, bodies.shape[0]):
        for column_k in range(bodies[body_k]['dofs']):
            k = bodies[body_k]['dof'] + column_k
            _scale_row(X, k, 1.0 / L[k, k])
            body_i, column_i = carrier_of(bodies, body_k, column_k)
            while body_i != BASE:
                i = bodies[body_i]['dof'] + column_i
                _subtract_row(X, k, L[k, i], i)
                body_i, column_i = carrier_of(bodies, body_i, column_i)


@compiled
def carrier_of(bodies: NDArray[np.void], i: int, k: int) -> tuple[int, int]:
    """Return body and column of the coordinate that carries column k of body i; BASE for none."""
    if k > 0:
        return i, k - 1
    i = bodies[i]['parent']
    while i != BASE and bodies[i]['dofs'] == 0:
        i = bodies[i]['parent']
    return i, bodies[i]['dofs'] - 1


@compiled
def _subtract_row(X: Array, row: int, factor: float, other: int) -> None:
    """Subtract a multiple of another row from a row."""
    x, y = X[row], X[other]
    for column in range(len(x)):
        x[column] -= factor * y[column]


@compiled
def _scale_row(X: Array, row: int, factor: float) -> None:
    """Multiply a row."""
    x = X[row]
    for column in range(len(x)):
        x[column] *= factor
