# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What a run measured, as tables in Markdown that read well in a terminal too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .compare import Memory, Result
from .contenders import WORKSPACE, Quantity
from .figures import Figure, figures
from .growth import LARGE, SMALL, Growth
from .processes import TO_FIRST_TORQUE, StartUp
from .robots import Robot

GROWTH_SHOWN = (1, 10, 100, 1000)


@dataclass(frozen=True)
class Run:
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


def report(run: Run) -> str:
    """Return the whole report."""
    absent = f'Not installed: {", ".join(run.missing)}.' if run.missing else ''
    parts = [
        f'Measured on one core of: {run.machine}. {absent}'.rstrip(),
        'Times faster than Pinocchio, and what one result takes:',
        _comparison(run),
        'Figures to reach, in times faster than Pinocchio (at least):',
        *_figures(figures(run.results, run.memory, run.start)),
        'Inverse dynamics of a chain of n bodies:',
        _growth(run.growth),
        _shares(run.growth[WORKSPACE]),
    ]
    if run.start:
        parts += ['From the start of a process to its first results:', _start(run.start)]
    return '\n\n'.join(parts)


def _comparison(run: Run) -> str:
    rows = []
    for quantity in Quantity:
        rows.append([f'**{quantity.value}**', *[''] * len(run.robots)])
        of_quantity = [result for result in run.results if result.quantity is quantity]
        for contender in dict.fromkeys(result.contender for result in of_quantity):
            cells = {
                result.joints: f'{_times(result.ratio)} ({_seconds(result.seconds)})'
                for result in of_quantity if result.contender == contender
            }
            rows.append([contender, *(cells.get(robot.joints, '') for robot in run.robots)])
    return table(['', *(f'{robot.name}, {robot.joints} joints' for robot in run.robots)], rows)


def _figures(found: Sequence[Figure]) -> list[str]:
    of_robots = [figure for figure in found if figure.joints]
    joints = sorted({figure.joints for figure in of_robots if figure.joints})
    rows = []
    for what in dict.fromkeys(figure.what for figure in of_robots):
        cells = {
            figure.joints: f'{figure.measured} ({figure.wanted}) {verdict(figure)}'
            for figure in of_robots if figure.what == what
        }
        rows.append([what, *(cells.get(number, '') for number in joints)])
    others = [
        [figure.what, figure.wanted, f'{figure.measured} {verdict(figure)}']
        for figure in found if not figure.joints
    ]
    return [
        table(['', *(f'{number} joints' for number in joints)], rows),
        table(['', 'wanted', 'measured'], others),
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
    def row(what: str, steps: Sequence[str]) -> list[str]:
        return [what, *(
            f'{sum(seconds[step] for step in steps):.2f} s' for seconds in (start.cold, start.warm)
        )]

    rows = [
        row('import', ['import']),
        row('import, model and the first inverse dynamics', TO_FIRST_TORQUE),
        *(row(f'first {step}', [step]) for step in start.cold if step not in ('import', 'model')),
        row('everything', list(start.cold)),
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
