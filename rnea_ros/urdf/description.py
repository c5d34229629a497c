# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The content of a URDF as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
import math
from typing import TypeAlias

import numpy as np

from ..arrays import Array

Vector3: TypeAlias = tuple[float, float, float]

ONE_AXIS_TYPES = ('revolute', 'continuous', 'prismatic')
JOINT_TYPES = (*ONE_AXIS_TYPES, 'planar', 'floating', 'fixed')


@dataclass(frozen=True)
class Origin:
    """
    A pose in the parent frame.

    :param xyz: translation, m
    :param rpy: roll, pitch, yaw about the parent's fixed axes, rad
    """

    xyz: Vector3 = (0.0, 0.0, 0.0)
    rpy: Vector3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Inertial:
    """
    Mass properties of a link.

    :param origin: the inertial frame in the link frame; its origin is the centre of mass
    :param mass: kg
    :param inertia: ixx, ixy, ixz, iyy, iyz, izz about the centre of mass, in the inertial
        frame, kg m^2
    """

    origin: Origin
    mass: float
    inertia: tuple[float, float, float, float, float, float]

    @property
    def matrix(self) -> Array:
        """The inertia as a matrix, shape (3, 3), kg m^2."""
        xx, xy, xz, yy, yz, zz = self.inertia
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


@dataclass(frozen=True)
class JointLimits:
    """
    Limits of a joint; infinite where the description sets no limit.

    :param lower: lower position limit, rad or m
    :param upper: upper position limit, rad or m
    :param velocity: speed limit, rad/s or m/s
    :param effort: effort limit, N m or N
    :param acceleration: limit of URDF 1.2, as deceleration, rad/s^2 or m/s^2
    :param jerk: limit of URDF 1.2, rad/s^3 or m/s^3
    """

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
    acceleration: float = math.inf
    deceleration: float = math.inf
    jerk: float = math.inf


@dataclass(frozen=True)
class SafetyController:
    """
    Bounds of velocity and effort near the position limits of a joint.

    :param soft_lower_limit: position from which the velocity is bounded, rad or m
    :param soft_upper_limit: the same at the upper limit, rad or m
    :param k_position: bound of the velocity per distance, 1/s
    :param k_velocity: bound of the effort per excess of velocity, N m s/rad or N s/m
    """

    soft_lower_limit: float
    soft_upper_limit: float
    k_position: float
    k_velocity: float


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
class Joint:
    """
    A joint between two links.

    :param type: revolute, continuous, prismatic, planar, floating or fixed
    :param origin: pose of the joint frame in the parent link's frame; at position 0 it is that of
        the child link's frame
    :param axis: unit vector in the joint frame; normal to the plane of a planar joint
    :param damping: viscous friction, N m s/rad or N s/m
    :param friction: Coulomb friction, N m or N
    :param mimic: the joint that it follows; None for an independent joint
    :param safety_controller: ``<safety_controller>``; None without soft position limits
    """

    name: str
    type: str
    parent: str
    child: str
    origin: Origin
    axis: Vector3
    limits: JointLimits
    damping: float
    friction: float
    mimic: Mimic | None
    safety_controller: SafetyController | None = None

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
    """
    A robot as described by its URDF.

    :param name: the robot's name
    :param root: the root link, which is not the child of a joint
    :param links: by name
    :param joints: by name, a parent link's joint before those of its child link
    :param warnings: sentences on parts that are not physical or were repaired
    :param text: the URDF
    """

    name: str
    root: str
    links: Mapping[str, Link]
    joints: Mapping[str, Joint]
    warnings: tuple[str, ...]
    text: str = field(default='', repr=False, compare=False)
