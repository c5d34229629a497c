# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""URDF text to plain, checked data and back, without dynamics and without ROS."""

from .description import Inertial, Joint, Limits, Link, Mimic, Origin, RobotDescription
from .inertials import rounded, with_inertials
from .mass import inertia_problem
from .parser import parse_urdf
from .xml import MAX_BYTES, MAX_ELEMENTS, parse_xml, read_urdf, reduce_to_dynamics

__all__ = [
    'MAX_BYTES',
    'MAX_ELEMENTS',
    'Inertial',
    'Joint',
    'Limits',
    'Link',
    'Mimic',
    'Origin',
    'RobotDescription',
    'inertia_problem',
    'parse_urdf',
    'parse_xml',
    'read_urdf',
    'reduce_to_dynamics',
    'rounded',
    'with_inertials',
]
