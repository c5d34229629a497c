# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The exported files: header, source, test program and CMake target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import hashlib
from pathlib import Path
import re
from typing import Any

import numpy as np

from ..arrays import Array
from ..dynamics.tracing import Expression, Value, needed, operations
from ..errors import MAX_TEXT, InputError, clipped
from ..files import FileError, write_files
from .functions import STATES, CExport, CFunction, Environment, functions, identifier

OPERATIONS = {
    '+': '{} + {}', '-': '{} - {}', '*': '{} * {}', 'negative': '-{}',
    'absolute': 'fabs{f}({})', 'cos': 'cos{f}({})', 'sin': 'sin{f}({})', 'tanh': 'tanh{f}({})',
}
"""Operations of expressions in C; f is the suffix of functions of float."""


def export_c(
    export: CExport, directory: Path, *, prefix: str | None = None,
    single_precision: bool = False,
) -> list[Path]:
    """
    Write header, source, test program and CMakeLists.txt; return their paths.

    :param export: robot and arguments
    :param directory: directory to write to; created if necessary
    :param prefix: of all names in C; by default the robot's name
    :param single_precision: float instead of double
    :raises InputError: a prefix that is no name in C, links that are equal there, or no joint
    :raises FileError: a file cannot be written
    """
    model = export.model
    origin = '' if prefix else f", which is the robot's name {model.name!r}; give a prefix"
    prefix = identifier(model.name).lower() if prefix is None else prefix
    if prefix != identifier(prefix) or not prefix[:1].isalpha():
        raise InputError('prefix', f'{prefix!r} is not a name in C{origin}')
    if not model.nv:
        raise InputError('model', 'the robot has no joint to compute')
    for links in (export.frames, export.payloads, export.wrenches):
        if len({*map(identifier, links)}) < len(links):
            raise InputError('links', f'names in C are not unique: {", ".join(links)}')
    rng = np.random.default_rng(0)
    # Numbers that float and double both hold
    environment = export.arguments(lambda name, shape: _rounded(rng.uniform(0.1, 0.5, shape)))
    states = [
        {
            'q': _rounded(model.integrate(model.neutral_position, rng.normal(size=model.nv), 1.0)),
            **{name: _rounded(rng.normal(size=model.nv)) for name in ('qd', 'qdd', 'load')},
        }
        for _ in range(STATES)
    ]
    text = _Text(export, prefix, 'float' if single_precision else 'double')
    traced = list(functions(export, environment, states))
    contents = {
        f'{prefix}.h': text.header(traced),
        f'{prefix}.c': text.source(traced),
        f'{prefix}_test.c': text.test(traced, states, environment),
        'CMakeLists.txt': text.cmake(),
    }
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f'{directory} is not a directory: {error.strerror}') from error
    paths: dict[Path, str | bytes] = {directory / name: text for name, text in contents.items()}
    write_files(paths)
    return [*paths]


def _rounded(values: Array) -> Array:
    return values.astype(np.float32).astype(np.float64)


def _string(text: str) -> str:
    """Return a literal; octal escapes stand for the bytes that could have a meaning in C."""
    encoded = text.encode('utf-8', 'surrogatepass')
    safe = re.sub(rb'[^\w .:/-]', lambda byte: b'\\%03o' % ord(byte[0]), encoded)
    return f'"{safe.decode()}"'


class _Text:
    """Writes C99 for one robot, with a prefix of all names; ``real`` is 'double' or 'float'."""

    def __init__(self, export: CExport, prefix: str, real: str) -> None:
        self._export = export
        self._prefix = prefix
        self._real = real
        self._suffix = 'f' if real == 'float' else ''

    def header(self, functions: Sequence[CFunction]) -> str:
        """Return the header."""
        model, guard = self._export.model, f'{self._prefix.upper()}_DYNAMICS_H'
        text = '' if model.description is None else model.description.text
        about = [
            f'Dynamics of {model.name}, exported by rnea_ros.', '',
            f'URDF: SHA-256 {hashlib.sha256(text.encode()).hexdigest()}',
            'Units: rad, m, kg, s, N, N m. Wrenches, Jacobians and spatial vectors are',
            "[angular; linear] in a link's own axes. Arrays must not overlap.",
            'Gravity: an argument.' if self._export.moving_base else
            f'Gravity: {", ".join(f"{x:g}" for x in model.gravity)} m/s^2 in the root link.',
            *(f'  q[{at.positions.start}..{at.positions.stop - 1}], '
              f'qd[{at.velocities.start}..{at.velocities.stop - 1}]: {name}'
              for name, at in model.tree.joints.items()),
        ]
        initialisers = {
            'JOINTS': map(_string, model.joint_names),
            'CONTINUOUS': map(str, model.continuous.astype(int)),
            'EFFORT_LIMITS': map(repr, np.nan_to_num(model.effort_limits, posinf=0.0).tolist()),
        }
        lines = [
            *self._comment(about), f'#ifndef {guard}', f'#define {guard}', '',
            *self._comment([
                'Initialisers of arrays in the order of q: names of the joints, whether each is',
                "continuous, and the URDF's effort limits, 0 where it has none.",
            ]),
            *(f'#define {self._prefix.upper()}_{name} {{{", ".join(values)}}}'
              for name, values in initialisers.items()), '',
            '#ifdef __cplusplus', 'extern "C" {', '#endif', '', *self._struct(),
        ]
        for function in functions:
            products, sums, others = operations(function.results.flat)
            count = f'{products} multiplications, {sums} additions, {others} others'
            lines += [*self._comment([f'{function.description}.', count]),
                      f'{self._signature(function)};', '']
        lines += ['#ifdef __cplusplus', '}', '#endif', '', '#endif', '']
        return '\n'.join(lines)

    def source(self, functions: Iterable[CFunction]) -> str:
        """Return the source."""
        lines = [f'#include "{self._prefix}.h"', '', '#include <math.h>', '']
        for function in functions:
            body = self._statements(function.results.ravel())
            whole = '\n'.join(body)
            arrays = [*function.inputs, *['environment'] * function.in_environment]
            unused = [
                f'(void){name};' for name in arrays if not re.search(rf'\b{name}(\[|->)', whole)
            ]
            lines += [self._signature(function), '{',
                      *(f'    {line}' for line in (*unused, *body)), '}', '']
        return '\n'.join(lines)

    def test(
        self, functions: Iterable[CFunction], states: Sequence[Mapping[str, Array]],
        environment: Environment,
    ) -> str:
        """Return a program that compares every function with the library's results."""
        bound = '1e-12' if self._real == 'double' else '1e-5f'
        f = self._suffix
        lines = [
            f'#include "{self._prefix}.h"', '', '#include <math.h>', '#include <stdio.h>', '',
            f'static {self._real} compare(const char *name, const {self._real} *found,',
            f'                     const {self._real} *expected, int size)', '{',
            f'    {self._real} error = {self._literal(0.0)}, largest = {self._literal(1.0)};',
            '    for (int i = 0; i < size; ++i) {',
            f'        largest = fmax{f}(largest, fabs{f}(expected[i]));',
            f'        error = fmax{f}(error, fabs{f}(found[i] - expected[i]));',
            '    }',
            '    printf("%-32s %.1e\\n", name, (double)(error / largest));',
            '    return error / largest;', '}', '', 'int main(void)', '{', '    int wrong = 0;',
        ]
        if environment:
            values = self._literal([[*parts.values()] for parts in environment.values()])
            lines.append(f'    static const {self._prefix}_environment environment = {values};')
        for function in functions:
            rows = {name: np.array([state[name] for state in states]) for name in function.inputs}
            rows['expected'] = np.reshape(function.expected, (len(states), -1))
            arguments = ', '.join((*(f'{name}[i]' for name in function.inputs),
                                   *['&environment'] * function.in_environment, 'found'))
            size = function.results.size
            lines += ['    {', *(
                f'        static const {self._real} {name}[][{values.shape[1]}] = '
                f'{self._literal(values.tolist())};' for name, values in rows.items()
            )]
            lines += [
                f'        {self._real} found[{size}];',
                f'        for (int i = 0; i < {len(states)}; ++i) {{',
                f'            {self._prefix}_{function.name}({arguments});',
                f'            wrong += !(compare("{function.name}", found, expected[i], {size}) '
                f'< {bound});', '        }', '    }',
            ]
        return '\n'.join([*lines, '    return wrong != 0;', '}', ''])

    def cmake(self) -> str:
        """Return a CMake target, and one for the test."""
        p = self._prefix
        return (
            f'cmake_minimum_required(VERSION 3.10)\nproject({p} C)\n'
            f'add_library({p} STATIC {p}.c)\ntarget_link_libraries({p} PUBLIC m)\n'
            f'target_include_directories({p} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})\n'
            f'set_target_properties({p} PROPERTIES C_STANDARD 99 POSITION_INDEPENDENT_CODE ON)\n'
            f'enable_testing()\nadd_executable({p}_test {p}_test.c)\n'
            f'target_link_libraries({p}_test {p})\nadd_test(NAME {p} COMMAND {p}_test)\n'
        )

    def _struct(self) -> list[str]:
        if not self._export.environment:
            return []
        lines = self._comment([
            'Payload: mass, centre of mass, inertia about it (xx, xy, xz, yy, yz, zz), in the',
            "link's frame. Wrench on the robot at the link's origin, in its axes. Base: gravity,",
            "spatial velocity and acceleration [angular; linear] in the root link's axes.",
        ])
        lines.append('typedef struct {')
        for field, parts in self._export.environment.items():
            inner = ' '.join(
                f'{self._real} {part}{f"[{shape[0]}]" if shape else ""};'
                for part, shape in parts.items()
            )
            lines.append(f'    struct {{ {inner} }} {field};')
        return [*lines, f'}} {self._prefix}_environment;', '']

    def _signature(self, function: CFunction) -> str:
        given = [f'const {self._real} {name}[{size}]' for name, size in function.inputs.items()]
        if function.in_environment:
            given.append(f'const {self._prefix}_environment *environment')
        given.append(f'{self._real} result[{function.results.size}]')
        return f'void {self._prefix}_{function.name}({", ".join(given)})'

    def _statements(self, results: Iterable[Value]) -> list[str]:
        """Return an assignment for each operation, and for each result."""
        texts: dict[Expression, str] = {}

        def text(value: Value) -> str:
            return texts[value] if isinstance(value, Expression) else self._literal(value)

        results = list(results)
        statements: list[str] = []
        for step in needed(results):
            if step.operation == 'input':
                name, *index = step.arguments
                texts[step] = name + ''.join(f'[{i}]' for i in index)
                continue
            values = map(text, step.arguments)
            computed = OPERATIONS[step.operation].format(*values, f=self._suffix)
            texts[step] = f't{len(statements)}'
            statements.append(f'const {self._real} {texts[step]} = {computed};')
        return statements + [f'result[{i}] = {text(x)};' for i, x in enumerate(results)]

    def _literal(self, value: Any) -> str:
        """Return a number, or an initialiser of nested lists of numbers."""
        if isinstance(value, list):
            return f'{{{", ".join(map(self._literal, value))}}}'
        return f'{np.float32(value)}f' if self._suffix else repr(float(value))

    @staticmethod
    def _comment(lines: Iterable[str]) -> list[str]:
        # No text of the URDF ends the comment, nor begins another one or a trigraph.
        apart = (re.sub(r'(?<=[*/?])(?=[*/?])', ' ', clipped(line, MAX_TEXT)) for line in lines)
        return ['/*', *(f' * {line}'.rstrip() for line in apart), ' */']
