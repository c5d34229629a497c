# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Replace joints of a URDF by fixed joints."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import numpy as np

from ...arrays import Array
from ...dynamics.tree import Placement
from ...urdf import Joint


def fix_joint(root: ElementTree.Element, joint: Joint, position: float) -> None:
    """
    Replace a joint by a fixed joint at a position.

    :param root: URDF, changed in place
    :param joint: joint with one axis
    :param position: position of the joint, rad or m
    """
    element = next(each for each in root.findall('joint') if each.get('name') == joint.name)
    element.set('type', 'fixed')
    for tag in ('mimic', 'limit', 'dynamics', 'axis'):
        for child in element.findall(tag):
            element.remove(child)
    if position == 0.0:
        return
    axis = np.array(joint.axis)
    if joint.type == 'prismatic':
        moved = Placement(np.eye(3), position * axis)
    else:
        moved = Placement(_rotation(axis, position), np.zeros(3))
    pose = Placement.from_xyz_rpy(joint.origin.xyz, joint.origin.rpy) @ moved
    origin = element.find('origin')
    if origin is None:
        origin = ElementTree.SubElement(element, 'origin')
    origin.set('xyz', _numbers(pose.translation))
    origin.set('rpy', _numbers(_rpy(pose.rotation)))


def _rotation(axis: Array, angle: float) -> Array:
    """Return the rotation about a unit vector by Rodrigues' formula, shape (3, 3)."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turned: Array = (
        np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * (cross @ cross)
    )
    return turned


def _rpy(rotation: Array) -> Array:
    """Return roll, pitch and yaw of a rotation; yaw is 0 at a pitch of +-pi/2."""
    pitch = math.atan2(-rotation[2, 0], math.hypot(rotation[2, 1], rotation[2, 2]))
    if math.hypot(rotation[2, 1], rotation[2, 2]) < 1e-9:
        sign = math.copysign(1.0, pitch)
        return np.array([math.atan2(sign * rotation[0, 1], rotation[1, 1]), pitch, 0.0])
    roll = math.atan2(rotation[2, 1], rotation[2, 2])
    return np.array([roll, pitch, math.atan2(rotation[1, 0], rotation[0, 0])])


def _numbers(values: Array) -> str:
    return ' '.join(repr(float(value)) for value in values)
