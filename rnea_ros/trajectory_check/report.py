# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The report as text.

In: a :class:`.TrajectoryCheck`. Out: the verdict, the fastest time scaling, the faults, remarks,
and a table of peaks, in this order.
"""

from __future__ import annotations

import math

from ..command_line import text_table
from .check import MotionFigures, TrajectoryCheck, TrajectoryVerdict
from .limits import Quantity, TrajectoryLimits
from .peaks import Peak
from .time_scaling import Bound

HEADER = ('', 'joint', 'quantity', 'unit', 'peak', 'limit', 'margin', 'used', 'at')
UNBOUNDED = 1e-6  # factor of the times below which no limit bounds the time scaling

_NO_BOUND = 'no limit bounds its speed'


def report(checked: TrajectoryCheck) -> str:
    """Return the report on a check."""
    figures = checked.figures
    parts = ['not fine: see the lines marked with *']
    if checked.verdict is TrajectoryVerdict.FINE:
        parts = ['fine: within all known limits']
    if figures is not None:
        parts += _time_scaling(figures)
        parts += [f'* {_violation(peak, figures.limits)}' for peak in checked.violations]
    parts += [f'* {trap.word}: {trap.text}' for trap in checked.traps]
    parts += [f'- the feedforward node rejects it: {error}' for error in checked.rejections]
    parts += [f'- {note}' for note in checked.notes]
    if figures is not None:
        rows = [HEADER, *(_cells(peak, figures.limits) for peak in figures.peaks)]
        parts += [
            '',
            f'{checked.robot}: {figures.points} points, {figures.duration:g} s; '
            f'efforts by inverse dynamics at {len(figures.efforts.time)} samples',
            '',
            text_table(rows, left=range(4)),
        ]
    return '\n'.join(parts)


def _cells(peak: Peak, limits: TrajectoryLimits) -> tuple[str, ...]:
    limited = math.isfinite(peak.limit)
    share = peak.share
    return (
        '*' if peak.is_violation else '',
        peak.joint,
        peak.quantity.value,
        limits.unit(peak.joint, peak.quantity),
        f'{peak.value:.3f}',
        f'{peak.limit:.3f}' if limited else '-',
        f'{peak.margin:.3f}' if limited else '-',
        '-' if share is None else f'{100.0 * share:.0f} %',
        f'{peak.time:.3f} s',
    )


def _violation(peak: Peak, limits: TrajectoryLimits) -> str:
    unit = limits.unit(peak.joint, peak.quantity)
    return (
        f'{peak.quantity.value} of {peak.joint} at {peak.time:.3f} s: {peak.value:.4g} {unit} is '
        f'{-peak.margin:.2g} {unit} beyond the limit of {peak.limit:.4g} {unit}'
    )


def _time_scaling(figures: MotionFigures) -> list[str]:
    """Return one or two lines about the fastest time scaling."""
    by_effort, bound = figures.effort_bound, figures.bound
    if math.isinf(by_effort.stretch):
        row = int(abs(figures.efforts.time - by_effort.time).argmin())
        joint = figures.limits.index(by_effort.joint)
        unit = figures.limits.unit(by_effort.joint, Quantity.EFFORT)
        return [
            f'a slower motion does not help: at {by_effort.time:.3f} s gravity alone requires '
            f'{figures.efforts.gravity[row, joint]:.4g} {unit} of {by_effort.joint}, whose limit '
            f'is {figures.limits.effort[joint]:.4g} {unit}'
        ]
    if bound.stretch < UNBOUNDED:
        return [_NO_BOUND]
    if bound == by_effort or by_effort.stretch < UNBOUNDED:
        return [_time(bound, figures.duration)]
    return [
        _time(bound, figures.duration),
        f'by the efforts alone: {_time(by_effort, figures.duration)}',
    ]


def _time(bound: Bound, duration: float) -> str:
    if bound.stretch < UNBOUNDED:
        return _NO_BOUND
    change = 100.0 * (bound.stretch - 1.0)
    more = f'needs {change:.1f} % more time'
    less = f'may take {-change:.1f} % less time'
    return (
        f'{more if change > 0.0 else less}: '
        f'{bound.stretch * duration:.4g} s instead of {duration:.4g} s '
        f'({bound.quantity.value} of {bound.joint}, at {bound.time:.3f} s)'
    )
