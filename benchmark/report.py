# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What a run measured, as tables in Markdown that read well in a terminal too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .compare import Memory, Result
from .contenders import (
    BATCH,
    CHECKED,
    PINOCCHIO,
    SPECIALISED,
    SPECIALISED_BATCH,
    WORKSPACE,
    Computation,
)
from .figures import Figure, figures
from .growth import LARGE, SMALL, Growth
from .processes import TO_FIRST_TORQUE, StartUp
from .robots import Robot

GROWTH_SHOWN = (1, 10, 100, 1000)

ARM = 7
"""Number of joints of the robot whose figures users compare."""

SHOWN = {
    'checked call': (CHECKED, BATCH),
    'workspace': (WORKSPACE,),
    'specialised': (SPECIALISED, SPECIALISED_BATCH),
    'Pinocchio': (PINOCCHIO,),
}
"""The columns that users compare, and the contenders of each."""


@dataclass(frozen=True)
class BenchmarkRun:
    """
    All that a run measured.

    :param machine: what on
    :param missing: modules of other libraries that are not installed
    :param robots: what was computed
    :param results: of the races
    :param memory: of workspace calls
    :param growth: by formulation
    :param start: None where it was not measured
    """

    machine: str
    missing: Sequence[str]
    robots: Sequence[Robot]
    results: Sequence[Result]
    memory: Memory
    growth: Mapping[str, Growth]
    start: StartUp | None


def report(run: BenchmarkRun) -> str:
    """Return the whole report."""
    return f'{summary(run)}\n\n{details(run)}'


def summary(run: BenchmarkRun) -> str:
    """Return what users compare: speed beside Pinocchio for an arm, and the time of a start."""
    names = [robot.name for robot in run.robots if robot.joints == ARM]
    parts = [
        f'Measured on one core of: {run.machine}.',
        f'{names[0]}, speed relative to Pinocchio (2 is twice as fast), and time per result:',
        _of_the_arm(run),
    ]
    if run.start:
        parts += ['Time from the start of a process:', _start(run.start)]
    return '\n\n'.join(parts)


def details(run: BenchmarkRun) -> str:
    """Return every speed, the targets, the growth with the number of bodies, the first calls."""
    absent = [f'Not installed: {", ".join(run.missing)}.'] if run.missing else []
    parts = [
        'Speed relative to Pinocchio (2 is twice as fast), and time per result:',
        _comparison(run),
        *absent,
        'Targets for the speed relative to Pinocchio (at least), in brackets:',
        *_figures(figures(run.results, run.memory, run.start)),
        'Inverse dynamics of a chain of n bodies:',
        _growth(run.growth),
        _shares(run.growth[WORKSPACE]),
    ]
    if run.start:
        parts += ['Time of each first call in a new process:', _first_calls(run.start)]
    return '\n\n'.join(parts)


def _of_the_arm(run: BenchmarkRun) -> str:
    rows = []
    for quantity in Computation:
        cells = {
            result.contender: f'{_times(result.ratio)} ({_seconds(result.seconds)})'
            for result in run.results
            if result.quantity is quantity and result.joints == ARM
        }
        rows.append([quantity.value, *(
            next((cells[name] for name in names if name in cells), '') for names in SHOWN.values()
        )])
    return table(['', *SHOWN], rows)


def _comparison(run: BenchmarkRun) -> str:
    rows = []
    for quantity in Computation:
        rows.append([f'**{quantity.value}**', *[''] * len(run.robots)])
        results = [result for result in run.results if result.quantity is quantity]
        for contender in dict.fromkeys(result.contender for result in results):
            cells = {
                result.joints: f'{_times(result.ratio)} ({_seconds(result.seconds)})'
                for result in results if result.contender == contender
            }
            rows.append([contender, *(cells.get(robot.joints, '') for robot in run.robots)])
    return table(['', *(f'{robot.name}, {robot.joints} joints' for robot in run.robots)], rows)


def _figures(found: Sequence[Figure]) -> list[str]:
    robot_figures = [figure for figure in found if figure.joints]
    joints = sorted({figure.joints for figure in robot_figures if figure.joints})
    rows = []
    for what in dict.fromkeys(figure.what for figure in robot_figures):
        cells = {
            figure.joints: f'{figure.measured} ({figure.target}) {verdict(figure)}'
            for figure in robot_figures if figure.what == what
        }
        rows.append([what, *(cells.get(number, '') for number in joints)])
    others = [
        [figure.what, figure.target, f'{figure.measured} {verdict(figure)}']
        for figure in found if not figure.joints
    ]
    return [
        table(['', *(f'{number} joints' for number in joints)], rows),
        table(['', 'target', 'measured'], others),
    ]


def verdict(figure: Figure) -> str:
    """Return in words whether a figure was reached."""
    return 'reached' if figure.reached else '**not reached**'


def _growth(growth: Mapping[str, Growth]) -> str:
    rows = []
    for name, measured in growth.items():
        seconds = dict(zip(measured.bodies.tolist(), measured.seconds.tolist(), strict=True))
        rows.append([
            name,
            *(_seconds(seconds[n]) if n in seconds else '' for n in GROWTH_SHOWN),
            f'n^{measured.exponent:.2f}',
        ])
    return table(['', *(f'n = {n}' for n in GROWTH_SHOWN), f'grows, from n = {LARGE} on'], rows)


def _shares(growth: Growth) -> str:
    call, body = growth.call_and_body
    return (
        f'Up to {SMALL} bodies, a call of the workspace takes {_seconds(call)}, '
        f'and {_seconds(body)} for each body.'
    )


def _start(start: StartUp) -> str:
    return _times_of(start, {
        'import': ['import'],
        'import, model and first inverse dynamics': TO_FIRST_TORQUE,
        'first call of every function': list(start.cold),
    })


def _first_calls(start: StartUp) -> str:
    calls = [step for step in start.cold if step not in ('import', 'model')]
    return _times_of(start, {f'`{call}`': [call] for call in calls})


def _times_of(start: StartUp, steps: Mapping[str, Sequence[str]]) -> str:
    rows = [
        [what, *(f'{sum(seconds[name] for name in names):.2f} s'
                 for seconds in (start.cold, start.warm))]
        for what, names in steps.items()
    ]
    return table(['', 'cold cache', 'warm cache'], rows)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table, its columns but the first aligned to the right."""
    widths = np.array([[len(cell) for cell in row] for row in [header, *rows]]).max(axis=0)
    lines = [
        ' | '.join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in [header, *rows]
    ]
    rule = '|'.join(
        '-' * (width + 1) + (':' if column else '-') for column, width in enumerate(widths)
    )
    first, *others = [f'| {line} |' for line in lines]
    return '\n'.join([first, f'|{rule}|', *others])


def _times(ratio: float) -> str:
    return f'{ratio:.3g}' if ratio >= 0.1 else f'1/{1.0 / ratio:.0f}'


def _seconds(seconds: float) -> str:
    for unit, scale in (('ns', 1e9), ('\N{MICRO SIGN}s', 1e6), ('ms', 1e3)):
        if seconds * scale < 1000.0:
            return f'{seconds * scale:.3g} {unit}'
    return f'{seconds:.3g} s'
