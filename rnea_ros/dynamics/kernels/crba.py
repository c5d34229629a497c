# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The composite-rigid-body algorithm: the mass matrix M(q) (Featherstone 2008, table 6.2).

Lock all joints except joint i: it moves one composite rigid body, whose inertia is the sum of all
bodies that it carries. A force gives this body the acceleration of one column of S_i. Its parts
along the joints between this body and the base are a column of M.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ...arrays import Array
from ...compilation import compiled
from .bodies import BASE, Records, floats
from .joints import joint_transform
from .simd import number, put
from .spatial import (
    SpatialVector,
    component,
    inertia_column,
    transform_force_back,
    transform_inertia_back,
)
from .vectors import add3, add33, load3, load33, store3, store33


@cache
def composite_dtype(lanes: tuple[int, ...] = ()) -> np.dtype[np.void]:
    """Return the dtype of a composite body's inertia with lanes; the mass does not depend on q."""
    return floats(lanes, mass=(), h=(3,), J=(3, 3))


@compiled
def mass_matrix(bodies: Records, composites: Records, q: Array, M: Array) -> None:
    """
    Write the mass matrix into M, shape (nv, nv).

    :param bodies: base first, parent before child; ``E`` and ``r`` are overwritten
    :param composites: as many, of dtype :func:`composite_dtype`; overwritten
    """
    M[:] = 0.0
    for i in range(1, bodies.shape[0]):
        body, composite = bodies[i], composites[i]
        if body['parent'] != BASE:  # M does not depend on joints that the base carries
            E, r = joint_transform(body, q)
            store33(body['E'], E)
            store3(body['r'], r)
        # I^c_i = I_i
        composite['mass'] = body['mass']
        store3(composite['h'], load3(body['h']))
        store33(composite['J'], load33(body['J']))

    for i in range(bodies.shape[0] - 1, 0, -1):
        body, composite = bodies[i], composites[i]
        mass, h, J = composite['mass'], load3(composite['h']), load33(composite['J'])
        for k in range(body['qd_size']):
            # F = I^c_i S_i
            F = inertia_column(mass, h, J, body['column'] + k)
            _write_column(bodies, i, k, F, M)
        if body['parent'] != BASE:
            # I^c_parent = I^c_parent + X_up^T I^c_i X_up
            carrier = composites[body['parent']]
            h, J = transform_inertia_back(load33(body['E']), load3(body['r']), mass, h, J)
            carrier['mass'] += mass
            store3(carrier['h'], add3(load3(carrier['h']), h))
            store33(carrier['J'], add33(load33(carrier['J']), J))


@compiled
def _write_column(bodies: Records, i: int, k: int, F: SpatialVector, M: Array) -> None:
    """Add S_j^T F to M for column k of joint i and all j from i to the base."""
    body = bodies[i]
    column, ratio = body['qd_index'] + k, body['ratio']
    # M_ii = S_i^T F, each pair of its columns once
    for other in range(k + 1):
        element = ratio * ratio * component(F, body['column'] + other)
        _add_element(M, column, body['qd_index'] + other, element)
    while body['parent'] != BASE:
        # F = X_up^T F,  M_ij = F^T S_j
        F = transform_force_back(load33(body['E']), load3(body['r']), F)
        body = bodies[body['parent']]
        for other in range(body['qd_size']):
            element = ratio * body['ratio'] * component(F, body['column'] + other)
            row = body['qd_index'] + other
            if row == column:  # joint i mimics a joint between itself and the base
                element = 2.0 * element
            _add_element(M, row, column, element)


@compiled
def _add_element(M: Array, row: int, column: int, element: float) -> None:
    """Add to an element of M and its mirror image; mimic joints share elements."""
    total = number(M, (row, column)) + element
    put(M, (row, column), total)
    put(M, (column, row), total)
