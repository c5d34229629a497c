# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""URDF text to plain, checked data. No dynamics, no ROS."""

from .description import (
    Inertial,
    Joint,
    Limits,
    Link,
    Mimic,
    Origin,
    RobotDescription,
)
from .parser import parse_urdf
from .xml import MAX_BYTES, read_urdf

__all__ = [
    'MAX_BYTES',
    'Inertial',
    'Joint',
    'Limits',
    'Link',
    'Mimic',
    'Origin',
    'RobotDescription',
    'parse_urdf',
    'read_urdf',
]
