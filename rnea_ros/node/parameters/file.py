# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The node's parameters without the node: values of a parameter file, else the defaults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import InputError, brief
from ...parameters import Declaration
from ...yaml_files import YamlError, parse_yaml, read_document
from .table import PARAMETERS, all_declarations
from .values import check_without_robot

SECTIONS = ('/**', '**', '/*', '/feedforward', 'feedforward')
"""Sections of a parameter file that apply to the node ``feedforward``."""

COMMON_TO_NODES = ('use_sim_time', 'qos_overrides.')  # beginnings of parameters of every node


def read_parameter_file(path: Path) -> dict[str, Any]:
    """
    Return the values that a YAML parameter file gives the node, by name.

    :raises YamlError: it cannot be read, or has no parameters for the node
    """
    content = read_document(path)
    sections = content if isinstance(content, dict) else {}
    given: dict[str, Any] = {}
    found = False
    for name, section in sections.items():
        if name in SECTIONS and isinstance(section, dict) and 'ros__parameters' in section:
            given.update(_flat(section['ros__parameters'] or {}))
            found = True
    if not found:
        raise YamlError(f'{path} has no ros__parameters for /** or feedforward')
    return given


def parse_assignment(text: str) -> tuple[str, Any]:
    """Return name and value from ``name:=value``; raise a YamlError otherwise."""
    name, given, value = text.partition(':=')
    if not (name and given):
        raise YamlError(f'{text} is not NAME:=VALUE')
    return name, parse_yaml(value, text)


def complete_values(given: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the values of all parameters by name: given values, else defaults.

    :raises InputError: a parameter that does not exist, or a value that the node would reject
    """
    names = 'wrench_inputs.names'
    sensors = _checked(names, given[names], PARAMETERS[names]) if names in given else []
    table = all_declarations(sensors, given)
    values = {name: declaration.default for name, declaration in table.items()}
    for name, value in given.items():
        if name.startswith(COMMON_TO_NODES):
            continue
        if name not in table:
            raise InputError(name, 'no such parameter')
        values[name] = _checked(name, value, table[name])
    check_without_robot(values)
    return values


def _flat(values: Any, prefix: str = '') -> Iterator[tuple[str, Any]]:
    """Yield values by full name: ``gains: {kp: ...}`` is ``gains.kp``."""
    if isinstance(values, dict):
        for name, value in values.items():
            yield from _flat(value, f'{prefix}.{name}' if prefix else str(name))
    elif prefix:
        yield prefix, values


def _checked(name: str, value: Any, declaration: Declaration) -> Any:
    """Return a value that has the type of its default."""
    default = declaration.default
    several = isinstance(default, list)
    kind = type(default[0] if several else default)
    values = value if several and isinstance(value, list) else [value]
    whole = isinstance(value, list) == several and bool(values)
    if not whole or any(type(element) is not kind for element in values):
        word = f'a list of {kind.__name__}' if several else f'of type {kind.__name__}'
        raise InputError(name, f'{brief(value)} is not {word}, as {default!r} is')
    return value
