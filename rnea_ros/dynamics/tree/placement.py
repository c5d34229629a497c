# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Placements: the pose of one frame in another, as rotation matrix and translation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np

from ...arrays import Array, finite_vector


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
