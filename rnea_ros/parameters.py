# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Parameters: each is declared once, as a field of a settings class (:func:`parameter`).

The parameters of a node, their ranges in ``ros2 param describe``, the checks of values, the
settings objects and the interface reference are all made from these fields. The constructor of a
settings class calls :func:`check_ranges`; what gets its objects trusts them. Without ROS.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
import enum
from functools import partial
import json
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from .errors import MAX_TEXT, InputError, brief, clipped
from .yaml_files import YamlError, parse_yaml, read_document

T = TypeVar('T')

Value: TypeAlias = str | bool | float | Sequence[str] | Sequence[float]

DIGITS = 6  # significant digits of numbers in a parameter file

EACH = 'one value or one per joint'
"""Text in the description of a parameter that has one value per joint, or one for all joints."""


@dataclass(frozen=True)
class Declaration:
    """One parameter."""

    default: Any  # default value, which also gives the type
    summary: str  # the description without the permitted words
    span: tuple[float, float] | None = None  # least and greatest value of a number, or of each
    while_active: bool = False  # whether it can be changed while the node is active
    read_only: bool = False  # whether it can be set only at the start
    # Meaning of each permitted word; words may be added later; empty: any value.
    choices: Mapping[str, Any] = field(default_factory=dict)
    unset: bool = False  # whether there is no default value; ``default`` is then the rclpy type

    @property
    def description(self) -> str:
        """The text for ``ros2 param describe``."""
        return ': '.join(part for part in (self.summary, ' | '.join(self.choices)) if part)


def parameter(
    default: Any, summary: str = '', span: tuple[float, float] | None = None, *,
    while_active: bool = False, read_only: bool = False, name: str = '',
    words: Mapping[str, Any] | None = None, unset: Any = None,
) -> Any:
    """
    Return a field of a settings class that is a parameter; see :class:`Declaration`.

    :param default: default value; a tuple for a list, an enum's member for a set of words
    :param name: name of the parameter; empty: the name of the field
    :param words: meaning of each permitted word, if ``default`` is not an enum's member
    :param unset: type of a parameter without a default, a member of ``rclpy.Parameter.Type``
    """
    value, choices = default, words or {}
    if isinstance(default, enum.Enum):
        choices = {member.value: member for member in type(default)}
    if choices:
        value = next(word for word, meaning in choices.items() if meaning is default)
    elif unset is not None:
        value = unset
    elif isinstance(default, tuple):
        value = list(default)
    declaration = Declaration(
        value, summary, span, while_active, read_only, choices, unset is not None
    )
    return field(default=default, metadata={'declaration': declaration, 'name': name})


active = partial(parameter, while_active=True)
"""A :func:`parameter` that can be changed while the node is active."""


def group(default: Any, prefix: str | None = None) -> Any:
    """Return a field that holds another settings object; None for the field's name as prefix."""
    return field(default=default, metadata={'prefix': prefix})


def _items(settings: Any, prefix: str) -> Iterator[tuple[str, str, Declaration | None, Any]]:
    """
    Yield field, name, declaration and value (of a class: default) of parameters and groups.

    A group has no declaration; its name is the prefix of its parameters.
    """
    for item in fields(settings):
        metadata, value = item.metadata, getattr(settings, item.name, None)
        if 'declaration' in metadata:
            name = prefix + (metadata['name'] or item.name)
            yield item.name, name, metadata['declaration'], value
        elif 'prefix' in metadata:
            own = metadata['prefix']
            yield item.name, prefix + (f'{item.name}.' if own is None else own), None, value


def declarations_of(
    settings: Any, prefix: str = '', *, read_only: bool = False
) -> dict[str, Declaration]:
    """
    Return the parameters of a settings class and of its groups, by name.

    :param read_only: whether all of them can be set only at the start
    """
    table: dict[str, Declaration] = {}
    for _, name, declaration, default in _items(settings, prefix):
        if declaration is None:
            table |= declarations_of(default, name, read_only=read_only)
        else:
            table[name] = replace(declaration, read_only=read_only or declaration.read_only)
    return table


def described(table: Mapping[str, Declaration]) -> dict[str, tuple[Any, str]]:
    """Return default (None if unset) and description of each parameter, for a node's help."""
    return {name: (None if d.unset else d.default, d.description) for name, d in table.items()}


def check_ranges(settings: Any, prefix: str = '') -> None:
    """Raise an InputError for the first number, also of a group, that is out of its range."""
    for _, name, declaration, value in _items(settings, prefix):
        if declaration is None:
            check_ranges(value, name)
        elif declaration.span is not None:
            in_range(name, value, *declaration.span, f' ({declaration.description})')


def from_values(
    settings: type[T], values: Mapping[str, Any], prefix: str = '', /, **others: Any
) -> T:
    """Return settings from values by name, and other fields; a wrong word is an InputError."""
    def read(name: str, declaration: Declaration, default: Any) -> Any:
        value, choices = values[name], declaration.choices
        if choices and value not in choices:
            raise InputError(name, f'{brief(value)} is none of {", ".join(choices)}')
        if choices:
            return choices[value]
        return tuple(value) if isinstance(default, tuple) else value

    made: T = _changed(settings, read, prefix, **others)
    return made


def with_value_per_joint(settings: T, joints: Sequence[str], prefix: str = '') -> T:
    """Return settings in which each parameter with :data:`EACH`, also in groups, has n values."""
    def expand(name: str, declaration: Declaration, value: Any) -> Any:
        return per_joint(name, value, joints) if EACH in declaration.summary else value

    made: T = _changed(settings, expand, prefix)
    return made


def _changed(
    settings: Any, change: Callable[[str, Declaration, Any], Any], prefix: str, **others: Any
) -> Any:
    """Return settings, of a class a new object, with each value replaced by ``change``."""
    for field_name, name, declaration, value in _items(settings, prefix):
        others[field_name] = (
            change(name, declaration, value) if declaration else _changed(value, change, name)
        )
    return settings(**others) if isinstance(settings, type) else replace(settings, **others)


def per_joint(name: str, values: Sequence[float], joints: Sequence[str]) -> tuple[float, ...]:
    """Return n values, given as n or as one for all; another number is an InputError."""
    if len(values) not in (1, len(joints)):
        raise InputError(
            name,
            f'{brief(values)} has {len(values)} values, '
            f'not 1 or one for each of {len(joints)} joints',
        )
    return tuple(values) if len(values) == len(joints) else len(joints) * tuple(values)


def in_range(name: str, value: Any, lowest: float, highest: float, about: str = '') -> None:
    """Raise an InputError for a number, or the first number of a sequence, out of range."""
    values = value if isinstance(value, Sequence | array) else (value,)
    for k, number in enumerate(values):
        if not lowest <= number <= highest:
            which = f'value {k + 1} of {len(values)}, ' if len(values) > 1 else ''
            raise InputError(
                name, f'{which}{brief(number)} is not between {lowest:g} and {highest:g}{about}'
            )


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
    kinds = {*map(type, value)} if isinstance(value, list) else {type(value)}
    if isinstance(value, list) is not is_list or kinds != {kind}:
        word = f'a list of {kind.__name__}' if is_list else f'of type {kind.__name__}'
        raise InputError(name, f'{brief(value)} is not {word}, as {default!r} is')
