# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Links without mass: Gazebo leaves them out, and with them all that hangs on them."""

from __future__ import annotations

from collections.abc import Collection
import warnings
from xml.etree import ElementTree

from ...errors import UrdfError, UrdfWarning
from ...urdf import RobotDescription, parse_urdf

WORLD = 'world'

LIGHTEST = 1e-6
"""Gazebo leaves out a body that weighs no more, kg."""


def refuse_massless(urdf: str) -> None:
    """
    Refuse a robot of which Gazebo would leave out a part.

    :param urdf: its text, which is to be used as it is
    :raises UrdfError: a link has no mass, nor has what is fixed to it
    """
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', UrdfWarning)
        description = parse_urdf(urdf)
    for name in _massless(description, frozenset()):
        raise UrdfError(f'link {name!r}', 'has no mass: Gazebo leaves out all that hangs on it')


def give_base_mass(
    root: ElementTree.Element, description: RobotDescription, held: Collection[str]
) -> None:
    """
    Give a base without mass some: it stands still, but Gazebo would leave out the arm.

    :param root: the URDF, which is changed
    :param description: what it describes
    :param held: joints that are fixed besides those that are of that type
    :raises UrdfError: a link that moves has no mass, nor has what is fixed to it
    """
    for name, moves in _massless(description, held).items():
        if moves:
            raise UrdfError(
                f'link {name!r}', 'moves, but has no mass: Gazebo leaves out all that hangs on it'
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
    Return the bodies without mass by the link that carries them, and whether each moves.

    :param held: joints that are fixed besides those that are of that type
    """
    carriers, moves = {description.root: description.root}, {description.root: False}
    for joint in description.joints.values():
        rigid = joint.type == 'fixed' or joint.name in held
        # Gazebo joins what is fixed to its carrier, but not to the world.
        carrier = carriers[joint.parent] if rigid and joint.parent != WORLD else joint.child
        carriers[joint.child] = carrier
        moves.setdefault(carrier, not rigid)
    masses = dict.fromkeys(moves, 0.0)
    for name, link in description.links.items():
        masses[carriers[name]] += link.inertial.mass if link.inertial else 0.0
    return {
        name: moves[name]
        for name, mass in masses.items()
        if name != WORLD and mass <= LIGHTEST
    }
