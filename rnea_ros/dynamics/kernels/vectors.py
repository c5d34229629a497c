# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Vectors and matrices of three dimensions for the kernels, in tuples of floats.

Small functions over tuples compile to the same machine code as scalars unrolled by hand, and read
like the equations.
"""

from __future__ import annotations

from typing import TypeAlias

from ...arrays import Array
from ...compilation import compiled
from .simd import number, put

Vector3: TypeAlias = tuple[float, float, float]
Matrix3: TypeAlias = tuple[Vector3, Vector3, Vector3]

UNIT: Matrix3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


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
def with_diagonal(A: Matrix3, x: float) -> Matrix3:
    """Return A + x 1."""
    return (
        (A[0][0] + x, A[0][1], A[0][2]),
        (A[1][0], A[1][1] + x, A[1][2]),
        (A[2][0], A[2][1], A[2][2] + x),
    )


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
def store3(array: Array, a: Vector3) -> None:
    """Write a tuple into an array of shape (3,)."""
    put(array, 0, a[0])
    put(array, 1, a[1])
    put(array, 2, a[2])


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
