# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The content of a URDF as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
import math
from typing import TypeAlias
import warnings

import numpy as np

from ..arrays import Array

Vector3: TypeAlias = tuple[float, float, float]

ONE_AXIS_TYPES = ('revolute', 'continuous', 'prismatic')
JOINT_TYPES = (*ONE_AXIS_TYPES, 'planar', 'floating', 'fixed')


@dataclass(frozen=True)
class Origin:
    """A pose in the parent frame."""

    xyz: Vector3 = (0.0, 0.0, 0.0)  # translation, m
    rpy: Vector3 = (0.0, 0.0, 0.0)  # roll, pitch, yaw about the parent's fixed axes, rad


@dataclass(frozen=True)
class Inertial:
    """Mass properties of a link."""

    origin: Origin  # the inertial frame in the link frame, at the centre of mass
    mass: float  # kg
    inertia: tuple[float, float, float, float, float, float]
    """ixx, ixy, ixz, iyy, iyz, izz about the centre of mass, in the inertial frame, kg m^2."""

    @property
    def matrix(self) -> Array:
        """The inertia as a matrix, shape (3, 3), kg m^2."""
        xx, xy, xz, yy, yz, zz = self.inertia
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


@dataclass(frozen=True)
class JointLimits:
    """Limits of a joint, rad or m, N m or N; infinite where the description sets no limit."""

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
    acceleration: float = math.inf  # this and the next two: URDF 1.2
    deceleration: float = math.inf
    jerk: float = math.inf


@dataclass(frozen=True)
class SafetyController:
    """Bounds of velocity and effort near the position limits of a joint."""

    soft_lower_limit: float  # position from which the velocity is bounded, rad or m
    soft_upper_limit: float  # the same at the upper limit, rad or m
    k_position: float  # bound of the velocity per distance, 1/s
    k_velocity: float  # bound of the effort per excess of velocity, N m s/rad or N s/m


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another: position = multiplier * position of ``joint`` + offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class Link:
    """A link and its mass properties; None for a link without ``<inertial>``."""

    name: str
    inertial: Inertial | None


@dataclass(frozen=True)
class Shape:
    """A collision shape of a link."""

    link: str
    kind: str  # box, cylinder, sphere, capsule or mesh
    size: tuple[float, ...]  # size, or radius and length, m; of a mesh three factors
    origin: Origin  # pose in the link's frame
    file: str = ''  # of a mesh, as written


@dataclass(frozen=True)
class Joint:
    """A joint between two links."""

    name: str
    type: str  # one of JOINT_TYPES
    parent: str
    child: str
    origin: Origin  # the joint frame, and at position 0 the child link's, in the parent link's
    axis: Vector3  # unit vector in the joint frame; normal to the plane of a planar joint
    limits: JointLimits
    damping: float  # viscous friction, N m s/rad or N s/m
    friction: float  # Coulomb friction, N m or N
    mimic: Mimic | None  # None for an independent joint
    safety_controller: SafetyController | None = None  # None without soft position limits

    @property
    def moves(self) -> bool:
        """Whether the joint has a degree of freedom."""
        return self.type != 'fixed'

    @property
    def one_axis(self) -> bool:
        """Whether the joint turns about or slides along one axis."""
        return self.type in ONE_AXIS_TYPES


@dataclass(frozen=True)
class RobotDescription:
    """A robot as described by its URDF."""

    name: str
    root: str  # the link that is not the child of a joint
    links: Mapping[str, Link]
    joints: Mapping[str, Joint]  # a parent link's joint before those of its child link
    warnings: tuple[str, ...]  # sentences on parts that are not physical or were repaired
    text: str = field(default='', repr=False, compare=False)  # the URDF
    shapes: tuple[Shape, ...] = field(default=(), repr=False, compare=False)  # for collisions
    unread_shapes: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """The reason by link, where a shape is unknown or cannot have its size or pose."""


def collision_shapes(description: RobotDescription, unread: dict[str, str]) -> list[Shape]:
    """Return ``description.shapes``, and its ``unread_shapes``; warns, until version 0.5."""
    text = 'collision_shapes(description, unread) -> description.shapes and unread_shapes'
    warnings.warn(text, DeprecationWarning, stacklevel=2)
    unread.update(description.unread_shapes)
    return list(description.shapes)
