# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""URDF text to a checked :class:`RobotDescription`."""

from __future__ import annotations

from .description import RobotDescription
from .elements import read_joint, read_link
from .mass import check_inertia, warn_of_massless
from .structure import resolve_mimics, tree_order
from .xml import parse_xml, reduce_to_dynamics


def parse_urdf(text: str, *, strict_inertia: bool = False) -> RobotDescription:
    """
    Parse and check URDF text.

    :param text: the XML
    :param strict_inertia: raise an error for an inertia that no rigid body can have, instead of a
        warning
    :raises UrdfError: the URDF cannot be used; with the element and the value
    """
    robot = reduce_to_dynamics(parse_xml(text))
    warnings: list[str] = []
    if not robot.get('name'):
        warnings.append('the robot has no name')

    links = {link.name: link for link in map(read_link, robot.findall('link'))}
    joints = {
        joint.name: joint
        for joint in (read_joint(element, warnings) for element in robot.findall('joint'))
    }
    root, order = tree_order(links, joints)
    joints = resolve_mimics({name: joints[name] for name in order}, warnings)
    for link in links.values():
        check_inertia(link, strict_inertia, warnings)
    warn_of_massless(links, joints, warnings)
    return RobotDescription(robot.get('name', ''), root, links, joints, tuple(warnings), text)
