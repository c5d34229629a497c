# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Derivatives of the forward dynamics by q, qd and tau.

tau = ID(q, qd, FD(q, qd, tau)) holds for every q, qd and tau. Its derivatives are (Carpentier and
Mansard 2018)

    dqdd/dq = -M^-1 dtau/dq,  dqdd/dqd = -M^-1 dtau/dqd,  dqdd/dtau = M^-1

with those of the inverse dynamics at the acceleration qdd.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ..compilation import compiled
from . import aba
from .bodies import BASE
from .derivatives import inverse_dynamics_derivatives
from .simd import add_to, number, put


@compiled
def forward_dynamics_derivatives(
    bodies: NDArray[np.void],
    articulated: NDArray[np.void],
    branches: NDArray[np.void],
    q: Array,
    qd: Array,
    tau: Array,
    qdd: Array,
    L: Array,
    X: Array,
    by_q: Array,
    by_qd: Array,
    by_tau: Array,
) -> None:
    """
    Write the derivatives of the joint accelerations by q, qd and tau.

    Held constant are the motion of the base and, in body coordinates, external forces.

    :param bodies: as for :func:`.aba.forward_dynamics`: no mimic joints
    :param articulated: one record for each body, of dtype :func:`.aba.articulated_dtype`
    :param branches: one record for each body, of dtype :func:`.derivatives.branch_dtype`
    :param q: joint positions, shape (nq,), rad or m
    :param qd: joint velocities, shape (nv,), rad/s or m/s
    :param tau: joint efforts, shape (nv,), N m or N
    :param qdd: joint accelerations, shape (nv,), rad/s^2 or m/s^2; overwritten
    :param L: working memory, shape (nv, nv)
    :param X: working memory, shape (nv, 3 nv)
    :param by_q: dqdd/dq, shape (nv, nv), by the velocity coordinates of q; overwritten
    :param by_qd: dqdd/dqd, shape (nv, nv); overwritten
    :param by_tau: dqdd/dtau, shape (nv, nv); overwritten
    """
    aba.forward_dynamics(bodies, articulated, q, qd, tau, qdd)
    inverse_dynamics_derivatives(bodies, branches, q, qd, qdd, by_q, by_qd, L)
    factorise(bodies, L)
    # X = M^-1 [-dtau/dq, -dtau/dqd, 1]
    nv = L.shape[0]
    for row in range(nv):
        for column in range(nv):
            put(X, (row, column), -number(by_q, (row, column)))
            put(X, (row, nv + column), -number(by_qd, (row, column)))
            put(X, (row, 2 * nv + column), 1.0 if row == column else 0.0)
    solve(bodies, L, X)
    for row in range(nv):
        for column in range(nv):
            put(by_q, (row, column), number(X, (row, column)))
            put(by_qd, (row, column), number(X, (row, nv + column)))
            put(by_tau, (row, column), number(X, (row, 2 * nv + column)))


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
            over_D = 1.0 / number(M, (k, k))
            body_i, column_i = carrier_of(bodies, body_k, column_k)
            while body_i != BASE:
                i = bodies[body_i]['dof'] + column_i
                L_ki = number(M, (k, i)) * over_D
                body_j, column_j = body_i, column_i
                while body_j != BASE:
                    j = bodies[body_j]['dof'] + column_j
                    # M_ij = M_ij - L_ki M_kj
                    put(M, (i, j), number(M, (i, j)) - L_ki * number(M, (k, j)))
                    body_j, column_j = carrier_of(bodies, body_j, column_j)
                put(M, (k, i), L_ki)
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
                _subtract_row(X, i, number(L, (k, i)), k)
                body_i, column_i = carrier_of(bodies, body_i, column_i)
    # X = L^-1 D^-1 X
    for body_k in range(1, bodies.shape[0]):
        for column_k in range(bodies[body_k]['dofs']):
            k = bodies[body_k]['dof'] + column_k
            _scale_row(X, k, 1.0 / number(L, (k, k)))
            body_i, column_i = carrier_of(bodies, body_k, column_k)
            while body_i != BASE:
                i = bodies[body_i]['dof'] + column_i
                _subtract_row(X, k, number(L, (k, i)), i)
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
    for column in range(X.shape[1]):
        add_to(X, (row, column), -factor * number(X, (other, column)))


@compiled
def _scale_row(X: Array, row: int, factor: float) -> None:
    """Multiply a row."""
    for column in range(X.shape[1]):
        put(X, (row, column), factor * number(X, (row, column)))
