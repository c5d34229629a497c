# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Parameters: each is declared once, as a field of a settings class (:func:`parameter`).

The parameters of a node, their ranges in ``ros2 param describe``, the checks of values, the
settings objects and the interface reference are all made from these fields. CONTRIBUTING.md lists
the places to change for a new one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
import enum
from typing import Any, TypeVar

from ..errors import InputError, brief

T = TypeVar('T')

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

    def check(self, name: str, value: Any) -> None:
        """Raise an InputError for a value that is out of range, or not among the choices."""
        if self.choices and value not in self.choices:
            raise InputError(name, f'{brief(value)} is none of {", ".join(self.choices)}')
        if self.span is not None:
            try:
                in_range(name, value, *self.span)
            except InputError as error:
                raise InputError(name, f'{error.reason} ({self.description})') from None


def parameter(
    default: Any, summary: str = '', *, span: tuple[float, float] | None = None,
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


def group(default: Any, prefix: str = '') -> Any:
    """Return a field of a settings class that holds another settings object, with its prefix."""
    return field(default=default, metadata={'prefix': prefix})


def _parameters(settings: Any, prefix: str) -> Iterator[tuple[str, Field[Any], Declaration]]:
    """Yield name, field and declaration of each parameter of a settings class or object."""
    for each in fields(settings):
        if 'declaration' in each.metadata:
            name = each.metadata['name'] or each.name
            yield f'{prefix}{name}', each, each.metadata['declaration']


def _groups(settings: Any) -> Iterator[tuple[str, Any, str]]:
    """Yield field name, default and prefix of each group of a settings class or object."""
    for each in fields(settings):
        if 'prefix' in each.metadata:
            yield each.name, each.default, each.metadata['prefix']


def declarations_of(
    settings: type[Any], prefix: str = '', *, read_only: bool = False
) -> dict[str, Declaration]:
    """
    Return the parameters of a settings class, then those of its groups, by name.

    :param read_only: whether all of them can be set only at the start
    """
    table = {name: declaration for name, _, declaration in _parameters(settings, prefix)}
    for _, default, group_prefix in _groups(settings):
        table.update(declarations_of(type(default), group_prefix))
    if read_only:
        return {name: replace(each, read_only=True) for name, each in table.items()}
    return table


def from_values(
    settings: type[T], values: Mapping[str, Any], prefix: str = '', **others: Any
) -> T:
    """Return settings from values by name, and other fields; a wrong word is an InputError."""
    given = dict(others)
    for name, each, declaration in _parameters(settings, prefix):
        value = values[name]
        if declaration.choices:
            declaration.check(name, value)
            value = declaration.choices[value]
        given[each.name] = tuple(value) if isinstance(each.default, tuple) else value
    for name, default, group_prefix in _groups(settings):
        given[name] = from_values(type(default), values, group_prefix)
    return settings(**given)


def check_ranges(settings: Any, prefix: str = '') -> None:
    """Raise an InputError for the first number, also of a group, that is out of its range."""
    for name, each, declaration in _parameters(settings, prefix):
        if declaration.span is not None:
            in_range(name, getattr(settings, each.name), *declaration.span)
    for name, _, group_prefix in _groups(settings):
        check_ranges(getattr(settings, name), group_prefix)


def with_value_per_joint(settings: T, joints: Sequence[str], prefix: str = '') -> T:
    """Return settings in which each parameter with :data:`EACH`, also in groups, has n values."""
    changes: dict[str, Any] = {
        each.name: per_joint(name, getattr(settings, each.name), joints)
        for name, each, declaration in _parameters(settings, prefix)
        if EACH in declaration.summary
    }
    for name, _, group_prefix in _groups(settings):
        changes[name] = with_value_per_joint(getattr(settings, name), joints, group_prefix)
    return replace(settings, **changes)  # type: ignore[type-var]


def per_joint(name: str, values: Sequence[float], joints: Sequence[str]) -> tuple[float, ...]:
    """Return n values, given as n or as one for all; another number is an InputError."""
    if len(values) not in (1, len(joints)):
        raise InputError(
            name,
            f'{brief(values)} has {len(values)} values, '
            f'not 1 or one for each of {len(joints)} joints',
        )
    return tuple(values) if len(values) == len(joints) else len(joints) * tuple(values)


def in_range(name: str, value: Any, lowest: float, highest: float) -> None:
    """Raise an InputError for a number, or the first number of a sequence, out of range."""
    values = value if isinstance(value, Sequence | array) else (value,)
    for k, number in enumerate(values):
        if not lowest <= number <= highest:
            which = f'value {k + 1} of {len(values)}, ' if len(values) > 1 else ''
            raise InputError(
                name, f'{which}{brief(number)} is not between {lowest:g} and {highest:g}'
            )
