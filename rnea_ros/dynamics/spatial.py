# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Spatial vector algebra for the kernels, in tuples of floats.

Conventions (Featherstone, *Rigid Body Dynamics Algorithms*, Springer 2008; equation numbers are
that book's): a motion vector is ``(angular, linear)``, a force vector ``(moment, force)``, each a
pair of 3-tuples in the coordinates of the body that it is written for. A Pluecker transform from
frame A to frame B is the pair ``(E, r)``: ``E`` turns A coordinates into B coordinates, ``r`` is
the origin of B in A coordinates. A rigid body's inertia is ``(mass, h, J)``: ``h`` is mass times
centre of mass, ``J`` the rotational inertia about the body frame's origin.

Small functions over tuples compile to the same machine code as scalars unrolled by hand, and read
like the equations.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .compiled import compiled

Vector3: TypeAlias = tuple[float, float, float]
Matrix3: TypeAlias = tuple[Vector3, Vector3, Vector3]
SpatialVector: TypeAlias = tuple[Vector3, Vector3]

ZERO: SpatialVector = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@compiled
def add3(a: Vector3, b: Vector3) -> Vector3:
    """Return a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@compiled
def subtract3(a: Vector3, b: Vector3) -> Vector3:
    """Return a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@compiled
def scale3(factor: float, a: Vector3) -> Vector3:
    """Return factor * a."""
    return (factor * a[0], factor * a[1], factor * a[2])


@compiled
def cross(a: Vector3, b: Vector3) -> Vector3:
    """Return a x b."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@compiled
def rotate(E: Matrix3, a: Vector3) -> Vector3:
    """Return E a."""
    return (
        E[0][0] * a[0] + E[0][1] * a[1] + E[0][2] * a[2],
        E[1][0] * a[0] + E[1][1] * a[1] + E[1][2] * a[2],
        E[2][0] * a[0] + E[2][1] * a[1] + E[2][2] * a[2],
    )


@compiled
def rotate_back(E: Matrix3, a: Vector3) -> Vector3:
    """Return E^T a."""
    return (
        E[0][0] * a[0] + E[1][0] * a[1] + E[2][0] * a[2],
        E[0][1] * a[0] + E[1][1] * a[1] + E[2][1] * a[2],
        E[0][2] * a[0] + E[1][2] * a[1] + E[2][2] * a[2],
    )


@compiled
def add(a: SpatialVector, b: SpatialVector) -> SpatialVector:
    """Return a + b."""
    return (add3(a[0], b[0]), add3(a[1], b[1]))


@compiled
def subtract(a: SpatialVector, b: SpatialVector) -> SpatialVector:
    """Return a - b."""
    return (subtract3(a[0], b[0]), subtract3(a[1], b[1]))


@compiled
def transform_motion(E: Matrix3, r: Vector3, m: SpatialVector) -> SpatialVector:
    """Return X m, a motion vector taken from frame A to frame B (eq. 2.24)."""
    return (rotate(E, m[0]), rotate(E, subtract3(m[1], cross(r, m[0]))))


@compiled
def transform_force_back(E: Matrix3, r: Vector3, f: SpatialVector) -> SpatialVector:
    """Return X^T f, a force vector taken from frame B back to frame A (eq. 2.25, inverse)."""
    force = rotate_back(E, f[1])
    return (add3(rotate_back(E, f[0]), cross(r, force)), force)


@compiled
def cross_motion(v: SpatialVector, m: SpatialVector) -> SpatialVector:
    """Return v x m, the motion cross product (eq. 2.31)."""
    return (cross(v[0], m[0]), add3(cross(v[0], m[1]), cross(v[1], m[0])))


@compiled
def cross_force(v: SpatialVector, f: SpatialVector) -> SpatialVector:
    """Return v x* f, the force cross product (eq. 2.32)."""
    return (add3(cross(v[0], f[0]), cross(v[1], f[1])), cross(v[0], f[1]))


@compiled
def apply_inertia(mass: float, h: Vector3, J: Matrix3, m: SpatialVector) -> SpatialVector:
    """Return I m, the momentum of a rigid body that moves with m (eq. 2.63)."""
    return (
        add3(rotate(J, m[0]), cross(h, m[1])),
        subtract3(scale3(mass, m[1]), cross(h, m[0])),
    )


@compiled
def load3(array: NDArray[np.float64]) -> Vector3:
    """Return an array of shape (3,) as a tuple."""
    return (array[0], array[1], array[2])


@compiled
def load33(array: NDArray[np.float64]) -> Matrix3:
    """Return an array of shape (3, 3) as a tuple of rows."""
    return (
        (array[0, 0], array[0, 1], array[0, 2]),
        (array[1, 0], array[1, 1], array[1, 2]),
        (array[2, 0], array[2, 1], array[2, 2]),
    )


@compiled
def load(array: NDArray[np.float64]) -> SpatialVector:
    """Return an array of shape (6,), [angular; linear], as a spatial vector."""
    return ((array[0], array[1], array[2]), (array[3], array[4], array[5]))


@compiled
def store(array: NDArray[np.float64], m: SpatialVector) -> None:
    """Write a spatial vector into an array of shape (6,), [angular; linear]."""
    array[0], array[1], array[2] = m[0]
    array[3], array[4], array[5] = m[1]


@compiled
def store33(array: NDArray[np.float64], E: Matrix3) -> None:
    """Write a tuple of rows into an array of shape (3, 3)."""
    array[0, 0], array[0, 1], array[0, 2] = E[0]
    array[1, 0], array[1, 1], array[1, 2] = E[1]
    array[2, 0], array[2, 1], array[2, 2] = E[2]


@compiled
def store3(array: NDArray[np.float64], a: Vector3) -> None:
    """Write a tuple into an array of shape (3,)."""
    array[0], array[1], array[2] = a
