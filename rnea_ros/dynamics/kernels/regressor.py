# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The regressor: inverse dynamics is linear in the inertial parameters, tau = Y(q, qd, qdd) phi.

A body has ten parameters: mass, first moment h (3), and the rotational inertia J about the body
frame's origin (6: xx, xy, yy, xz, yz, zz). A column of Y belongs to one parameter of one body: it
holds the joint efforts if this parameter is one and all others are zero (Atkeson, An and
Hollerbach, *Estimation of inertial parameters of manipulator loads and links*, 1986).
"""

from __future__ import annotations

from ...arrays import Array
from ...compilation import compiled
from .bodies import BASE, Records
from .rnea import move_body
from .simd import add_to
from .spatial import ZERO, SpatialVector, basis_vector, from_parent, load, scale, transform_motion
from .vectors import add3, cross, dot3, load3, load33, transpose

PARAMETERS = ('m', 'mx', 'my', 'mz', 'Jxx', 'Jxy', 'Jyy', 'Jxz', 'Jyz', 'Jzz')
"""The ten parameters of a body in their order; mx is mass times centre of mass."""


@compiled
def regressor(bodies: Records, q: Array, qd: Array, qdd: Array, Y: Array) -> None:
    """
    Write Y. External forces are not part of it.

    A column S of the motion subspace of a joint that carries body i is (s, t) in the axes of link
    i, at its origin. Body i needs the force f = I a + v x* I v; that adds S . f to the effort.
    Arguments as for :func:`.rnea.inverse_dynamics`; ``E``, ``r``, ``v``, ``a`` are written.

    :param Y: for parameters in link axes, shape (nv, bodies - 1, 10): effort, body from 1 on,
        parameter; overwritten
    """
    Y[:] = 0.0
    for i in range(1, bodies.shape[0]):
        parent = bodies[bodies[i]['parent']]
        v, a = move_body(bodies[i], load(parent['v']), load(parent['a']), q, qd, qdd)
        E, r = transpose(load33(bodies[i]['link_axes'])), ZERO[0]
        v, a = transform_motion(E, r, v), transform_motion(E, r, a)
        carrier = i
        while carrier != BASE:
            body = bodies[carrier]
            for k in range(body['qd_size']):
                S = scale(body['ratio'], basis_vector(body['column'] + k))
                _add_products(transform_motion(E, r, S), v, a, Y, body['qd_index'] + k, i - 1)
            E, r = from_parent(E, r, load33(body['E']), load3(body['r']))
            carrier = body['parent']


@compiled
def _add_products(
    S: SpatialVector, v: SpatialVector, a: SpatialVector, Y: Array, row: int, n: int
) -> None:
    """
    Add the products of S = (s, t) with I a + v x* I v, by parameter, to elements (row, n) of Y.

    With v = (w, u), a = (alpha, a_O), and d = a_O + w x u, the acceleration of the body's origin
    minus gravity::

        I a + v x* I v = (h x d + J alpha + w x J w,  m d + alpha x h + w x (w x h))
    """
    (s, t), (w, u), (alpha, a_O) = S, v, a
    d = add3(a_O, cross(w, u))
    # t . m d
    add_to(Y, (row, n, 0), dot3(t, d))
    # s . (h x d) + t . (alpha x h + w x (w x h)) = h . (d x s + t x alpha + w x (w x t))
    x, y, z = add3(add3(cross(d, s), cross(t, alpha)), cross(w, cross(w, t)))
    add_to(Y, (row, n, 1), x)
    add_to(Y, (row, n, 2), y)
    add_to(Y, (row, n, 3), z)
    # s . J alpha + s . (w x J w) = s . J alpha + (s x w) . J w
    b = cross(s, w)
    add_to(Y, (row, n, 4), s[0] * alpha[0] + b[0] * w[0])
    add_to(Y, (row, n, 5), s[0] * alpha[1] + s[1] * alpha[0] + b[0] * w[1] + b[1] * w[0])
    add_to(Y, (row, n, 6), s[1] * alpha[1] + b[1] * w[1])
    add_to(Y, (row, n, 7), s[0] * alpha[2] + s[2] * alpha[0] + b[0] * w[2] + b[2] * w[0])
    add_to(Y, (row, n, 8), s[1] * alpha[2] + s[2] * alpha[1] + b[1] * w[2] + b[2] * w[1])
    add_to(Y, (row, n, 9), s[2] * alpha[2] + b[2] * w[2])
