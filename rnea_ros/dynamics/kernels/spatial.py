# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Spatial vector algebra for the kernels, in tuples of floats.

Conventions (Featherstone, *Rigid Body Dynamics Algorithms*, Springer 2008; equation numbers are
that book's): a motion vector is ``(angular, linear)``, a force vector ``(moment, force)``, each a
pair of 3-tuples in body coordinates. A Pluecker transform from frame A to frame B is the pair
``(E, r)``: ``E`` turns A coordinates into B coordinates, ``r`` is the origin of B in A
coordinates. A rigid body's inertia is ``(mass, h, J)``: ``h`` is mass times centre of mass, ``J``
the rotational inertia about the body frame's origin.
"""

from __future__ import annotations

from typing import TypeAlias

from ...arrays import Array
from ...compilation import compiled
from .simd import number, put
from .vectors import (
    Matrix3,
    Vector3,
    add3,
    add33,
    cross,
    cross_columns,
    dot3,
    multiply3,
    outer,
    rotate,
    rotate_back,
    rotate_symmetric_back,
    scale3,
    subtract3,
    subtract33,
    trace,
    with_diagonal,
)

SpatialVector: TypeAlias = tuple[Vector3, Vector3]

ZERO: SpatialVector = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


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
def dot(m: SpatialVector, f: SpatialVector) -> float:
    """Return m . f, the scalar product of a motion and a force vector."""
    return dot3(m[0], f[0]) + dot3(m[1], f[1])


@compiled
def transform_motion(E: Matrix3, r: Vector3, m: SpatialVector) -> SpatialVector:
    """Return X m, a motion vector transformed from frame A to B (eq. 2.24)."""
    return (rotate(E, m[0]), rotate(E, subtract3(m[1], cross(r, m[0]))))


@compiled
def from_parent(E: Matrix3, r: Vector3, E_up: Matrix3, r_up: Vector3) -> tuple[Matrix3, Vector3]:
    """Return E and r of X X_up: from the parent's coordinates instead of the body's."""
    return multiply3(E, E_up), add3(r_up, rotate_back(E_up, r))


@compiled
def transform_force_back(E: Matrix3, r: Vector3, f: SpatialVector) -> SpatialVector:
    """Return X^T f, a force vector transformed from frame B back to A (eq. 2.25, inverse)."""
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
    """Return I m, the momentum of a rigid body of velocity m (eq. 2.63)."""
    return (
        add3(rotate(J, m[0]), cross(h, m[1])),
        subtract3(scale3(mass, m[1]), cross(h, m[0])),
    )


@compiled
def transform_inertia_back(
    E: Matrix3, r: Vector3, mass: float, h: Vector3, J: Matrix3
) -> tuple[Vector3, Matrix3]:
    """
    Return h and J of X^T I X, an inertia transformed from frame B back to A (eq. 2.66).

    The mass does not change. With h and J rotated into A coordinates, the results are h + m r and
    J + 2 (h.r) 1 - h r^T - r h^T + m (r.r 1 - r r^T). With g = h + m r / 2 the latter is
    J + 2 (g.r) 1 - g r^T - r g^T, which needs fewer products.
    """
    h = rotate_back(E, h)
    g = add3(h, scale3(0.5 * mass, r))
    diagonal = 2.0 * dot3(g, r)
    J = subtract33(subtract33(rotate_symmetric_back(E, J), outer(g, r)), outer(r, g))
    return add3(h, scale3(mass, r)), with_diagonal(J, diagonal)


@compiled
def inertia_force(
    mass: float, h: Vector3, J: Matrix3, v: SpatialVector, a: SpatialVector
) -> SpatialVector:
    """
    Return I a + v x* I v, the net force on a moving rigid body (eq. 2.68).

    Three-dimensional vectors need a third fewer products than spatial ones. d = a_O + w x v_O is
    the classical acceleration of the frame's origin. The force (Newton) is
    m d + alpha x h + w x (w x h); the moment about the origin (Euler) is
    J alpha + w x J w + h x d.
    """
    (w, v_origin), (alpha, a_origin) = v, a
    d = add3(a_origin, cross(w, v_origin))
    moment = add3(add3(rotate(J, alpha), cross(w, rotate(J, w))), cross(h, d))
    force = add3(add3(scale3(mass, d), cross(alpha, h)), cross(w, cross(w, h)))
    return (moment, force)


@compiled
def coriolis_blocks(
    mass: float, h: Vector3, J: Matrix3, v: SpatialVector
) -> tuple[Matrix3, Vector3]:
    """
    Return D and the momentum of a rigid body, which :func:`coriolis_force` needs.

    With particles of mass m at r, D = sum m rd r^T and the momentum is sum m rd. From
    rd = u + w x r follows D = u h^T + (w x) sum m r r^T.
    """
    w, u = v
    half = 0.5 * trace(J)
    # sum m r r^T = tr J / 2 - J
    second_moments = subtract33(((half, 0.0, 0.0), (0.0, half, 0.0), (0.0, 0.0, half)), J)
    return add33(outer(u, h), cross_columns(w, second_moments)), apply_inertia(mass, h, J, v)[1]


@compiled
def coriolis_force(D: Matrix3, momentum: Vector3, m: SpatialVector) -> SpatialVector:
    """
    Return B m = v x* I m - I (v x m) + m x* I v, which depends on the angular part of m alone.

    It is the Coriolis force in a frame that turns with w: 2 m w x rd on a particle. The moments
    r x (2 m w x rd) of all particles add up to 2 (tr D - D) w.
    """
    w = scale3(2.0, m[0])
    return (subtract3(scale3(trace(D), w), rotate(D, w)), cross(w, momentum))


@compiled
def coriolis_row(D: Matrix3, momentum: Vector3, m: SpatialVector) -> Vector3:
    """Return the angular part of B^T m; the linear one is zero."""
    moment = subtract3(scale3(trace(D), m[0]), rotate_back(D, m[0]))
    return scale3(2.0, add3(moment, cross(momentum, m[1])))


@compiled
def component(m: SpatialVector, k: int) -> float:
    """Return one of six components, three angular, then three linear."""
    if k < 3:
        return m[0][0] if k == 0 else (m[0][1] if k == 1 else m[0][2])
    return m[1][0] if k == 3 else (m[1][1] if k == 4 else m[1][2])


@compiled
def inertia_column(mass: float, h: Vector3, J: Matrix3, k: int) -> SpatialVector:
    """Return column k of a rigid body's inertia: I e_k for the basis vector e_k."""
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
