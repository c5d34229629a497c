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

from ...arrays import Array
from ..compilation import compiled
from .simd import number, put

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
def dot3(a: Vector3, b: Vector3) -> float:
    """Return a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def transpose(E: Matrix3) -> Matrix3:
    """Return E^T."""
    return (
        (E[0][0], E[1][0], E[2][0]),
        (E[0][1], E[1][1], E[2][1]),
        (E[0][2], E[1][2], E[2][2]),
    )


@compiled
def add33(A: Matrix3, B: Matrix3) -> Matrix3:
    """Return A + B."""
    return (add3(A[0], B[0]), add3(A[1], B[1]), add3(A[2], B[2]))


@compiled
def subtract33(A: Matrix3, B: Matrix3) -> Matrix3:
    """Return A - B."""
    return (subtract3(A[0], B[0]), subtract3(A[1], B[1]), subtract3(A[2], B[2]))


@compiled
def trace(A: Matrix3) -> float:
    """Return the sum of A's diagonal."""
    return A[0][0] + A[1][1] + A[2][2]


@compiled
def outer(a: Vector3, b: Vector3) -> Matrix3:
    """Return a b^T."""
    return (scale3(a[0], b), scale3(a[1], b), scale3(a[2], b))


@compiled
def multiply3(A: Matrix3, B: Matrix3) -> Matrix3:
    """Return A B."""
    return (rotate_back(B, A[0]), rotate_back(B, A[1]), rotate_back(B, A[2]))


@compiled
def rotate_matrix_back(E: Matrix3, A: Matrix3) -> Matrix3:
    """Return E^T A E, a matrix in the coordinates that E turns away from."""
    return multiply3(transpose(E), multiply3(A, E))


@compiled
def rotate_symmetric_back(E: Matrix3, A: Matrix3) -> Matrix3:
    """Return E^T A E of a symmetric matrix, without computing any number twice."""
    AE = multiply3(A, E)
    x, y, z = transpose(E)
    first, second, third = transpose(AE)
    xx, xy, xz = dot3(x, first), dot3(x, second), dot3(x, third)
    yy, yz, zz = dot3(y, second), dot3(y, third), dot3(z, third)
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


@compiled
def cross_columns(r: Vector3, A: Matrix3) -> Matrix3:
    """Return (r x) A: the cross product of r with every column."""
    return transpose((cross(r, (A[0][0], A[1][0], A[2][0])),
                      cross(r, (A[0][1], A[1][1], A[2][1])),
                      cross(r, (A[0][2], A[1][2], A[2][2]))))


@compiled
def add(a: SpatialVector, b: SpatialVector) -> SpatialVector:
    """Return a + b."""
    return (add3(a[0], b[0]), add3(a[1], b[1]))


@compiled
def subtract(a: SpatialVector, b: SpatialVector) -> SpatialVector:
    """Return a - b."""
    return (subtract3(a[0], b[0]), subtract3(a[1], b[1]))


@compiled
def scale(factor: float, a: SpatialVector) -> SpatialVector:
    """Return factor * a."""
    return (scale3(factor, a[0]), scale3(factor, a[1]))


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
def transform_inertia_back(
    E: Matrix3, r: Vector3, mass: float, h: Vector3, J: Matrix3
) -> tuple[Vector3, Matrix3]:
    """
    Return h and J of X^T I X, a rigid body's inertia taken from frame B back to A (eq. 2.66).

    The mass stays. h moves to h + m r; J grows by 2 (h.r) 1 - h r^T - r h^T + m (r.r 1 - r r^T).
    """
    h = rotate_back(E, h)
    g = add3(h, scale3(0.5 * mass, r))
    spread = 2.0 * dot3(g, r)
    J = subtract33(subtract33(rotate_symmetric_back(E, J), outer(g, r)), outer(r, g))
    J = (
        (J[0][0] + spread, J[0][1], J[0][2]),
        (J[1][0], J[1][1] + spread, J[1][2]),
        (J[2][0], J[2][1], J[2][2] + spread),
    )
    return add3(h, scale3(mass, r)), J


@compiled
def inertia_force(
    mass: float, h: Vector3, J: Matrix3, v: SpatialVector, a: SpatialVector
) -> SpatialVector:
    """
    Return I a + v x* I v, the force that a rigid body's motion needs (eq. 2.68).

    In three dimensions, which takes a third fewer products: with the acceleration of the frame's
    origin d = a_O + w x v_O, Newton's law is m d + alpha x h + w x (w x h), and Euler's about the
    origin is J alpha + w x J w + h x d.
    """
    (w, v_origin), (alpha, a_origin) = v, a
    d = add3(a_origin, cross(w, v_origin))
    moment = add3(add3(rotate(J, alpha), cross(w, rotate(J, w))), cross(h, d))
    force = add3(add3(scale3(mass, d), cross(alpha, h)), cross(w, cross(w, h)))
    return (moment, force)


@compiled
def component(m: SpatialVector, k: int) -> float:
    """Return one of six components, three angular, then three linear."""
    if k < 3:
        return m[0][0] if k == 0 else (m[0][1] if k == 1 else m[0][2])
    return m[1][0] if k == 3 else (m[1][1] if k == 4 else m[1][2])


@compiled
def inertia_column(mass: float, h: Vector3, J: Matrix3, k: int) -> SpatialVector:
    """Return column k of a rigid body's inertia: I m for the basis vector k."""
    if k == 0:
        return ((J[0][0], J[1][0], J[2][0]), (0.0, -h[2], h[1]))
    if k == 1:
        return ((J[0][1], J[1][1], J[2][1]), (h[2], 0.0, -h[0]))
    if k == 2:
        return ((J[0][2], J[1][2], J[2][2]), (-h[1], h[0], 0.0))
    if k == 3:
        return ((0.0, h[2], -h[1]), (mass, 0.0, 0.0))
    if k == 4:
        return ((-h[2], 0.0, h[0]), (0.0, mass, 0.0))
    return ((h[1], -h[0], 0.0), (0.0, 0.0, mass))


@compiled
def basis_vector(k: int) -> SpatialVector:
    """Return the spatial vector whose component k is one and whose others are zero."""
    return (
        (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0),
        (1.0 if k == 3 else 0.0, 1.0 if k == 4 else 0.0, 1.0 if k == 5 else 0.0),
    )


@compiled
def load3(array: Array) -> Vector3:
    """Return an array of shape (3,) as a tuple."""
    return (number(array, 0), number(array, 1), number(array, 2))


@compiled
def load33(array: Array) -> Matrix3:
    """Return an array of shape (3, 3) as a tuple of rows."""
    return (
        (number(array, (0, 0)), number(array, (0, 1)), number(array, (0, 2))),
        (number(array, (1, 0)), number(array, (1, 1)), number(array, (1, 2))),
        (number(array, (2, 0)), number(array, (2, 1)), number(array, (2, 2))),
    )


@compiled
def load(array: Array) -> SpatialVector:
    """Return an array of shape (6,), [angular; linear], as a spatial vector."""
    return (
        (number(array, 0), number(array, 1), number(array, 2)),
        (number(array, 3), number(array, 4), number(array, 5)),
    )


@compiled
def store(array: Array, m: SpatialVector) -> None:
    """Write a spatial vector into an array of shape (6,), [angular; linear]."""
    put(array, 0, m[0][0])
    put(array, 1, m[0][1])
    put(array, 2, m[0][2])
    put(array, 3, m[1][0])
    put(array, 4, m[1][1])
    put(array, 5, m[1][2])


@compiled
def store33(array: Array, E: Matrix3) -> None:
    """Write a tuple of rows into an array of shape (3, 3)."""
    put(array, (0, 0), E[0][0])
    put(array, (0, 1), E[0][1])
    put(array, (0, 2), E[0][2])
    put(array, (1, 0), E[1][0])
    put(array, (1, 1), E[1][1])
    put(array, (1, 2), E[1][2])
    put(array, (2, 0), E[2][0])
    put(array, (2, 1), E[2][1])
    put(array, (2, 2), E[2][2])


@compiled
def store3(array: Array, a: Vector3) -> None:
    """Write a tuple into an array of shape (3,)."""
    put(array, 0, a[0])
    put(array, 1, a[1])
    put(array, 2, a[2])
