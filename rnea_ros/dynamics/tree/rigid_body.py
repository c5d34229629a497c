# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The pose of a rigid body's frame in another, and the inertia of a rigid body, ten numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, finite_array, finite_number, finite_vector


@dataclass(frozen=True)
class Placement:
    """
    The pose of a child frame in a parent frame: x_parent = rotation @ x_child + translation.

    :param rotation: child's axes in parent coordinates, shape (3, 3)
    :param translation: child's origin in parent coordinates, shape (3,), m
    """

    rotation: Array
    translation: Array

    @classmethod
    def identity(cls) -> Placement:
        """Return the placement of a frame in itself."""
        return cls(np.eye(3), np.zeros(3))

    @classmethod
    def from_xyz_rpy(cls, xyz: Sequence[float], rpy: Sequence[float]) -> Placement:
        """
        Return the placement of a URDF ``origin``.

        :param xyz: translation, shape (3,), m
        :param rpy: roll, pitch, yaw about fixed axes, shape (3,), rad;
            R = Rz(yaw) Ry(pitch) Rx(roll)
        """
        angles = finite_vector('rpy', rpy, 3).tolist()
        (cr, cp, cy), (sr, sp, sy) = [
            [trigonometric(angle) for angle in angles] for trigonometric in (math.cos, math.sin)
        ]
        rotation = np.array([
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ])
        return cls(rotation, finite_vector('xyz', xyz, 3))

    def __matmul__(self, other: Placement) -> Placement:
        return Placement(
            self.rotation @ other.rotation,
            self.rotation @ other.translation + self.translation,
        )

    def inverse(self) -> Placement:
        """Return the pose of the parent frame in the child frame."""
        return Placement(self.rotation.T, -self.rotation.T @ self.translation)

    def matrix(self) -> Array:
        """Return the homogeneous transform, shape (4, 4)."""
        matrix = np.eye(4)
        matrix[:3, :3] = self.rotation
        matrix[:3, 3] = self.translation
        return matrix


def rotation_from_z_to(axis: Array) -> Array:
    """Return R, (3, 3), with R e_z = axis, a unit vector, by Rodrigues' formula."""
    x, y, z = axis
    if z < 0.0:
        # The smallest rotation is ill-conditioned near -z: turn by pi about x first.
        half_turn = np.diag([1.0, -1.0, -1.0])
        return half_turn @ rotation_from_z_to(half_turn @ axis)
    K = np.array([[0.0, 0.0, x], [0.0, 0.0, y], [-x, -y, 0.0]])  # skew matrix of e_z x axis
    return np.asarray(np.eye(3) + K + K @ K / (1.0 + z))


@dataclass(frozen=True)
class RigidBodyInertia:
    """
    Mass properties about the origin of a frame (Featherstone 2008, eq. 2.63).

    :param mass: kg
    :param h: first moment, mass times centre of mass, shape (3,), kg m
    :param J: rotational inertia about the frame's origin, shape (3, 3), kg m^2
    """

    mass: float
    h: Array
    J: Array

    @classmethod
    def zero(cls) -> RigidBodyInertia:
        """Return an inertia of zeros."""
        return cls(0.0, np.zeros(3), np.zeros((3, 3)))

    @classmethod
    def from_centre_of_mass(cls, mass: float, com: Array, J_com: Array) -> RigidBodyInertia:
        """Return an inertia from centre of mass, m, and inertia about it, (3, 3), kg m^2."""
        mass, com = finite_number('mass', mass), finite_vector('com', com, 3)
        J_com = finite_array('J_com', J_com, (3, 3))
        h = mass * com
        # Parallel axes (Steiner): J = J_com + m (|c|^2 1 - c c^T)
        J = J_com + np.dot(h, com) * np.eye(3) - np.outer(h, com)
        return cls(mass, h, J)

    @classmethod
    def from_parameters(cls, phi: ArrayLike) -> RigidBodyInertia:
        """Return the inertia of :attr:`parameters`, shape (10,)."""
        mass, hx, hy, hz, xx, xy, yy, xz, yz, zz = np.asarray(phi, dtype=np.float64).tolist()
        J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return cls(mass, np.array([hx, hy, hz]), J)

    @property
    def parameters(self) -> Array:
        """The ten standard parameters: mass, h, Jxx, Jxy, Jyy, Jxz, Jyz, Jzz, shape (10,)."""
        return np.array([self.mass, *self.h, *self.J[np.tril_indices(3)]])

    @property
    def com(self) -> Array:
        """The centre of mass, shape (3,), m; zeros without mass."""
        return self.h / self.mass if self.mass else np.zeros(3)

    @property
    def J_com(self) -> Array:  # noqa: N802
        """The rotational inertia about the centre of mass, shape (3, 3), kg m^2."""
        # Parallel axes (Steiner): J_com = J - m (|c|^2 1 - c c^T)
        com = self.com
        return np.asarray(self.J - np.dot(self.h, com) * np.eye(3) + np.outer(self.h, com))

    def __add__(self, other: RigidBodyInertia) -> RigidBodyInertia:
        return RigidBodyInertia(self.mass + other.mass, self.h + other.h, self.J + other.J)

    def __sub__(self, other: RigidBodyInertia) -> RigidBodyInertia:
        return RigidBodyInertia(self.mass - other.mass, self.h - other.h, self.J - other.J)

    def transformed(self, placement: Placement) -> RigidBodyInertia:
        """Return the same body's inertia about the origin of the placement's parent frame."""
        R, p = placement.rotation, placement.translation
        h = R @ self.h
        # |c + p|^2 1 - (c + p)(c + p)^T, expanded: no division by a mass, which may be zero
        cross_terms = 2.0 * np.dot(h, p) * np.eye(3) - np.outer(h, p) - np.outer(p, h)
        offset = self.mass * (np.dot(p, p) * np.eye(3) - np.outer(p, p))
        return RigidBodyInertia(
            self.mass, h + self.mass * p, R @ self.J @ R.T + cross_terms + offset
        )
