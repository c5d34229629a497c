# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Write mass properties into URDF text and leave everything else as it is, byte by byte.

The parser gives the places of the elements in the text; no element is printed anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
import re
from typing import TypeAlias
from xml.etree.ElementTree import Element

from ..errors import UnknownNameError
from .description import Inertial, Origin
from .xml import BLANKS, Places, parse_xml

DIGITS = 9  # significant ones of written numbers
START_TAG = re.compile(rb"""(?:[^>"']|"[^"]*"|'[^']*')*>""")  # ``>`` within quotes does not end it
Edit: TypeAlias = tuple[int, int, bytes]  # first byte, byte after the last, replacement

_NAMES = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')


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
    places: Places = {}
    root = parse_xml(text, places)
    body = text.lstrip(BLANKS)  # as parse_xml
    links = {link.get('name', ''): link for link in root.findall('link')}
    edits: list[Edit] = []
    written = _Written(body.encode('utf-8'), places)
    for name, inertial in inertials.items():
        if name not in links:
            raise UnknownNameError('link', name, links)
        edits += written.edits(links[name], inertial)
    data = written.data
    for start, end, new in sorted(edits, reverse=True):
        data = data[:start] + new + data[end:]
    return text[: len(text) - len(body)] + data.decode('utf-8')


class _Written:
    """The text in bytes, and the places of its elements."""

    def __init__(self, data: bytes, places: Places) -> None:
        self.data, self._places = data, places

    def edits(self, link: Element, inertial: Inertial | None) -> Iterator[Edit]:
        present = link.find('inertial')
        if inertial is None:
            if present is not None:  # with the white space before it
                start, _, end = self._extent(present)
                yield start - len(self._white_space_before(start)), end, b''
            return
        parts = _parts(inertial)
        if present is None:
            yield self._inserted(link, parts)
            return
        missing = [part for name, part in parts.items() if present.find(name) is None]
        for name, part in parts.items():
            if (old := present.find(name)) is None:
                continue
            start, _, end = self._extent(old)
            # A missing part stands on the line before the mass, which every inertial has.
            before = missing if name == 'mass' else []
            yield start, end, self._white_space_before(start).join([*before, part])

    def _extent(self, element: Element) -> tuple[int, int, int]:
        """Return where an element begins, where its start tag ends, and where it ends."""
        start, end_tag = self._places[element]
        tag = START_TAG.match(self.data, start)
        assert tag is not None, 'the parser has found it'
        if tag[0].endswith(b'/>'):
            return start, tag.end(), tag.end()
        return start, tag.end(), self.data.index(b'>', end_tag) + 1

    def _inserted(self, link: Element, parts: Mapping[str, bytes]) -> Edit:
        """Return the edit that adds an ``<inertial>`` to a link."""
        start, tag_end, end = self._extent(link)
        outer = self._white_space_before(start)
        step = outer.rpartition(b'\n')[2] or b'  '
        inner = outer + step if b'\n' in outer else b''
        deeper = inner + step if inner else b''
        element = deeper.join([b'<inertial>', *parts.values()]) + inner + b'</inertial>'
        if tag_end == end:  # <link .../>
            tag = self.data[start : tag_end - 2].rstrip()
            return start, end, tag + b'>' + inner + element + outer + b'</link>'
        return tag_end, tag_end, inner + element

    def _white_space_before(self, place: int) -> bytes:
        """Return the white space before an element, of its last line break on."""
        before = self.data[:place]
        white = before[len(before.rstrip(b' \t\r\n')) :]
        found = white.rfind(b'\r\n' if b'\r\n' in white else b'\n')
        return white[found:] if found >= 0 else b''


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
