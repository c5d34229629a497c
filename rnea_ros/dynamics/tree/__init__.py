# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Kinematic trees: links, joints, inertias and frames, numbered parent first."""

from .joint_types import (
    Coordinate,
    JointType,
    floating,
    helical,
    orthogonal_complement,
    planar,
    prismatic,
    revolute,
    spherical,
)
from .kinematic_tree import (
    FIXED,
    WORLD,
    Frame,
    JointCoordinates,
    KinematicTree,
    TreeBuilder,
    TreeLink,
    with_added_inertia,
    with_separate_bodies,
)
from .rigid_body import Placement, RigidBodyInertia, rotation_from_z_to

__all__ = [
    'FIXED', 'WORLD', 'Coordinate', 'Frame', 'JointCoordinates', 'JointType', 'KinematicTree',
    'Placement', 'RigidBodyInertia', 'TreeBuilder', 'TreeLink', 'floating', 'helical',
    'orthogonal_complement', 'planar', 'prismatic', 'revolute', 'rotation_from_z_to', 'spherical',
    'with_added_inertia', 'with_separate_bodies',
]
