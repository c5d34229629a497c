# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The joint types of a tree, each a sequence of the few movements that the kernels know.

How to add a joint type: CONTRIBUTING.md.

A joint of several movements adds massless bodies between them. The docstring of its function
states the order of its coordinates. Axes are unit vectors in the joint frame, shape (3,).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, finite_number, real_array
from ...errors import InputError
from ..kernels import JointKind
from .rigid_body import rotation_from_z_to


@dataclass(frozen=True)
class Coordinate:
    """
    The position of a movement as a function of a joint's coordinate: position = ratio q + offset.

    :param joint: name of the independent joint
    :param ratio: 1 for the independent joint, the multiplier of a mimic joint
    :param offset: 0 for the independent joint, rad or m
    :param index: index of the coordinate among those of the joint
    """

    joint: str
    ratio: float = 1.0
    offset: float = 0.0
    index: int = 0


@dataclass(frozen=True)
class Movement:
    """One movement of a joint, about or along a unit vector of the joint frame, shape (3,)."""

    kind: JointKind
    axis: Array
    coordinate: Coordinate


JointType: TypeAlias = tuple[Movement, ...]

Z = np.array([0.0, 0.0, 1.0])


def revolute(coordinate: str | Coordinate, axis: ArrayLike = Z) -> JointType:
    """
    Return a joint that turns about an axis.

    :param coordinate: the joint's name; for a mimic joint, its coordinate of another joint
    """
    return (Movement(JointKind.REVOLUTE, _vector(axis), _coordinate(coordinate)),)


def prismatic(coordinate: str | Coordinate, axis: ArrayLike = Z) -> JointType:
    """Return a joint that slides along an axis; coordinate as for :func:`revolute`."""
    return (Movement(JointKind.PRISMATIC, _vector(axis), _coordinate(coordinate)),)


def helical(name: str, pitch: float, axis: ArrayLike = Z) -> JointType:
    """Return a screw: q is the angle, and the body advances by pitch q; the pitch is in m/rad."""
    advance = Coordinate(name, ratio=finite_number('pitch', pitch))
    return revolute(name, axis) + prismatic(advance, axis)


def cylindrical(name: str, axis: ArrayLike = Z) -> JointType:
    """Return a joint that turns about and slides along an axis; q is angle, distance."""
    return revolute(name, axis) + prismatic(Coordinate(name, index=1), axis)


def planar(name: str, normal: ArrayLike = Z) -> JointType:
    """
    Return a joint that moves in a plane; q is x, y, angle about the normal.

    The axes of x and y are those of the joint frame, turned by the smallest rotation from z to the
    normal. If the normal points down, the joint frame is turned by pi about x first.
    """
    x, y, _ = rotation_from_z_to(_vector(normal)).T
    return (
        prismatic(name, x)
        + prismatic(Coordinate(name, index=1), y)
        + revolute(Coordinate(name, index=2), normal)
    )


def spherical(name: str) -> JointType:
    """Return a ball joint; q is a unit quaternion x, y, z, w, qd the body's angular velocity."""
    return (Movement(JointKind.SPHERICAL, Z, Coordinate(name)),)


def floating(name: str) -> JointType:
    """
    Return a joint with all six degrees of freedom.

    q is the position in the joint frame, then a unit quaternion x, y, z, w; qd is the spatial
    velocity [angular; linear] of the body in its own coordinates.
    """
    return (Movement(JointKind.FLOATING, Z, Coordinate(name)),)


def orthogonal_complement(S: Array) -> Array:
    """
    Return T, a basis of the forces that do no work in the motions of S: S^T T = 0.

    By elimination (Gauss and Jordan) of S^T. If S consists of columns of the identity, T consists
    of the other columns, as in the tables of textbooks.

    :param S: shape (6, n), n motion vectors, usually independent
    :return: shape (6, 6 - n); more columns if vectors of S depend on others
    """
    A = S.T.copy()
    pivots: list[int] = []
    least = 1e-12 * np.abs(S).max(initial=0.0)
    for k in range(len(A)):
        below, j = divmod(int(np.argmax(np.abs(A[k:]))), 6)
        i = k + below
        if not abs(A[i, j]) > least:
            break
        A[[k, i]] = A[[i, k]]
        A[k] /= A[k, j]
        others = np.arange(len(A)) != k
        A[others] -= np.outer(A[others, j], A[k])
        pivots.append(j)
    free = [j for j in range(6) if j not in pivots]
    T = np.zeros((6, len(free)))
    T[free, range(len(free))] = 1.0
    T[pivots] = 0.0 - A[: len(pivots), free]
    return T


def _coordinate(given: str | Coordinate) -> Coordinate:
    return given if isinstance(given, Coordinate) else Coordinate(given)


def _vector(values: ArrayLike) -> Array:
    axis = np.array(real_array('axis', values))
    if axis.shape != (3,):
        raise InputError('axis', f'has shape {axis.shape}, not (3,)')
    return axis
