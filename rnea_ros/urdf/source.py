# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Text of URDF and SRDF files, which may be xacro.

A xacro file is a program: it includes other files and evaluates expressions. It is expanded in a
process with bounds of time and memory, and only this needs the package xacro.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
import os
from pathlib import Path
import re
import subprocess
import sys

from ..errors import UrdfError, clipped, one_line
from ..files import read_regular
from . import xacro_process
from .xml import BLANKS, MAX_BYTES, parse_xml

SECONDS = 30  # longest expansion

# Encodings that may be declared; other codecs of Python are slow, or not text encodings.
_ENCODING = re.compile(
    rb'(\s*<\?xml[^>]*?encoding\s*=\s*.)'
    rb'((?:iso|latin|windows-|cp|koi8|gb|big5|shift|euc)[\w-]*)', re.IGNORECASE
)  # fmt: skip
_MACRO = re.compile(r'<(?:xacro:)?macro\s[^>]*?\bname\s*=\s*["\']([^"\']+)')


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
    has_link = not _is_xacro(source) or re.search(r'<link\b', text)
    if not has_link and (macros := dict.fromkeys(_MACRO.findall(written))):
        names = f'macros ({clipped(", ".join(macros), 200)})'
        raise UrdfError('URDF', f'{source} only defines {names}: use a file that calls one')
    return text


def disabled_pairs(srdf: Path) -> frozenset[frozenset[str]]:
    """Return the pairs of links whose collisions an SRDF disables; or raise a UrdfError."""
    try:
        root = parse_xml(_read(srdf)[0])
    except UrdfError as error:
        owner = f'SRDF {error.element}'.removesuffix(' URDF')
        raise UrdfError(owner, error.reason) from error
    pairs = root.findall('disable_collisions')
    return frozenset(frozenset((pair.get('link1', ''), pair.get('link2', ''))) for pair in pairs)


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
    return (_expanded(source, arguments or {}) if _is_xacro(source) else text), text


def _decoded(data: bytes) -> str:
    """Return a text in UTF-8, whatever it declares, or in the declared encoding."""
    try:
        return data.decode('utf-8')
    except UnicodeDecodeError:
        if not (declared := _ENCODING.match(data)):
            raise
        start, name = declared.groups()
        return (start + b'UTF-8' + data[declared.end() :]).decode(name.decode())


def _is_xacro(path: str | os.PathLike[str]) -> bool:
    return Path(path).suffix.lower() == '.xacro'


def _expanded(path: str | os.PathLike[str], arguments: Mapping[str, str]) -> str:
    """Return the URDF text of a xacro file."""
    if find_spec('xacro') is None:
        raise UrdfError(
            'URDF',
            f'{path} is xacro, and the package xacro is not installed: install it, or expand the '
            f'file where it is, with `xacro {path}`',
        )
    pairs = [f'{name}:={value}' for name, value in arguments.items()]
    command = [sys.executable, xacro_process.__file__, str(path), str(SECONDS), *pairs]
    try:
        # Also if Ctrl-C interrupts it, `run` ends the process.
        ended = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=SECONDS, check=False
        )
        code, text = ended.returncode, ended.stdout.decode('utf-8', 'replace')
    except subprocess.TimeoutExpired:
        code, text = 1, f'it takes over {SECONDS} s'
    except (OSError, ValueError) as error:
        code, text = 1, one_line(error)
    if code:
        reason = clipped(' '.join(text.split())) or f'its process ended with {code}'
        raise UrdfError(
            'URDF',
            f'xacro cannot expand {path}: {reason}. Try `xacro {path}`; arguments without default '
            'follow as NAME:=VALUE',
        )
    return text
