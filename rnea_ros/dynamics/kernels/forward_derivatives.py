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
from ...compilation import compiled
from .bodies import BASE, Records

NONE = -1
"""The coordinate that carries those of the first body of a branch."""


@compiled
def from_inverse_dynamics(
    bodies: Records, chains: NDArray[np.int64], X: Array, by_q: Array, by_qd: Array,
    by_third: Array,
) -> None:
    """
    Replace the derivatives of the inverse dynamics by those of the forward dynamics.

    :param bodies: of a tree without mimic joints
    :param chains: working memory, shape (2 nv,)
    :param X: working memory, shape (nv, 3 nv)
    :param by_q: dtau/dq becomes dqdd/dq, shape (nv, nv)
    :param by_qd: dtau/dqd becomes dqdd/dqd, shape (nv, nv)
    :param by_third: M becomes dqdd/dtau, shape (nv, nv)
    """
    nv = by_q.shape[0]
    outwards, carrier = chains[:nv], chains[nv:]
    find_chains(bodies, outwards, carrier)
    # X = M^-1 [-dtau/dq, -dtau/dqd, 1]
    for row in range(nv):
        for column in range(nv):
            X[row, column] = -by_q[row, column]
            X[row, nv + column] = -by_qd[row, column]
            X[row, 2 * nv + column] = 1.0 if row == column else 0.0
    factorise(outwards, carrier, by_third)
    solve(outwards, carrier, by_third, X)
    for row in range(nv):
        for column in range(nv):
            by_q[row, column] = X[row, column]
            by_qd[row, column] = X[row, nv + column]
            by_third[row, column] = X[row, 2 * nv + column]


@compiled
def find_chains(bodies: Records, outwards: NDArray[np.int64], carrier: NDArray[np.int64]) -> None:
    """
    Write the order of the coordinates, and the coordinate that carries each of them.

    :param bodies: of a tree without mimic joints
    :param outwards: coordinates from the base to the leaves, shape (nv,); overwritten
    :param carrier: by coordinate, :data:`NONE` for the base, shape (nv,); overwritten
    """
    step = 0
    for i in range(1, bodies.shape[0]):
        parent = bodies[i]['parent']
        while parent != BASE and bodies[parent]['qd_size'] == 0:
            parent = bodies[parent]['parent']
        last = NONE
        if parent != BASE:
            last = bodies[parent]['qd_index'] + bodies[parent]['qd_size'] - 1
        for column in range(bodies[i]['qd_size']):
            k = bodies[i]['qd_index'] + column
            outwards[step], carrier[k] = k, last
            step += 1
            last = k


@compiled
def factorise(outwards: NDArray[np.int64], carrier: NDArray[np.int64], M: Array) -> None:
    """
    Replace a mass matrix by its factors L and D with M = L^T D L (Featherstone 2008, table 6.3).

    M_ij is zero unless one of the joints carries the other. This factorisation, from the leaves
    to the base, keeps these zeros; that of Cholesky would not. M_kk becomes D_kk, M_ki becomes
    L_ki if i carries k.
    """
    for step in range(len(outwards) - 1, -1, -1):
        k = outwards[step]
        i, over_D = carrier[k], 1.0 / M[k, k]
        while i != NONE:
            L_ki = M[k, i] * over_D
            j = i
            while j != NONE:
                M[i, j] -= L_ki * M[k, j]
                j = carrier[j]
            M[k, i] = L_ki
            i = carrier[i]


@compiled
def solve(outwards: NDArray[np.int64], carrier: NDArray[np.int64], L: Array, X: Array) -> None:
    """Replace X, shape (nv, m), by M^-1 X; few long rows are faster than many short ones."""
    # X = L^-T X
    for step in range(len(outwards) - 1, -1, -1):
        k = outwards[step]
        i = carrier[k]
        while i != NONE:
            _subtract_row(X[i], L[k, i], X[k])
            i = carrier[i]
    # X = L^-1 D^-1 X
    for step in range(len(outwards)):
        k = outwards[step]
        row, over_D = X[k], 1.0 / L[k, k]
        for column in range(len(row)):
            row[column] *= over_D
        i = carrier[k]
        while i != NONE:
            _subtract_row(row, L[k, i], X[i])
            i = carrier[i]


@compiled
def _subtract_row(row: Array, factor: float, other: Array) -> None:
    """Subtract a multiple of another row from a row."""
    for column in range(len(row)):
        row[column] -= factor * other[column]
