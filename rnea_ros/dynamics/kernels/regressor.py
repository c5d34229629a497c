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

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ..compilation import compiled
from .bodies import BASE
from .joints import add_joint_efforts
from .rnea import move_body
from .simd import number, put
from .spatial import ZERO, SpatialVector, load, transform_force_back
from .vectors import Matrix3, add3, cross, load3, load33, rotate

PARAMETERS = ('m', 'mx', 'my', 'mz', 'Jxx', 'Jxy', 'Jyy', 'Jxz', 'Jyz', 'Jzz')
"""The ten parameters of a body in their order; mx is mass times centre of mass."""


@compiled
def regressor(
    bodies: NDArray[np.void],
    q: Array,
    qd: Array,
    qdd: Array,
    Y: Array,
    column: Array,
) -> None:
    """
    Write Y. External forces are not part of it.

    :param bodies: as for :func:`.rnea.inverse_dynamics`; ``E``, ``r``, ``v``, ``a`` are written
    :param q: joint positions, shape (nq,), rad or m
    :param qd: joint velocities, shape (nv,), rad/s or m/s
    :param qdd: joint accelerations, shape (nv,), rad/s^2 or m/s^2
    :param Y: shape (nv, 10 * bodies without the base); overwritten
    :param column: shape (nv,); overwritten
    """
    for i in range(1, bodies.shape[0]):
        parent = bodies[bodies[i]['parent']]
        v, a = move_body(bodies[i], load(parent['v']), load(parent['a']), q, qd, qdd)
        for k in range(10):
            for j in range(column.shape[0]):
                put(column, j, 0.0)
            _pass_to_base(bodies, i, unit_force(k, v, a), column)
            for j in range(column.shape[0]):
                put(Y, (j, 10 * (i - 1) + k), number(column, j))


@compiled
def unit_force(k: int, v: SpatialVector, a: SpatialVector) -> SpatialVector:
    """Return I a + v x* I v of an inertia whose parameter k is one and all others zero."""
    (w, u), (alpha, a_O) = v, a
    if k < 4:
        d = add3(a_O, cross(w, u))  # acceleration of the body's origin, not spatial
        if k == 0:
            return (ZERO[0], d)
        # h: moment h x d, force alpha x h + w x (w x h)
        h = unit_vector(k - 1)
        return (cross(h, d), add3(cross(alpha, h), cross(w, cross(w, h))))
    # J: moment J alpha + w x J w
    J = unit_inertia(k - 4)
    return (add3(rotate(J, alpha), cross(w, rotate(J, w))), ZERO[0])


@compiled
def unit_vector(k: int) -> tuple[float, float, float]:
    """Return the unit vector along axis k of three."""
    return (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)


@compiled
def unit_inertia(k: int) -> Matrix3:
    """Return J with element k of xx, xy, yy, xz, yz, zz equal to one, and symmetric."""
    xy = 1.0 if k == 1 else 0.0
    xz = 1.0 if k == 3 else 0.0
    yz = 1.0 if k == 4 else 0.0
    return (
        (1.0 if k == 0 else 0.0, xy, xz),
        (xy, 1.0 if k == 2 else 0.0, yz),
        (xz, yz, 1.0 if k == 5 else 0.0),
    )


@compiled
def _pass_to_base(
    bodies: NDArray[np.void], i: int, f: SpatialVector, tau: Array
) -> None:
    """Add to tau the efforts of a force on body i at all joints between it and the base."""
    while i != BASE:
        body = bodies[i]
        add_joint_efforts(body, f, tau)
        f = transform_force_back(load33(body['E']), load3(body['r']), f)
        i = body['parent']
