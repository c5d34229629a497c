# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Derivatives of the inverse dynamics by q, qd and qdd, and of the forward dynamics from them.

After J. Carpentier and N. Mansard, *Analytical derivatives of rigid body dynamics algorithms*,
Robotics: Science and Systems, 2018. The derivative by q_k is the derivative along a small motion
of the joint at unit velocity of coordinate k: quaternions need no special case.

The velocity and acceleration of body i are v_i = v_p + S qd and a_i = a_p + S qdd + v_p x S qd,
where p is its parent. A change of q_k displaces joint k, and all bodies that it carries, by S_k,
as one rigid body. If v_p and a_p of joint k were displaced as well, the force f_i on each of these
bodies would change by S_k x* f_i only. But v_p and a_p stay the same, which adds the terms with
S' = v_p x S and S'' = a_p x S + v_p x S'::

    df_i/dq_k   = S_k x* f_i + I_i S''_k + B_i S'_k
    df_i/dqd_k  = I_i S*_k + B_i S_k,  S* = (v_p + v_k) x S
    df_i/dqdd_k = I_i S_k

where B u = v x* I u - I (v x u) + u x* I v for a motion vector u; only the angular part of u has
an effect. Joint j transmits F_j, the sum of f_i over the bodies that it carries, and
tau_j = S_j^T F_j. I^c_j and B^c_j are the sums of I_i and B_i over the same bodies. If j and k are
the same joint, or one of them carries the other, then with m for the one further from the base::

    dtau_j/dq_k   = S_j^T (I^c_m S''_k + B^c_m S'_k),  if j carries k: + S_j^T (S_k x* F_k)
    dtau_j/dqd_k  = S_j^T (I^c_m S*_k + B^c_m S_k)
    dtau_j/dqdd_k = S_j^T I^c_m S_k

For joints on different branches the derivatives are zero: n bodies in a tree of depth d have
O(n d) nonzero derivatives. A coordinate that moves several bodies (mimic joints) gets the sum
of the derivatives of its joints.

All vectors are in the coordinates of the first body of their branch, the one that the base
carries: quantities of several bodies can be added without transformations. Coordinates of the base
would be less accurate for a robot far away from the origin of the base.

tau = ID(q, qd, FD(q, qd, tau)) holds for every q, qd and tau. So the derivatives of the forward
dynamics are, with those of the inverse dynamics at the acceleration qdd::

    dqdd/dq = -M^-1 dtau/dq,  dqdd/dqd = -M^-1 dtau/dqd,  dqdd/dtau = M^-1
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...compilation import compiled
from .bodies import BASE, Records, floats
from .joints import joint_transform
from .simd import add_to, number
from .spatial import (
    ZERO,
    add,
    apply_inertia,
    basis_vector,
    coriolis_blocks,
    coriolis_force,
    coriolis_row,
    cross_force,
    cross_motion,
    dot,
    inertia_force,
    load,
    scale,
    store,
    subtract,
    transform_force_back,
    transform_inertia_back,
    transform_motion,
)
from .vectors import (
    UNIT,
    add3,
    add33,
    cross,
    dot3,
    load3,
    load33,
    multiply3,
    rotate,
    scale3,
    store3,
    store33,
    transpose,
)

NONE = -1
"""The coordinate that carries those of the first body of a branch."""


@cache
def branch_dtype(lanes: tuple[int, ...] = ()) -> np.dtype[np.void]:
    """Return the dtype of one body's record, with lanes as of :func:`.bodies.body_dtype`."""
    return floats(
        lanes,
        # Pose, velocity and acceleration, in the coordinates of the branch
        R=(3, 3), p=(3,), v=(6,), a=(6,),
        # Sums over the bodies that the joint carries: I^c, B^c and F
        mass=(), h=(3,), J=(3, 3), D=(3, 3), momentum=(3,), f=(6,),
        # Columns of S, S', S'' and S*
        S=(6, 6), dS=(6, 6), ddS=(6, 6), rate=(6, 6),
    )


@compiled
def inverse_dynamics_derivatives(
    bodies: Records, branches: Records, q: Array, qd: Array, qdd: Array, by_q: Array, by_qd: Array,
    M: Array,
) -> None:
    """
    Write the derivatives of the joint efforts by q, qd and qdd; the last one is the mass matrix.

    The motion of the base and, in body coordinates, the external forces are held constant.
    Arguments as for :func:`.rnea.inverse_dynamics`; bodies are only read.

    :param branches: one record for each body, of dtype :func:`branch_dtype`; overwritten
    :param by_q: dtau/dq, shape (nv, nv), by the velocity coordinates of q; overwritten
    :param by_qd: dtau/dqd, shape (nv, nv); overwritten
    :param M: dtau/dqdd, shape (nv, nv); overwritten
    """
    by_q[:] = 0.0
    by_qd[:] = 0.0
    M[:] = 0.0
    for i in range(1, bodies.shape[0]):
        _place(bodies, branches, i, q)
        _move(bodies[i], branches[i], qd, qdd)
        _initialise_sums(bodies[i], branches[i])
    for i in range(bodies.shape[0] - 1, 0, -1):
        for k in range(bodies[i]['qd_size']):
            _write_derivatives(bodies, branches, i, k, by_q, by_qd, M)
        if bodies[i]['parent'] != BASE:
            _add_to_parent(branches[i], branches[bodies[i]['parent']])


@compiled
def _place(bodies: Records, branches: Records, i: int, q: Array) -> None:
    """Write a body's pose, and for :func:`_move` its parent's velocity and acceleration."""
    body, own = bodies[i], branches[i]
    E, r = joint_transform(body, q)
    if body['parent'] == BASE:
        base = bodies[BASE]
        store33(own['R'], UNIT)
        store3(own['p'], ZERO[0])
        store(own['v'], transform_motion(E, r, load(base['v'])))
        store(own['a'], transform_motion(E, r, load(base['a'])))
    else:
        parent = branches[body['parent']]
        # R_i = R_parent E^T,  p_i = p_parent + R_parent r
        R = load33(parent['R'])
        store33(own['R'], multiply3(R, transpose(E)))
        store3(own['p'], add3(load3(parent['p']), rotate(R, r)))
        store(own['v'], load(parent['v']))
        store(own['a'], load(parent['a']))


@compiled
def _move(body: np.void, own: np.void, qd: Array, qdd: Array) -> None:
    """Write S, S', S'' and S*, and add the motion of the joint to that of the parent."""
    R, p, v_p, a_p = load33(own['R']), load3(own['p']), load(own['v']), load(own['a'])
    v, a = v_p, a_p
    for k in range(body['qd_size']):
        w, u = basis_vector(body['column'] + k)
        w, u = scale3(body['ratio'], rotate(R, w)), scale3(body['ratio'], rotate(R, u))
        S = (w, add3(u, cross(p, w)))
        v = add(v, scale(number(qd, body['qd_index'] + k), S))
        a = add(a, scale(number(qdd, body['qd_index'] + k), S))
        # S' = v_p x S,  S'' = a_p x S + v_p x S'
        dS = cross_motion(v_p, S)
        store(own['S'][k], S)
        store(own['dS'][k], dS)
        store(own['ddS'][k], add(cross_motion(a_p, S), cross_motion(v_p, dS)))
    # a_i = a_p + S qdd + v_p x S qd,  S qd = v_i - v_p
    a = add(a, cross_motion(v_p, v))
    for k in range(body['qd_size']):
        # S* = (v_p + v_k) x S
        rate = add(load(own['dS'][k]), cross_motion(v, load(own['S'][k])))
        store(own['rate'][k], rate)
    store(own['v'], v)
    store(own['a'], a)


@compiled
def _initialise_sums(body: np.void, own: np.void) -> None:
    """Write I^c, B^c and F of the body alone."""
    E, p, v = transpose(load33(own['R'])), load3(own['p']), load(own['v'])
    mass = body['mass']
    h, J = transform_inertia_back(E, p, mass, load3(body['h']), load33(body['J']))
    own['mass'] = mass
    store3(own['h'], h)
    store33(own['J'], J)
    # f_i = I_i a_i + v_i x* I_i v_i - f_ext
    f_ext = transform_force_back(E, p, load(body['f_ext']))
    store(own['f'], subtract(inertia_force(mass, h, J, v, load(own['a'])), f_ext))
    D, momentum = coriolis_blocks(mass, h, J, v)
    store33(own['D'], D)
    store3(own['momentum'], momentum)


@compiled
def _write_derivatives(
    bodies: Records, branches: Records, i: int, k: int, by_q: Array, by_qd: Array, M: Array
) -> None:
    """Add the derivatives between column k of joint i and joint i or a joint that carries it."""
    body, own = bodies[i], branches[i]
    mass, h, J = own['mass'], load3(own['h']), load33(own['J'])
    D, momentum = load33(own['D']), load3(own['momentum'])
    S = load(own['S'][k])
    # I^c S, and the angular part of (B^c)^T S: S^T B^c is zero for linear motions
    IS = apply_inertia(mass, h, J, S)
    BTS = coriolis_row(D, momentum, S)
    # I^c S'' + B^c S'
    F_q = add(
        apply_inertia(mass, h, J, load(own['ddS'][k])),
        coriolis_force(D, momentum, load(own['dS'][k])),
    )
    # I^c S* + B^c S
    F_qd = add(apply_inertia(mass, h, J, load(own['rate'][k])), coriolis_force(D, momentum, S))
    column = body['qd_index'] + k
    for other in range(body['qd_size']):
        row, S_other = body['qd_index'] + other, load(own['S'][other])
        add_to(by_q, (row, column), dot(S_other, F_q))
        add_to(by_qd, (row, column), dot(S_other, F_qd))
        add_to(M, (row, column), dot(S_other, IS))
    # S x* F, for the joints that carry joint i
    F_q = add(F_q, cross_force(S, load(own['f'])))
    j = body['parent']
    while j != BASE:
        carrier = branches[j]
        for other in range(bodies[j]['qd_size']):
            row, S_other = bodies[j]['qd_index'] + other, load(carrier['S'][other])
            # dtau_j / dx_i
            add_to(by_q, (row, column), dot(S_other, F_q))
            add_to(by_qd, (row, column), dot(S_other, F_qd))
            # dtau_i / dx_j
            dS_other = load(carrier['dS'][other])
            ddS_other, rate_other = load(carrier['ddS'][other]), load(carrier['rate'][other])
            add_to(by_q, (column, row), dot(IS, ddS_other) + dot3(BTS, dS_other[0]))
            add_to(by_qd, (column, row), dot(IS, rate_other) + dot3(BTS, S_other[0]))
            element = dot(IS, S_other)
            add_to(M, (row, column), element)
            add_to(M, (column, row), element)
        j = bodies[j]['parent']


@compiled
def _add_to_parent(own: np.void, parent: np.void) -> None:
    """Add the sums over the bodies that a joint carries to those of the parent body's joint."""
    parent['mass'] += own['mass']
    store3(parent['h'], add3(load3(parent['h']), load3(own['h'])))
    store33(parent['J'], add33(load33(parent['J']), load33(own['J'])))
    store33(parent['D'], add33(load33(parent['D']), load33(own['D'])))
    store3(parent['momentum'], add3(load3(parent['momentum']), load3(own['momentum'])))
    store(parent['f'], add(load(parent['f']), load(own['f'])))


@compiled
def from_inverse_dynamics(
    bodies: Records, chains: NDArray[np.int64], X: Array, by_q: Array, by_qd: Array,
    by_third: Array,
) -> None:
    """
    Replace the derivatives of the inverse dynamics by those of the forward dynamics.

    dtau/dq becomes dqdd/dq, dtau/dqd becomes dqdd/dqd, M becomes dqdd/dtau, of shape (nv, nv), for
    bodies without mimic joints. Working memory: chains, shape (2 nv,), and X, shape (nv, 3 nv).
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
