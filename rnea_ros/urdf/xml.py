# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
URDF text to XML elements that are safe to interpret.

Declarations (DTD, entities) are errors. Elements that dynamics do not need (visuals, collisions,
transmissions, simulator extensions) are removed, so that faults in them have no effect and files
that they name are not loaded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
import os
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

from ..errors import UrdfError

MAX_BYTES = 16 * 1024 * 1024

# The elements and attributes that dynamics need; all others are removed before parsing.
_KEPT_CHILDREN: Mapping[str, tuple[str, ...]] = {
    'link': ('inertial',),
    'inertial': ('origin', 'mass', 'inertia'),
    'joint': ('origin', 'parent', 'child', 'axis', 'limit', 'dynamics', 'mimic'),
}
_KEPT_ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    'link': ('name',),
    'mass': ('value',),
    'inertia': ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'),
    'origin': ('xyz', 'rpy'),
    'joint': ('name', 'type'),
    'parent': ('link',),
    'child': ('link',),
    'axis': ('xyz',),
    'limit': ('lower', 'upper', 'effort', 'velocity'),
    'dynamics': ('damping', 'friction'),
    'mimic': ('joint', 'multiplier', 'offset'),
}


def read_urdf(source: str | os.PathLike[str]) -> str:
    """
    Return URDF text from XML text or from the path of a file.

    :param source: XML, recognised by its first ``<``, or a path
    :raises UrdfError: the file cannot be read, is too large or is not text
    """
    if isinstance(source, str) and source.lstrip('\ufeff \t\r\n').startswith('<'):
        return source
    path = Path(source)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UrdfError('URDF', f'{path} has over {MAX_BYTES} bytes')
        return path.read_bytes().decode('utf-8')  # with its line breaks
    except (OSError, ValueError) as error:
        raise UrdfError('URDF', f'cannot read {str(source)[:200]!r}: {error}') from error


def parse_xml(text: str) -> ElementTree.Element:
    """Return the root element; UrdfError if the text is too large, not XML, or declares a DTD."""
    if not isinstance(text, str):
        raise UrdfError('URDF', f'is not text but {type(text).__name__}')
    if not text.strip():
        raise UrdfError('URDF', 'the text is empty')
    text = text.lstrip('\ufeff \t\r\n')
    if len(text.encode('utf-8', errors='replace')) > MAX_BYTES:
        raise UrdfError('URDF', f'the text has over {MAX_BYTES} bytes')

    def reject_document_type(name: str, *_: object) -> None:
        raise UrdfError(
            f'document type {name!r}', 'DTD and entity declarations are not allowed in a URDF'
        )

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = reject_document_type
    try:
        parser.Parse(text, True)
        root = ElementTree.fromstring(text)
    except (expat.ExpatError, ElementTree.ParseError, ValueError) as error:
        raise UrdfError('URDF', f'not well-formed XML: {error}') from error
    if root.tag != 'robot':
        raise UrdfError(f'element <{root.tag}>', 'the root element of a URDF is <robot>')
    return root


def reduce_to_dynamics(root: ElementTree.Element) -> ElementTree.Element:
    """Return a copy with only the elements that dynamics need; names are checked to be unique."""
    name = root.get('name', '')
    reduced = ElementTree.Element('robot', name=name)
    for tag in ('link', 'joint'):
        elements = root.findall(tag)
        names = [element.get('name') for element in elements]
        for position, element_name in enumerate(names, start=1):
            if not element_name:
                raise UrdfError(f'{tag} number {position}', 'has no name')
        for element_name, count in Counter(names).items():
            if count > 1:
                raise UrdfError(f'{tag} {element_name!r}', f'the name is used {count} times')
        for element in elements:
            reduced.append(_reduce_element(element, f'{tag} {element.get("name")!r}'))
    if not reduced.findall('link'):
        raise UrdfError(f'robot {name!r}', 'has no link')
    return reduced


def _reduce_element(element: ElementTree.Element, owner: str) -> ElementTree.Element:
    kept = _KEPT_ATTRIBUTES.get(element.tag, ())
    reduced = ElementTree.Element(
        element.tag, {name: element.attrib[name] for name in kept if name in element.attrib}
    )
    for tag in _KEPT_CHILDREN.get(element.tag, ()):
        children = element.findall(tag)
        if len(children) > 1:
            raise UrdfError(owner, f'has {len(children)} <{tag}> elements, at most one is allowed')
        for child in children:
            reduced.append(_reduce_element(child, owner))
    return reduced
