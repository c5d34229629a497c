# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Text of a parameter file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import json
from typing import TypeAlias

from ..errors import MAX_TEXT, clipped

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
