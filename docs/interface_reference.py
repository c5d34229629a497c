# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Write the interface reference: ``python docs/interface_reference.py > docs/interface.md``.

Parameters come from the declarations that the nodes declare them by, launch arguments from the
launch files, what an executable is for from its first line; the rest from ``interface_tables``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
import re
import sys
from typing import Any

import interface_tables as tables
from interface_tables import Endpoint, NodeInterface
from rclpy.parameter import Parameter

from rnea_ros.node.parameters import PARAMETERS, sensor_declarations
from rnea_ros.parameters import Declaration
from rnea_ros.sim.options import OPTIONS
from rnea_ros.trajectory_effort.parameters import PARAMETERS as EFFORT_PARAMETERS
from rnea_ros.watchdog.parameters import PARAMETERS as WATCHDOG_PARAMETERS

ROOT = Path(__file__).resolve().parents[1]

INTRODUCTION = """\
# Interface reference

Written by `python docs/interface_reference.py > docs/interface.md` from the nodes' own
declarations: do not edit. Names without a leading slash are in the node's namespace, `~` is the
node itself, and all can be remapped."""

TYPES = {bool: 'bool', int: 'integer', float: 'double', str: 'string'}
UNSET = {Parameter.Type.DOUBLE_ARRAY: 'double[]', Parameter.Type.STRING_ARRAY: 'string[]'}


def page() -> str:
    """Return the whole page."""
    sensor = sensor_declarations('<name>')
    return '\n\n'.join([
        INTRODUCTION,
        _executables(),
        _node(tables.FEEDFORWARD, [*_parameters(PARAMETERS), '', *_sensor(sensor)]),
        _diagnostics(
            'Status `feedforward: control`, of the node in its namespace. Its level is OK, WARN '
            'while something is flagged or waited for, ERROR once something ended the control.',
            {**tables.CONTROL_DIAGNOSTICS, **tables.FOLLOWING_DIAGNOSTICS},
        ),
        _counts(),
        _node(tables.SIMULATED_ROBOT, _options(OPTIONS)),
        _node(tables.EFFORT_CONTROLLER, []),
        _node(tables.EFFORT_WATCHDOG, _parameters(WATCHDOG_PARAMETERS)),
        _diagnostics(
            'Status `effort_watchdog`. Its level is ERROR from `ramping` on until somebody '
            'commands again.',
            tables.WATCHDOG_DIAGNOSTICS,
        ),
        _node(tables.TRAJECTORY_EFFORT, _parameters(EFFORT_PARAMETERS)),
        _diagnostics(
            'Status `trajectory_effort: trajectories`. Beside these it counts refusals as '
            '`count/refused/<reason>`.',
            tables.EFFORT_DIAGNOSTICS,
        ),
        _launch_files(),
    ]) + '\n'


def executables() -> dict[str, str]:
    """Return the module of each executable."""
    found = literal(ROOT / 'setup.py', 'EXECUTABLES')
    assert isinstance(found, dict)
    return found


def launch_arguments(path: Path) -> dict[str, tuple[str, str]]:
    """Return default and description of each argument of a launch file."""
    found = literal(path, 'ARGUMENTS')
    assert isinstance(found, dict)
    return found


def literal(path: Path, name: str) -> Any:
    """Return the literal that a module assigns to a name, without running it."""
    for statement in ast.parse(path.read_text(encoding='utf-8')).body:
        if isinstance(statement, ast.Assign):
            targets, value = statement.targets, statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets, value = [statement.target], statement.value
        else:
            continue
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return ast.literal_eval(value)
    raise LookupError(f'{path} has no {name}')


def _executables() -> str:
    rows = []
    for name, module in executables().items():
        path = ROOT / f'{module.replace(".", "/")}.py'
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding='utf-8'))) or ''
        summary = docstring.split('\n\n')[0].replace('\n', ' ').replace('``', '`')
        rows.append((f'`{name}`', summary))
    return '\n'.join([
        '## Executables', '', '`ros2 run rnea_ros <name>`:', '', *_table(['name', ''], rows)
    ])


def _node(node: NodeInterface, parameters: Sequence[str]) -> str:
    lines = [f'## `{node.name}`', '', node.about]
    for title, endpoints in (('Subscribes to', node.subscribes), ('Publishes', node.publishes)):
        if endpoints:
            topics = [(_name(e), f'`{_short(e.type)}`', e.qos, e.meaning) for e in endpoints]
            lines += ['', f'### {title}', '', *_table(['topic', 'type', 'QoS', ''], topics)]
    if node.services or node.lifecycle:
        rows = [(_name(e), f'`{_short(e.type)}`', e.meaning) for e in node.services]
        lines += ['', '### Services', '', *_table(['service', 'type', ''], rows)]
    if node.lifecycle:
        lines += [
            '',
            'Beside these it has the services of a lifecycle node, and its `~/transition_event`.',
        ]
    if parameters:
        lines += ['', '### Parameters', '', *parameters]
    return '\n'.join(lines)


def _parameters(table: Mapping[str, Declaration]) -> list[str]:
    """Return a table; who may change a value when is told by its declaration."""
    rows = []
    for name, declared in table.items():
        changed = 'inactive'
        if declared.while_active:
            changed = 'any time'
        if declared.read_only:
            changed = 'never'
        about = declared.description.replace('<', r'\<')
        if declared.span is not None:
            low, high = declared.span
            about += f' ({low:g} to {high:g})'
        default = declared.default
        rows.append((f'`{name}`', _type(default), _value(default), changed, about))
    note = []
    if {row[3] for row in rows} != {'never'}:
        note = [
            '`changed` says when a node that runs takes another value: at any time, blended where '
            'it acts on the efforts; while it is inactive, to count from the next activation '
            'on; or never.',
            '',
        ]
        return [*note, *_table(['parameter', 'type', 'default', 'changed', ''], rows)]
    return _table(['parameter', 'type', 'default', ''], [(*row[:3], row[4]) for row in rows])


def _sensor(table: Mapping[str, Declaration]) -> list[str]:
    lines = _parameters(table)
    return ['For each name in `wrench_inputs.names`:', '', *lines[lines.index('') + 1 :]]


def _options(options: Mapping[str, tuple[Any, str]]) -> list[str]:
    rows = []
    for name, (default, about) in options.items():
        if isinstance(default, Parameter.Type):
            rows.append((f'`{name}`', UNSET[default], '', about))
        else:
            rows.append((f'`{name}`', _type(default), _value(default), about))
    return _table(['parameter', 'type', 'default', ''], rows)


def _diagnostics(about: str, keys: Mapping[str, str]) -> str:
    rows = [(f'`{key}`', meaning) for key, meaning in keys.items()]
    return '\n'.join(['### Diagnostics', '', about, '', *_table(['key', ''], rows)])


def _counts() -> str:
    rows = [
        (f'`count/{group}/<reason>`' if group else '`count/<flag>`', meaning)
        for group, meaning in tables.COUNTS.items()
    ]
    return '\n'.join([
        'Counts since activation, of what occurred; every word is in '
        '[troubleshooting](troubleshooting.md#by-word):',
        '',
        *_table(['key', ''], rows),
    ])


def _launch_files() -> str:
    lines = ['## Launch files']
    for path in sorted((ROOT / 'launch').glob('*.launch.py')):
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding='utf-8'))) or ''
        rows = [
            (f'`{name}`', f'`{default}`' if default else '', about)
            for name, (default, about) in launch_arguments(path).items()
        ]
        lines += [
            '', f'### `{path.name}`', '', docstring.split('\n\n')[0], '',
            *_table(['argument', 'default', ''], rows),
        ]
    return '\n'.join(lines)


def _name(endpoint: Endpoint) -> str:
    kind, _, parameter = endpoint.name.partition(':')
    return f'parameter `{parameter}`' if kind == 'parameter' else f'`{endpoint.name}`'


def _short(kind: str) -> str:
    return re.sub(r'/(msg|srv)/', '/', kind)


def _type(default: Any) -> str:
    if isinstance(default, list):
        return f'{TYPES[type(default[0])]}[]'
    return TYPES[type(default)]


def _value(default: Any) -> str:
    if isinstance(default, bool):
        return f'`{str(default).lower()}`'
    return f'`{default!r}`'


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [_row(head), '|' + '---|' * len(head), *_rows(rows)]


def _rows(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for row in rows:
        yield _row([re.sub(r'(?<!\\)\|', r'\\|', cell) for cell in row])


def _row(cells: Sequence[str]) -> str:
    return '| ' + ' | '.join(cells) + ' |'


if __name__ == '__main__':
    sys.stdout.write(page())
