# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
URDF text to XML elements that are safe to interpret.

Declarations (DTD, entities) and raw xacro are errors. Elements that dynamics do not need (visuals,
collisions, transmissions, simulator extensions) are removed, so that faults in them have no effect
and files that they name are not loaded.

The text is parsed once, by expat: checks need attributes as they are written, also unknown ones,
and prefixes may lack a declaration. urdf_parser_py interprets the reduced elements as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
import math
from typing import TypeAlias
from xml.etree import ElementTree
from xml.parsers import expat

from ..errors import UrdfError, clipped

BLANKS = '\ufeff \t\r\n'
MAX_BYTES = 16 * 1024 * 1024
MAX_KINDS = 20  # most warnings of parts that are not understood
MAX_ELEMENTS = 10_000
"""Most links, and most joints: bounds for time and memory."""

_READ: Mapping[str, tuple[str, ...]] = {
    'link': ('name', '<inertial>'), 'inertial': ('<origin>', '<mass>', '<inertia>'),
    'mass': ('value',), 'inertia': ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'),
    'joint': ('name', 'type', '<origin>', '<parent>', '<child>', '<axis>', '<limit>',
              '<dynamics>', '<mimic>'),
    'origin': ('xyz', 'rpy', 'quat_xyzw'), 'parent': ('link',), 'child': ('link',),
    'limit': ('lower', 'upper', 'effort', 'velocity', 'acceleration', 'deceleration', 'jerk'),
    'axis': ('xyz',), 'dynamics': ('damping', 'friction'),
    'mimic': ('joint', 'multiplier', 'offset'),
}  # fmt: skip
"""The attributes and <children> that dynamics need; all others are removed before parsing."""

_UNDERSTOOD: Mapping[str, tuple[str, ...]] = {
    **_READ,
    'robot': ('name', 'version', '<link>', '<joint>'),
    'link': (*_READ['link'], 'type', '<collision>'),
    'joint': (*_READ['joint'], '<safety_controller>'),
    'collision': ('name', '<origin>'),
    'safety_controller': ('soft_lower_limit', 'soft_upper_limit', 'k_position', 'k_velocity'),
}
_SILENT = (
    'visual', 'material', 'gazebo', 'ros2_control', 'transmission', 'sensor', 'mujoco', 'geometry',
    'calibration', 'verbose', 'xmlns',
)  # fmt: skip
"""Attributes and elements without effect on dynamics, wherever they are."""
_WITHOUT_MEANING: Mapping[str | None, tuple[str, ...]] = {
    'fixed': ('axis', 'limit', 'dynamics', 'mimic'),
    'floating': ('axis',),
}
"""Elements without meaning in joints of a type; they are removed, whatever they contain."""

_LENGTH_TOLERANCE = 0.02  # of a quaternion: some have two digits

_HOLDERS_OF_LINKS = ('include', 'macro', 'if', 'unless')  # of xacro, spelt without prefix
_RAW_XACRO = 'this is xacro: expand it with `xacro FILE`'

Places: TypeAlias = dict[ElementTree.Element, list[int]]


class _Element(ElementTree.Element):
    """An element for urdf_parser_py, whose version 1.2.1 expects those of lxml."""

    def getchildren(self) -> list[ElementTree.Element]:
        return list(self)


def parse_xml(text: str, places: Places | None = None) -> ElementTree.Element:
    """
    Return the root element.

    Prefixes are part of the names, as in other readers of URDF: they need no declaration, and a
    default namespace changes nothing. Rotations ``quat_xyzw`` of URDF 1.1 become ``rpy``.

    :param places: gets the first byte of the start tag and of the end tag by element, in the text
        in UTF-8 without its leading :data:`BLANKS`
    :raises UrdfError: the text is too large, not XML, raw xacro, or declares a DTD
    """
    if not isinstance(text, str):
        raise UrdfError('URDF', f'is not text but {type(text).__name__}')
    if not text.strip():
        raise UrdfError('URDF', 'the text is empty')
    text = text.lstrip(BLANKS)
    if len(text.encode('utf-8', errors='replace')) > MAX_BYTES:
        raise UrdfError('URDF', f'the text has over {MAX_BYTES} bytes')

    def reject_document_type(name: str, *_: object) -> None:
        raise UrdfError(f'document type {name!r}', 'DTD and entity declarations are not allowed')

    builder = ElementTree.TreeBuilder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = reject_document_type
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    if places is not None:

        def start(tag: str, attributes: dict[str, str]) -> None:
            places[builder.start(tag, attributes)] = [parser.CurrentByteIndex]

        def end(tag: str) -> None:
            places[builder.end(tag)].append(parser.CurrentByteIndex)

        parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parser.Parse(text, True)
    except (expat.ExpatError, ValueError) as error:
        raise UrdfError('URDF', f'not well-formed XML: {error}') from error
    root = builder.close()
    _reject_xacro(root, text)
    if root.tag != 'robot':
        raise UrdfError(f'element <{root.tag}>', 'the root element must be <robot>')
    for origin in root.iter('origin'):
        use_rpy(origin)
    return root


def use_rpy(origin: ElementTree.Element) -> None:
    """Replace ``quat_xyzw`` by ``rpy``; one that is not usable stays, for an error."""
    text = origin.get('quat_xyzw', '')
    try:
        x, y, z, w = map(float, text.split())
    except ValueError:
        return
    usable = abs(math.hypot(x, y, z, w) - 1.0) < _LENGTH_TOLERANCE and '_' not in text
    if usable and 'rpy' not in origin.attrib:
        # Bernardes and Viollet, PLoS ONE 17(11), 2022: exact also at a pitch of +-pi/2
        one, other = math.atan2(x + z, w - y), math.atan2(z - x, w + y)
        pitch = 2.0 * math.atan2(math.hypot(z - x, w + y), math.hypot(x + z, w - y)) - math.pi / 2
        del origin.attrib['quat_xyzw']
        origin.set('rpy', f'{one - other!r} {pitch!r} {one + other!r}')


def _reject_xacro(root: ElementTree.Element, text: str) -> None:
    """Raise an error for raw xacro; expanded xacro may still declare the prefix."""
    for child in root:
        if child.tag in _HOLDERS_OF_LINKS:
            raise UrdfError(
                f'element <{child.tag}>',
                f'{_RAW_XACRO}; if this element remains, its name lacks the prefix xacro:',
            )
    if 'xacro:' not in text and '$' not in text:
        return
    for element in root.iter():
        names = (element.tag, *element.attrib)
        if any(name.startswith('xacro:') for name in names):
            raise UrdfError(f'element <{element.tag}>', _RAW_XACRO)
        if element is root or element.tag in _READ:
            for name, value in element.attrib.items():
                if '${' in value or '$(' in value:
                    raise UrdfError(f'element <{element.tag}>', f'{name} {value!r}: {_RAW_XACRO}')


def reduce_to_dynamics(root: ElementTree.Element) -> ElementTree.Element:
    """Return a copy with only the elements that dynamics need; names are checked to be unique."""
    name = root.get('name', '')
    reduced = _Element('robot', name=name)
    for tag in ('link', 'joint'):
        elements = root.findall(tag)
        if len(elements) > MAX_ELEMENTS:
            reason = f'has {len(elements)} {tag}s, at most {MAX_ELEMENTS} are read'
            raise UrdfError(f'robot {name!r}', reason)
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
    read = _READ.get(element.tag, ())
    attributes = {name: element.attrib[name] for name in read if name in element.attrib}
    reduced = _Element(element.tag, attributes)
    without_meaning = _WITHOUT_MEANING.get(element.get('type'), ())
    for tag in (part[1:-1] for part in read if part.startswith('<')):
        if tag in without_meaning:
            continue
        children = [_reduce_element(child, owner) for child in element.findall(tag)]
        # In joints, an element that is repeated unchanged is read once.
        differ = element.tag != 'joint' or any(c.attrib != children[0].attrib for c in children)
        if len(children) > 1 and differ:
            given = ' and '.join(' '.join(f'{n}="{v}"' for n, v in c.items()) for c in children)
            raise UrdfError(owner, f'has {len(children)} <{tag}> elements, not one: {given}')
        reduced.extend(children[:1])
    return reduced


def part_names(element: ElementTree.Element) -> tuple[str, ...]:
    """Return the names of the attributes and <children> of an element."""
    return tuple(dict.fromkeys((*element.attrib, *(f'<{child.tag}>' for child in element))))


def unknown_parts(root: ElementTree.Element) -> Iterator[str]:
    """
    Yield a sentence for each kind of attribute or child element that is not understood.

    It names the first element and counts all. Names with a prefix belong to other programs.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for holder in (root, *root.findall('link'), *root.findall('joint')):
        tags = set(_UNDERSTOOD) - {'link', 'joint', *_WITHOUT_MEANING.get(holder.get('type'), ())}
        read = (child for child in holder if child.tag in tags)
        for element in (holder, *(part for child in read for part in child.iter())):
            understood = _UNDERSTOOD.get(element.tag, part_names(element))
            odd = [part for part in part_names(element) if part not in understood
                   and part.strip('<>') not in _SILENT and ':' not in part]  # fmt: skip
            if odd:
                owner = f'{holder.tag} {holder.get("name", "")!r}'
                found.setdefault((element.tag, clipped(', '.join(odd), 200)), []).append(owner)
    for (tag, parts), (owner, *others) in islice(found.items(), MAX_KINDS):
        more = f', {len(others) + 1} times in all' if others else ''
        text = f'{clipped(owner)}: not understood and not used in <{tag}>: {parts}{more}'
        yield f'{text} (harmless unless it describes mass or motion)'
