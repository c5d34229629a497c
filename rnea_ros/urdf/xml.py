# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
URDF text to XML elements that are safe to interpret.

Declarations (DTD, entities) and raw xacro are errors. Elements that dynamics do not need (visuals,
collisions, transmissions, simulator extensions) are removed, so that faults in them have no effect
and files that they name are not loaded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
import math
import os
from pathlib import Path
import re
from xml.etree import ElementTree
from xml.parsers import expat

from ..errors import UrdfError, clipped
from ..files import read_regular
from ..xacro_files import expand, is_xacro

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

# Encodings that may be declared; other codecs of Python are slow, or not text encodings.
_ENCODING = re.compile(
    rb'(\s*<\?xml[^>]*?encoding\s*=\s*.)'
    rb'((?:iso|latin|windows-|cp|koi8|gb|big5|shift|euc)[\w-]*)', re.IGNORECASE
)  # fmt: skip
_MACRO = re.compile(r'<(?:xacro:)?macro\s[^>]*?\bname\s*=\s*["\']([^"\']+)')
_LENGTH_TOLERANCE = 0.02  # of a quaternion: some have two digits

_HOLDERS_OF_LINKS = ('include', 'macro', 'if', 'unless')  # of xacro, spelt without prefix
_RAW_XACRO = 'this is xacro: expand it with `xacro FILE`'


def read_urdf(
    source: str | os.PathLike[str], arguments: Mapping[str, str] | None = None
) -> str:
    """
    Return URDF text from XML text or from the path of a regular file.

    A file with the suffix ``.xacro`` is expanded, which needs the package xacro.

    :param source: XML, recognised by its first ``<``, or a path
    :param arguments: of a xacro file, by name
    :raises UrdfError: the file cannot be read, is too large, is not text or cannot be expanded
    """
    if isinstance(source, str) and source.lstrip(BLANKS).startswith('<'):
        return source
    text, written = _read(source, arguments)
    has_link = not is_xacro(source) or re.search(r'<link\b', text)
    if not has_link and (macros := dict.fromkeys(_MACRO.findall(written))):
        names = f'macros ({clipped(", ".join(macros), 200)})'
        raise UrdfError('URDF', f'{source} only defines {names}: use a file that calls one')
    return text


def read_srdf(path: Path) -> ElementTree.Element:
    """Return the root of an SRDF, which may be xacro; a UrdfError begins with SRDF."""
    try:
        return parse_xml(_read(path)[0])
    except UrdfError as error:
        owner = f'SRDF {error.element}'.removesuffix(' URDF')
        raise UrdfError(owner, error.reason) from error


def _read(
    source: str | os.PathLike[str], arguments: Mapping[str, str] | None = None
) -> tuple[str, str]:
    """Return the text of a file, once expanded if it is xacro, and as it is written."""
    try:
        text = _decoded(read_regular(Path(source), MAX_BYTES))  # with its line breaks
    except (OSError, ValueError, LookupError) as error:
        also = ', which is not XML either' if isinstance(source, str) else ''
        why = getattr(error, 'strerror', None) or error  # the error names the path again
        raise UrdfError('URDF', f'cannot read {str(source)[:200]!r}{also}: {why}') from error
    return (expand(source, arguments) if is_xacro(source) else text), text


def _decoded(data: bytes) -> str:
    """Return a text in UTF-8, whatever it declares, or in the declared encoding."""
    try:
        return data.decode('utf-8')
    except UnicodeDecodeError:
        if not (declared := _ENCODING.match(data)):
            raise
        start, name = declared.groups()
        return (start + b'UTF-8' + data[declared.end() :]).decode(name.decode())


def parse_xml(text: str) -> ElementTree.Element:
    """
    Return the root element.

    Prefixes are part of the names, as in other readers of URDF: they need no declaration, and a
    default namespace changes nothing. Rotations ``quat_xyzw`` of URDF 1.1 become ``rpy``.

    :param text: the XML
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
        raise UrdfError(
            f'document type {name!r}', 'DTD and entity declarations are not allowed'
        )

    builder = ElementTree.TreeBuilder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = reject_document_type
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(text, True)
    except (expat.ExpatError, ValueError) as error:
        raise UrdfError('URDF', f'not well-formed XML: {error}') from error
    root = builder.close()
    _reject_xacro(root, text)
    if root.tag != 'robot':
        raise UrdfError(f'element <{root.tag}>', 'the root element must be <robot>')
    for origin in root.iter('origin'):
        _use_rpy(origin)
    return root


def _use_rpy(origin: ElementTree.Element) -> None:
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
    reduced = ElementTree.Element('robot', name=name)
    for tag in ('link', 'joint'):
        elements = root.findall(tag)
        if len(elements) > MAX_ELEMENTS:
            raise UrdfError(
                f'robot {name!r}', f'has {len(elements)} {tag}s, at most {MAX_ELEMENTS} are read'
            )
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
    reduced = ElementTree.Element(
        element.tag, {name: element.attrib[name] for name in read if name in element.attrib}
    )
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
