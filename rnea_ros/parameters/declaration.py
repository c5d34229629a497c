# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Declarations of parameters: default, description, range and choices of each, stated once.

A declaration stands in a table, or in the field of a settings class (:func:`parameter`). The
parameters of a node, their ranges in ``ros2 param describe``, the checks of values and the
interface reference are all made from declarations.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
import enum
from typing import Any, TypeVar

from ..errors import InputError, brief

T = TypeVar('T')


@dataclass(frozen=True)
class Declaration:
    """
    One parameter.

    :param default: default value, which also gives the type
    :param summary: the description without the permitted words
    :param span: smallest and largest value of a number, or of each number in a list
    :param while_active: whether it can be changed while the node is active
    :param read_only: whether it can be set only at the start
    :param choices: meaning of each permitted word, read at each use; empty for any value
    """

    default: Any
    summary: str
    span: tuple[float, float] | None = None
    while_active: bool = False
    read_only: bool = False
    choices: Mapping[str, Any] = field(default_factory=dict)

    @property
    def description(self) -> str:
        """The text for ``ros2 param describe``."""
        return f'{self.summary}: {" | ".join(self.choices)}' if self.choices else self.summary

    def check(self, name: str, value: Any) -> None:
        """
        Check a value against range and choices.

        :param name: name of the parameter
        :param value: the value, of the right type
        :raises InputError: it is out of range, or not among the choices
        """
        if self.choices and value not in self.choices:
            raise InputError(name, f'{brief(value)} is none of {", ".join(self.choices)}')
        if self.span is not None:
            try:
                in_range(name, value, *self.span)
            except InputError as error:
                raise InputError(name, f'{error.reason} ({self.description})') from None


def described(table: Mapping[str, Declaration]) -> dict[str, tuple[Any, str]]:
    """Return default and description of each parameter of a table."""
    return {name: (entry.default, entry.description) for name, entry in table.items()}


def choice(default: enum.Enum, summary: str, **options: Any) -> Declaration:
    """
    Return the declaration of a parameter with a fixed set of words.

    :param default: a member of the set
    :param summary: text before the list of words
    :param options: further fields of :class:`Declaration`
    """
    words = {member.value: member for member in type(default)}
    return Declaration(default.value, summary, choices=words, **options)


def parameter(
    default: Any,
    description: str,
    *,
    span: tuple[float, float] | None = None,
    while_active: bool = False,
    name: str = '',
    words: Mapping[str, Any] | None = None,
) -> Any:
    """
    Return a field of a settings class that is a parameter.

    :param default: default value; a tuple for a list, an enum's member for a set of words
    :param description: text for ``ros2 param describe``, before any words
    :param span: smallest and largest value of a number, or of each number in a list
    :param while_active: whether it can be changed while the node is active
    :param name: name of the parameter; empty: the field's
    :param words: meaning of each permitted word, where that is no enum
    """
    options = {'span': span, 'while_active': while_active}
    if isinstance(default, enum.Enum):
        declaration = choice(default, description, **options)
    elif words is not None:
        word = next(word for word, meaning in words.items() if meaning is default)
        declaration = Declaration(word, description, choices=words, **options)  # type: ignore[arg-type]
    else:
        value = list(default) if isinstance(default, tuple) else default
        declaration = Declaration(value, description, **options)  # type: ignore[arg-type]
    return field(default=default, metadata={'declaration': declaration, 'name': name})


def _parameters(settings: Any, prefix: str) -> Iterator[tuple[str, Field[Any], Declaration]]:
    """Yield name, field and declaration of each parameter of a settings class or object."""
    for each in fields(settings):
        if 'declaration' in each.metadata:
            name = each.metadata['name'] or each.name
            yield f'{prefix}{name}', each, each.metadata['declaration']


def declarations_of(settings: type[Any], prefix: str = '') -> dict[str, Declaration]:
    """
    Return the parameters of a settings class by name.

    :param settings: a dataclass with fields made by :func:`parameter`
    :param prefix: text before each name
    """
    return {name: declaration for name, _, declaration in _parameters(settings, prefix)}


def from_values(
    settings: type[T], values: Mapping[str, Any], prefix: str = '', **others: Any
) -> T:
    """
    Return a settings object.

    :param settings: a dataclass with fields made by :func:`parameter`
    :param values: parameter values by name
    :param prefix: text before each name
    :param others: values of its other fields
    :raises InputError: a word that is not among the choices
    """
    given = dict(others)
    for name, each, declaration in _parameters(settings, prefix):
        value = values[name]
        if declaration.choices:
            declaration.check(name, value)
            value = declaration.choices[value]
        given[each.name] = tuple(value) if isinstance(each.default, tuple) else value
    return settings(**given)


def check_ranges(settings: Any, prefix: str = '') -> None:
    """
    Check every number of a settings object against its range.

    :param settings: an object of a dataclass with fields made by :func:`parameter`
    :param prefix: text before each name
    :raises InputError: the first one that is out of range
    """
    for name, each, declaration in _parameters(settings, prefix):
        if declaration.span is not None:
            in_range(name, getattr(settings, each.name), *declaration.span)


def in_range(name: str, value: Any, lowest: float, highest: float) -> None:
    """
    Check a number, or every number of a list.

    :param name: name of the parameter
    :param value: a number or a sequence of numbers
    :param lowest: smallest permitted number
    :param highest: largest permitted number
    :raises InputError: a number is out of range
    """
    values = value if isinstance(value, Sequence | array) else (value,)
    for k, number in enumerate(values):
        if not lowest <= number <= highest:
            which = f'value {k + 1} of {len(values)}, ' if len(values) > 1 else ''
            raise InputError(
                name, f'{which}{brief(number)} is not between {lowest:g} and {highest:g}'
            )
