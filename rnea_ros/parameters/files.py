# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameter files: their text, and the values that they give a node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
import json
from pathlib import Path
from typing import Any, TypeAlias

from ..errors import MAX_TEXT, InputError, brief, clipped
from ..yaml_files import YamlError, parse_yaml, read_document
from .declaration import Declaration

Value: TypeAlias = str | bool | float | Sequence[str] | Sequence[float]

DIGITS = 6  # significant digits of numbers


def parameter_file_text(values: Mapping[str, Value], comments: Iterable[str]) -> str:
    """Return the text of a file for ``--params-file``, with comments at the beginning."""
    lines = [f'# {clipped(comment, MAX_TEXT)}'.rstrip() for comment in comments]
    lines += ['', '/**:', '  ros__parameters:']
    lines += [f'    {name}: {_yaml(value)}' for name, value in values.items()]
    return '\n'.join([*lines, ''])


def _yaml(value: Value) -> str:
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
        return clipped(text, len(text))  # YAML has the same escapes
    if isinstance(value, Sequence):
        return f'[{", ".join(map(_yaml, value))}]'
    text = repr(float(f'{value:.{DIGITS}g}') + 0.0)  # 0.0 instead of -0.0
    # YAML 1.1 reads 1e-05 as a word.
    return text if '.' in text else text.replace('e', '.0e')


def read_parameter_file(path: Path, node: str = 'feedforward') -> dict[str, Any]:
    """
    Return the values that a YAML parameter file gives a node, by name.

    :raises YamlError: it cannot be read, or has no parameters for the node
    """
    content = read_document(path)
    sections = [
        section for name, section in (content.items() if isinstance(content, dict) else ())
        if name in ('/**', '**', '/*', f'/{node}', node)
        and isinstance(section, dict) and 'ros__parameters' in section
    ]
    if not sections:
        raise YamlError(f'{path} has no ros__parameters for /** or {node}')
    return {
        name: value for section in sections for name, value in _flat(section['ros__parameters'])
    }


def _flat(values: Any, prefix: str = '') -> Iterator[tuple[str, Any]]:
    """Yield values by full name: ``gains: {kp: ...}`` is ``gains.kp``."""
    if isinstance(values, dict):
        for name, value in values.items():
            yield from _flat(value, f'{prefix}.{name}' if prefix else str(name))
    elif prefix:
        yield prefix, values


def parse_assignment(text: str) -> tuple[str, Any]:
    """Return name and value from ``name:=value``; raise a YamlError otherwise."""
    name, sign, value = text.partition(':=')
    if not (name and sign):
        raise YamlError(f'{text} is not NAME:=VALUE')
    return name, parse_yaml(value, text)


def check_type(name: str, value: Any, declaration: Declaration) -> None:
    """Raise an InputError for a value in a file that has another type than its default."""
    default, is_list = declaration.default, isinstance(declaration.default, list)
    kind = type(default[0] if is_list else default)
    elements = value if is_list and isinstance(value, list) else [value]
    right = isinstance(value, list) == is_list and bool(elements)
    if not right or any(type(element) is not kind for element in elements):
        word = f'a list of {kind.__name__}' if is_list else f'of type {kind.__name__}'
        raise InputError(name, f'{brief(value)} is not {word}, as {default!r} is')
