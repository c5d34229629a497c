# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Joint kinds: transform, motion subspace and velocity product (Featherstone's jcalc, table 4.1).

Five kinds are enough. When a tree is built, every body frame is turned so that its joint's axis
is the body's own z axis. A joint of several movements (planar, cylindrical, helical) becomes a
chain of bodies. The motion subspace S of each kind is then constant in body coordinates, and the
joint's acceleration is S qdd + c with c = v x S qd (the book's c_J is zero). S consists of
adjacent columns of the six by six identity: the first column and the degrees of freedom define it.
"""

from __future__ import annotations

import enum

import numpy as np

from ...arrays import Array
from ...compilation import compiled
from .simd import cosine_and_sine, number, put
from .spatial import ZERO, SpatialVector, component, cross_motion
from .vectors import Matrix3, Vector3, add3, load3, load33, multiply3, rotate_back, scale3


class JointKind(enum.IntEnum):
    """How a body moves relative to its parent, in the body's own coordinates."""

    FIXED = 0
    REVOLUTE = 1     # q: angle about z
    PRISMATIC = 2    # q: distance along z
    SPHERICAL = 3    # q: unit quaternion x, y, z, w; qd: angular velocity
    FLOATING = 4     # q: position in the parent, unit quaternion; qd: angular, linear velocity


FIRST_COLUMN = dict(zip(JointKind, (0, 2, 5, 0, 0), strict=True))
"""Index of the first identity column in S: 0 to 2 angular, 3 to 5 linear."""

POSITIONS = dict(zip(JointKind, (0, 1, 1, 4, 7), strict=True))
"""Number of position coordinates in q."""

DEGREES = dict(zip(JointKind, (0, 1, 1, 3, 6), strict=True))
"""Number of degrees of freedom: coordinates in qd, columns of S."""

FIXED = int(JointKind.FIXED)
REVOLUTE = int(JointKind.REVOLUTE)
PRISMATIC = int(JointKind.PRISMATIC)
SPHERICAL = int(JointKind.SPHERICAL)


@compiled
def rotation_into(x: float, y: float, z: float, w: float) -> Matrix3:
    """Return E, parent to body coordinates, for a unit quaternion (eq. 4.12)."""
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)),
        (2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)),
        (2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)),
    )


@compiled
def joint_transform(body: np.void, q: Array) -> tuple[Matrix3, Vector3]:
    """Return X_up = X_J(q) X_T, parent to body coordinates, as (E, r)."""
    kind, j = body['kind'], body['q_index']
    E_T, r_T = load33(body['E_T']), load3(body['r_T'])
    if kind == REVOLUTE:
        c, s = cosine_and_sine(body['ratio'] * number(q, j) + body['offset'])
        x, y, z = E_T
        return ((add3(scale3(c, x), scale3(s, y)), add3(scale3(c, y), scale3(-s, x)), z), r_T)
    if kind == PRISMATIC:
        distance = body['ratio'] * number(q, j) + body['offset']
        return (E_T, add3(r_T, scale3(distance, E_T[2])))
    if kind == FIXED:
        return (E_T, r_T)
    r = r_T
    if kind != SPHERICAL:
        r = add3(r_T, rotate_back(E_T, (number(q, j), number(q, j + 1), number(q, j + 2))))
        j += 3
    E_J = rotation_into(number(q, j), number(q, j + 1), number(q, j + 2), number(q, j + 3))
    return (multiply3(E_J, E_T), r)


@compiled
def add_joint_motion(body: np.void, m: SpatialVector, qd: Array) -> SpatialVector:
    """Return m + S qd; with accelerations as arguments, m + S qdd."""
    kind, j = body['kind'], body['qd_index']
    angular, linear = m
    if kind == REVOLUTE:
        return ((angular[0], angular[1], angular[2] + body['ratio'] * number(qd, j)), linear)
    if kind == PRISMATIC:
        return (angular, (linear[0], linear[1], linear[2] + body['ratio'] * number(qd, j)))
    if kind == FIXED:
        return m
    angular = add3(angular, (number(qd, j), number(qd, j + 1), number(qd, j + 2)))
    if kind == SPHERICAL:
        return (angular, linear)
    return (angular, add3(linear, (number(qd, j + 3), number(qd, j + 4), number(qd, j + 5))))


@compiled
def velocity_product(body: np.void, v: SpatialVector, qd: Array) -> SpatialVector:
    """Return c = v x S qd; one-axis kinds skip the products with the zeros of S."""
    kind, (w, u) = body['kind'], v
    if kind == REVOLUTE:
        rate = body['ratio'] * number(qd, body['qd_index'])
        return ((w[1] * rate, -w[0] * rate, 0.0), (u[1] * rate, -u[0] * rate, 0.0))
    if kind == PRISMATIC:
        rate = body['ratio'] * number(qd, body['qd_index'])
        return (ZERO[0], (w[1] * rate, -w[0] * rate, 0.0))
    return cross_motion(v, add_joint_motion(body, ZERO, qd))


@compiled
def add_joint_efforts(body: np.void, f: SpatialVector, tau: Array) -> None:
    """Add S^T f, the joint's efforts, to tau: several bodies may share a coordinate (mimic)."""
    for k in range(body['qd_size']):
        j = body['qd_index'] + k
        put(tau, j, number(tau, j) + body['ratio'] * component(f, body['column'] + k))
