# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What a run measured of the control loop, as tables in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..report import table, verdict
from ..robots import Array
from .arms import Arms
from .contenders import CYCLICTEST, OURS, OURS_FIFO, PLAIN, TRIGGERED, Condition, LoopContender
from .figures import RATE, figures
from .rounds import takes_part
from .turn import Turn

HEADER = (
    '',
    'error p50', 'p99', 'p99.9', 'max', 'late ticks',
    'latency p50', 'p99',
    'tick p50', 'p99',
    'CPU', 'memory',
)

SHOWN = {
    0: '',
    10: 'CPU', 11: 'memory',
    2: 'error p99', 5: 'late ticks',
    6: 'latency p50', 7: 'latency p99',
}
"""The columns of :data:`HEADER` that users compare, and their names."""

COMPARED = (OURS, OURS_FIFO, TRIGGERED, PLAIN, CYCLICTEST)
"""The contenders that users compare."""


@dataclass(frozen=True)
class LoopRun:
    """
    All that a run measured.

    :param machine: what on
    :param results: of the contenders
    :param arms: of many arms
    :param starts: from the start of a process to its first command, by contender, s
    """

    machine: str
    results: Sequence[Turn]
    arms: Sequence[Arms]
    starts: Mapping[LoopContender, Sequence[float]]


def report(run: LoopRun) -> str:
    """Return the whole report."""
    return f'{summary(run)}\n\n{details(run)}'


def summary(run: LoopRun) -> str:
    """Return what users compare: cost and jitter at 1 kHz."""
    missing = '' if takes_part(CYCLICTEST) else ' cyclictest (rt-tests) is not installed.'
    parts = [f'Measured on: {run.machine}.{missing}']
    for condition in (Condition.IDLE, Condition.STRESS):
        results = {
            result.contender: _row(result) for result in run.results
            if result.rate == RATE and result.condition is condition
        }
        rows = [
            [results[contender][column] for column in SHOWN]
            for contender in COMPARED if contender in results
        ]
        if rows:
            parts += [
                f'At {RATE:g} Hz, {condition.value}, times in \N{MICRO SIGN}s:',
                table([*SHOWN.values()], rows),
            ]
    return '\n\n'.join(parts)


def details(run: LoopRun) -> str:
    """Return the targets, every figure, and the cost of many arms."""
    parts = [
        'Targets at 1 kHz:',
        table(['', 'target', 'measured'], [
            [figure.what, figure.target, f'{figure.measured} {verdict(figure)}']
            for figure in figures(run.results, run.starts)
        ]),
    ]
    for condition in Condition:
        results = [result for result in run.results if result.condition is condition]
        if results:
            parts += [
                f'All times in \N{MICRO SIGN}s, {condition.value}:',
                table(HEADER, _rows(results)),
            ]
    if run.arms:
        parts += ['Several arms, one process each:', _arms(run.arms)]
    return '\n\n'.join(parts)


def _rows(results: Sequence[Turn]) -> list[list[str]]:
    rows = []
    for rate in sorted({result.rate for result in results}):
        rows.append([f'**{rate:g} Hz**', *[''] * (len(HEADER) - 1)])
        rows += [_row(result) for result in results if result.rate == rate]
    return rows


def _row(result: Turn) -> list[str]:
    errors = [''] * 5
    if result.lateness is not None:
        lateness = result.lateness
        numbers = (*lateness.percentiles, lateness.greatest)
        errors = [*map(_microseconds, numbers), f'{lateness.late} of {lateness.ticks}']
    return [
        result.contender.name,
        *errors,
        *_median_and_p99(result.latency),
        *_median_and_p99(result.compute),
        '' if result.cpu is None else f'{result.cpu:.1%}',
        '' if result.memory is None else f'{result.memory:.0f} MB',
    ]


def _arms(measured: Sequence[Arms]) -> str:
    rows = []
    for arms in measured:
        lateness = arms.lateness
        rows.append([
            f'{len(arms.cpu)} at {arms.rate:g} Hz',
            f'{np.mean(arms.cpu):.1%}',
            f'{sum(arms.cpu):.1%}',
            f'{arms.memory:.0f} MB',
            *map(_microseconds, lateness.percentiles[:2]),
            f'{lateness.late} of {lateness.ticks}',
        ])
    return table(
        ['arms', 'CPU of each', 'of all', 'memory of all', 'error p50', 'p99', 'late ticks'], rows
    )


def _median_and_p99(times: Array) -> list[str]:
    if not times.size:
        return ['', '']
    return [_microseconds(float(time)) for time in np.percentile(times, (50.0, 99.0))]


def _microseconds(time: float) -> str:
    return f'{time * 1e6:.0f}'
