# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Find links without mass; Gazebo removes them and everything attached to them."""

from __future__ import annotations

from collections.abc import Collection
import warnings
from xml.etree import ElementTree

from ...errors import UrdfError, UrdfWarning
from ...urdf import RobotDescription, parse_urdf

WORLD = 'world'

MIN_MASS = 1e-6
"""Gazebo removes bodies up to this mass, kg."""


def reject_massless(urdf: str) -> None:
    """
    Reject a robot if Gazebo would remove a part of it.

    :param urdf: URDF text, used unchanged
    :raises UrdfError: a link has no mass, including everything fixed to it
    """
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', UrdfWarning)
        description = parse_urdf(urdf)
    for name in _massless(description, frozenset()):
        raise UrdfError(f'link {name!r}', 'has no mass: Gazebo removes all that it carries')


def give_base_mass(
    root: ElementTree.Element, description: RobotDescription, held: Collection[str]
) -> None:
    """
    Give a mass to a base without mass, as Gazebo would remove the arm.

    :param root: URDF, changed in place
    :param description: parsed URDF
    :param held: names of joints to fix, in addition to those of type fixed
    :raises UrdfError: a moving link has no mass, including everything fixed to it
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
    """
    Return the names of the bodies without mass, and whether each moves.

    :param description: parsed URDF
    :param held: names of joints to fix, in addition to those of type fixed
    """
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
