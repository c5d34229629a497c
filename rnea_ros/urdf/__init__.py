# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""URDF text to plain, checked data and back, without dynamics and without ROS."""

from .description import (
    Inertial,
    Joint,
    JointLimits,
    Link,
    Mimic,
    Origin,
    RobotDescription,
    SafetyController,
    Shape,
    collision_shapes,
)
from .elements import MAX_SIZE, read_shapes
from .inertials import rounded, with_inertials
from .mass import UNUSUAL_MASS, inertia_problem
from .meshes import mesh_path, mesh_triangles, shape_triangles
from .parser import parse_urdf
from .source import disabled_pairs, read_urdf
from .xml import MAX_BYTES, MAX_ELEMENTS, parse_xml, reduce_to_dynamics

__all__ = [
    'MAX_BYTES', 'MAX_ELEMENTS', 'MAX_SIZE', 'UNUSUAL_MASS', 'Inertial', 'Joint', 'JointLimits',
    'Link', 'Mimic', 'Origin', 'RobotDescription', 'SafetyController', 'Shape', 'collision_shapes',
    'disabled_pairs', 'inertia_problem', 'mesh_path', 'mesh_triangles', 'parse_urdf', 'parse_xml',
    'read_shapes', 'read_urdf', 'reduce_to_dynamics', 'rounded', 'shape_triangles',
    'with_inertials',
]
