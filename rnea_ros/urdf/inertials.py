# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Write mass properties into URDF text and leave everything else as it is, byte by byte.

An XML parser gives the places of the elements in the text; nothing is parsed and printed anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
import re
from typing import TypeAlias
from xml.parsers import expat

from ..errors import UnknownNameError
from .description import Inertial, Origin
from .xml import BLANKS, parse_xml

DIGITS = 9  # significant ones of written numbers
START_TAG = re.compile(rb"""(?:[^>"']|"[^"]*"|'[^']*')*>""")  # ``>`` within quotes does not end it
Edit: TypeAlias = tuple[int, int, bytes]  # first byte, byte after the last, replacement

_NAMES = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')


@dataclass
class _Element:
    """An element of the text."""

    name: str
    attributes: Mapping[str, str]
    start: int  # its first byte
    tag_end: int  # the byte after its start tag
    end: int = 0  # the byte after the element
    children: list[_Element] = field(default_factory=list)

    def child(self, name: str) -> _Element | None:
        return next((child for child in self.children if child.name == name), None)


def rounded(inertial: Inertial) -> Inertial:
    """Return mass properties as they are written: with nine significant digits."""

    def each(values: Iterable[float]) -> tuple[float, ...]:
        return tuple(float(_number(value)) for value in values)

    x, y, z = each(inertial.origin.xyz)
    roll, pitch, yaw = each(inertial.origin.rpy)
    mass, ixx, ixy, ixz, iyy, iyz, izz = each((inertial.mass, *inertial.inertia))
    return Inertial(Origin((x, y, z), (roll, pitch, yaw)), mass, (ixx, ixy, ixz, iyy, iyz, izz))


def with_inertials(text: str, inertials: Mapping[str, Inertial | None]) -> str:
    """
    Return URDF text with other mass properties of some links.

    Elements ``<origin>``, ``<mass>`` and ``<inertia>`` are replaced where they stand; comments
    between them stay. A link without ``<inertial>`` gets one as its first element.

    :param text: the URDF
    :param inertials: mass properties by link; None removes the link's ``<inertial>``
    :raises UrdfError: the text is not a URDF
    :raises UnknownNameError: the text has no such link
    """
    parse_xml(text)
    body = text.lstrip(BLANKS)  # as parse_xml
    skipped = text[: len(text) - len(body)]
    data = body.encode('utf-8')
    links = {
        element.attributes.get('name', ''): element
        for element in _elements(data).children
        if element.name == 'link'
    }
    edits: list[Edit] = []
    for name, inertial in inertials.items():
        if name not in links:
            raise UnknownNameError('link', name, links)
        edits += _edits(data, links[name], inertial)
    for start, end, new in sorted(edits, reverse=True):
        data = data[:start] + new + data[end:]
    return skipped + data.decode('utf-8')


def _elements(data: bytes) -> _Element:
    """Return the root element; prefixes are part of the names."""
    parser = expat.ParserCreate('utf-8')
    open_elements: list[_Element] = [_Element('', {}, 0, 0)]

    def start(name: str, attributes: dict[str, str]) -> None:
        tag = START_TAG.match(data, parser.CurrentByteIndex)
        assert tag is not None, 'the parser has found it'
        element = _Element(name, attributes, tag.start(), tag.end())
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def end(name: str) -> None:
        element = open_elements.pop()
        if data[element.tag_end - 2 : element.tag_end] == b'/>':
            element.end = element.tag_end
        else:
            element.end = data.index(b'>', parser.CurrentByteIndex) + 1

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.Parse(data, True)
    return open_elements[0].children[0]


def _edits(data: bytes, link: _Element, inertial: Inertial | None) -> Iterator[Edit]:
    present = link.child('inertial')
    if inertial is None:
        if present is not None:
            yield _without(data, present)
        return
    parts = _parts(inertial)
    if present is None:
        yield _inserted(data, link, parts)
        return
    missing = {name: part for name, part in parts.items() if present.child(name) is None}
    for name, part in parts.items():
        if (old := present.child(name)) is None:
            continue
        # A missing part stands on the line before the mass, which every inertial has.
        before = [*missing.values()] if name == 'mass' else []
        break_and_indent = _white_space_before(data, old.start)
        yield old.start, old.end, break_and_indent.join([*before, part])


def _parts(inertial: Inertial) -> dict[str, bytes]:
    """Return the elements of an ``<inertial>``."""
    xyz, rpy = (' '.join(map(_number, v)) for v in (inertial.origin.xyz, inertial.origin.rpy))
    pairs = zip(_NAMES, inertial.inertia, strict=True)
    moments = ' '.join(f'{name}="{_number(value)}"' for name, value in pairs)
    return {
        'origin': f'<origin xyz="{xyz}" rpy="{rpy}"/>'.encode(),
        'mass': f'<mass value="{_number(inertial.mass)}"/>'.encode(),
        'inertia': f'<inertia {moments}/>'.encode(),
    }


def _number(value: float) -> str:
    return f'{value + 0.0:.{DIGITS}g}'  # 0.0 instead of -0.0


def _without(data: bytes, element: _Element) -> Edit:
    """Return the edit that removes an element and the white space before it."""
    return element.start - len(_white_space_before(data, element.start)), element.end, b''


def _inserted(data: bytes, link: _Element, parts: Mapping[str, bytes]) -> Edit:
    """Return the edit that adds an ``<inertial>`` to a link."""
    outer = _white_space_before(data, link.start)
    step = outer.rpartition(b'\n')[2] or b'  '
    inner = outer + step if b'\n' in outer else b''
    deeper = inner + step if inner else b''
    element = deeper.join([b'<inertial>', *parts.values()]) + inner + b'</inertial>'
    if data[link.tag_end - 2 : link.tag_end] == b'/>':
        tag = data[link.start : link.tag_end - 2].rstrip()
        return link.start, link.tag_end, tag + b'>' + inner + element + outer + b'</link>'
    return link.tag_end, link.tag_end, inner + element


def _white_space_before(data: bytes, place: int) -> bytes:
    """Return the white space before an element, of its last line break on."""
    before = data[:place]
    white = before[len(before.rstrip(b' \t\r\n')) :]
    found = white.rfind(b'\r\n' if b'\r\n' in white else b'\n')
    return white[found:] if found >= 0 else b''
