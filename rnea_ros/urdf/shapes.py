# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The ``<collision>`` elements of a URDF, and the pairs of links that an SRDF disables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from ..errors import UrdfError
from .description import Origin, RobotDescription
from .xml import parse_xml, read_srdf

SIZES = {'box': ('size',), 'cylinder': ('radius', 'length'), 'sphere': ('radius',),
         'capsule': ('radius', 'length'), 'mesh': ('scale',)}  # fmt: skip
"""Attributes of each kind of shape."""

MAX_SIZE = 1e6  # of shapes, and distance from the link, m


@dataclass(frozen=True)
class Shape:
    """
    A collision shape.

    :param link: its link
    :param kind: box, cylinder, sphere, capsule or mesh
    :param size: the attributes of :data:`SIZES`, m; of a mesh three factors
    :param origin: pose in the link's frame
    :param file: file of a mesh, as written
    """

    link: str
    kind: str
    size: tuple[float, ...]
    origin: Origin
    file: str = ''


def collision_shapes(description: RobotDescription, unread: dict[str, str]) -> list[Shape]:
    """
    Return the collision shapes of all links.

    :param unread: gets the reason by link where a shape is unknown or cannot have its size or pose
    """
    shapes = []
    for link in parse_xml(description.text).findall('link') if description.text else ():
        for element in link.findall('collision'):
            try:
                shapes.append(_shape(link.get('name', ''), element))
            except UrdfError as error:
                unread[link.get('name', '')] = error.reason
    return shapes


def disabled_pairs(srdf: Path) -> frozenset[frozenset[str]]:
    """
    Return the pairs of links whose collisions an SRDF file disables.

    :raises UrdfError: the file cannot be read
    """
    return frozenset(
        frozenset((pair.get('link1', ''), pair.get('link2', '')))
        for pair in read_srdf(srdf).findall('disable_collisions')
    )


def _shape(link: str, element: ElementTree.Element) -> Shape:
    owner = f'link {link!r}'
    holder = element.find('geometry')
    shapes = [] if holder is None else [child for child in holder if child.tag in SIZES]
    if len(shapes) != 1:
        raise UrdfError(owner, f'a <collision> needs one of {", ".join(SIZES)}')
    (shape,) = shapes
    default = {'scale': '1 1 1'}
    size = [_numbers(shape.get(name, default.get(name, '')), owner) for name in SIZES[shape.tag]]
    origin = element.find('origin')
    pose = {} if origin is None else origin.attrib
    x, y, z, *_ = (*_numbers(pose.get('xyz', '0 0 0'), owner), 0.0, 0.0, 0.0)
    roll, pitch, yaw, *_ = (*_numbers(pose.get('rpy', '0 0 0'), owner), 0.0, 0.0, 0.0)
    flat = tuple(number for numbers in size for number in numbers)
    if len(flat) != {'box': 3, 'mesh': 3}.get(shape.tag, len(size)):
        raise UrdfError(owner, f'<{shape.tag}> in <collision> has {len(flat)} sizes')
    numbers = (*flat, x, y, z, roll, pitch, yaw)
    positive = all(abs(number) if shape.tag == 'mesh' else number > 0.0 for number in flat)
    if not positive or not all(abs(number) < MAX_SIZE for number in numbers):
        raise UrdfError(owner, f'<{shape.tag}> in <collision> has size {flat} at {x, y, z} m')
    return Shape(link, shape.tag, flat, Origin((x, y, z), (roll, pitch, yaw)),
                 shape.get('filename', ''))  # fmt: skip


def _numbers(text: str, owner: str) -> tuple[float, ...]:
    try:
        return tuple(float(word) for word in text.split())
    except ValueError:
        raise UrdfError(owner, f'{text!r} in <collision> is not numbers') from None
