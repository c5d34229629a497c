# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Changes of a URDF for Gazebo: fixed joints, and no link without mass."""

from __future__ import annotations

from collections.abc import Collection
import math
from xml.etree import ElementTree

import numpy as np

from ...arrays import Array
from ...dynamics import quaternions
from ...dynamics.tree import Placement
from ...errors import UrdfError
from ...urdf import Joint, RobotDescription, parse_urdf

WORLD = 'world'

MIN_MASS = 1e-6  # Gazebo removes bodies up to it, kg


def reject_massless(urdf: str) -> None:
    """Reject a URDF if a link has no mass, fixed parts included: Gazebo would remove it."""
    for name in _massless(parse_urdf(urdf), frozenset()):
        raise UrdfError(f'link {name!r}', 'has no mass: Gazebo removes all that it carries')


def give_base_mass(
    root: ElementTree.Element, description: RobotDescription, held: Collection[str]
) -> None:
    """
    Give a mass to a base without mass, as Gazebo would remove the arm; reject others without.

    Joints named as held count as fixed.
    """
    for name, moves in _massless(description, held).items():
        if moves:
            raise UrdfError(
                f'link {name!r}', 'moves, but has no mass: Gazebo removes all that it carries'
            )
        link = next(each for each in root.findall('link') if each.get('name') == name)
        for element in link.findall('inertial'):
            link.remove(element)
        inertial = ElementTree.SubElement(link, 'inertial')
        ElementTree.SubElement(inertial, 'mass', value='1')
        moments = dict.fromkeys(('ixx', 'iyy', 'izz'), '0.01')
        products = dict.fromkeys(('ixy', 'ixz', 'iyz'), '0')
        ElementTree.SubElement(inertial, 'inertia', moments | products)


def _massless(description: RobotDescription, held: Collection[str]) -> dict[str, bool]:
    """Return the bodies without mass, and whether each moves; held joints count as fixed."""
    carriers, moves = {description.root: description.root}, {description.root: False}
    for joint in description.joints.values():
        rigid = joint.type == 'fixed' or joint.name in held
        # Gazebo merges links with fixed joints, except at the world.
        carrier = carriers[joint.parent] if rigid and joint.parent != WORLD else joint.child
        carriers[joint.child] = carrier
        moves.setdefault(carrier, not rigid)
    masses = dict.fromkeys(moves, 0.0)
    for name, link in description.links.items():
        masses[carriers[name]] += link.inertial.mass if link.inertial else 0.0
    return {
        name: moves[name]
        for name, mass in masses.items()
        if name != WORLD and mass <= MIN_MASS
    }


def fix_joint(root: ElementTree.Element, joint: Joint, position: float) -> None:
    """Replace a joint by a fixed joint at a position, rad or m."""
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
        turn = quaternions.exponential(position * axis)
        moved = Placement(quaternions.rotation(turn), np.zeros(3))
    pose = Placement.from_xyz_rpy(joint.origin.xyz, joint.origin.rpy) @ moved
    origin = element.find('origin')
    if origin is None:
        origin = ElementTree.SubElement(element, 'origin')
    origin.set('xyz', _numbers(pose.translation))
    origin.set('rpy', _numbers(_rpy(pose.rotation)))


def _rpy(rotation: Array) -> Array:
    """Return roll, pitch and yaw of a rotation, exact also at a pitch of +-pi/2."""
    (xx, xy, xz), (yx, yy, yz), (zx, _, _) = rotation.tolist()
    yaw = math.atan2(yx, xx)
    c, s = math.cos(yaw), math.sin(yaw)
    roll, pitch = math.atan2(s * xz - c * yz, c * yy - s * xy), math.atan2(-zx, c * xx + s * yx)
    return np.array([roll, pitch, yaw])


def _numbers(values: Array) -> str:
    return ' '.join(repr(float(value)) for value in values)
