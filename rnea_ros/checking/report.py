# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The report as text: a table of peaks and limits, what is wrong, and how fast it may be."""

from __future__ import annotations

import math

from .check import Figures, TrajectoryCheck, Verdict
from .limits import Quantity
from .peaks import Peak
from .time_scaling import Bound

HEADER = ('', 'joint', 'of', 'peak', 'limit', 'margin', 'used', 'at')
UNITS = {
    Quantity.POSITION: 'rad or m',
    Quantity.VELOCITY: 'rad/s or m/s',
    Quantity.ACCELERATION: 'rad/s^2 or m/s^2',
    Quantity.EFFORT: 'N m or N',
}
STANDSTILL = 1e-6
"""A factor of time below which a motion is taken to need nothing."""


def report(checked: TrajectoryCheck) -> str:
    """Return the whole report."""
    parts = []
    if checked.figures is not None:
        figures = checked.figures
        parts += [
            f'{checked.robot}: {figures.points} points, {figures.duration:g} s; '
            f'efforts by inverse dynamics at {len(figures.efforts.time)} samples',
            'rad, rad/s, rad/s^2 and N m; of joints that slide m, m/s, m/s^2 and N',
            '',
            _table(figures),
            '',
        ]
    parts += [f'* {_violation(peak)}' for peak in checked.violations]
    parts += [f'* {trap.word}: {trap.text}' for trap in checked.traps]
    parts += [f'- the feedforward node refuses it: {error}' for error in checked.refusals]
    parts += [f'- {note}' for note in checked.notes]
    if checked.figures is not None:
        parts += ['', *_pace(checked.figures)]
    return '\n'.join([*parts, '', _verdict(checked)])


def _table(figures: Figures) -> str:
    rows = [HEADER, *(_cells(peak) for peak in figures.peaks)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(HEADER))]
    lines = [
        '  '.join(
            cell.ljust(width) if k < 3 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    lines.insert(1, '  '.join('-' * width for width in widths))
    return '\n'.join(lines)


def _cells(peak: Peak) -> tuple[str, ...]:
    limited = math.isfinite(peak.limit)
    share = peak.share
    return (
        '*' if peak.is_violation else '',
        peak.joint,
        peak.quantity.value,
        f'{peak.value:.3f}',
        f'{peak.limit:.3f}' if limited else '-',
        f'{peak.margin:.3f}' if limited else '-',
        '-' if share is None else f'{100.0 * share:.0f} %',
        f'{peak.time:.3f} s',
    )


def _violation(peak: Peak) -> str:
    return (
        f'{peak.quantity.value} limit of {peak.joint!r} at {peak.time:.3f} s: {peak.value:.4g} is '
        f'{-peak.margin:.2g} {UNITS[peak.quantity]} beyond {peak.limit:.4g}'
    )


def _pace(figures: Figures) -> list[str]:
    """Return how fast the motion may be, in two lines or one."""
    by_effort, by_all = figures.by_effort, figures.by_all
    if math.isinf(by_effort.stretch):
        row = int(abs(figures.efforts.time - by_effort.time).argmin())
        joint = figures.limits.index(by_effort.joint)
        return [
            f'no slower motion helps: at {by_effort.time:.3f} s gravity alone needs '
            f'{figures.efforts.gravity[row, joint]:.4g} of {by_effort.joint!r}, whose limit is '
            f'{figures.limits.effort[joint]:.4g} (N m or N)'
        ]
    if by_all.stretch < STANDSTILL:
        return ['no limit bounds how fast it may be']
    return [
        f'at the limits of effort alone: {_factor(by_effort, figures.duration)}',
        f'with those of velocity and acceleration: {_factor(by_all, figures.duration)}',
    ]


def _factor(bound: Bound, duration: float) -> str:
    if bound.stretch < STANDSTILL:
        return 'as fast as you like'
    return (
        f'times may be multiplied by {bound.stretch:.4g}, no less ({bound.stretch * duration:.4g} '
        f's; {bound.joint!r}, {bound.quantity.value}, at {bound.time:.3f} s of now)'
    )


def _verdict(checked: TrajectoryCheck) -> str:
    if checked.verdict is Verdict.FINE:
        return 'fine: within all limits that are known'
    return 'not fine: mend what is marked with *'
