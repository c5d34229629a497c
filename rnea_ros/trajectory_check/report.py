# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The result of a check as text, and as a picture of velocities and efforts.

The text has the verdict, the fastest time scaling, the faults, remarks, and a table of peaks.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..command_line import text_table
from ..drawing import legend_above, new_figure, save, two_columns_over_time
from .check import MotionFigures, TrajectoryCheck, TrajectoryVerdict
from .limits import Quantity, TrajectoryLimits
from .motion import Bound, Peak

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEADER = ('', 'joint', 'quantity', 'unit', 'peak', 'limit', 'margin', 'used', 'at')
FAR = 2.0  # a limit above this multiple of the greatest value is written, not drawn
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


def picture(path: Path, name: str, figures: MotionFigures) -> None:
    """Draw velocity and effort of every joint over time, the effort of gravity, and the limits."""
    efforts, limits = figures.efforts, figures.limits
    joints = limits.joint_names
    figure = new_figure(11.0, 1.0 + 1.3 * len(joints))
    rows = two_columns_over_time(figure, len(joints))
    figure.suptitle(f'{name}: velocities and efforts of the trajectory; rows differ in scale')
    for index, (joint, (left, right)) in enumerate(zip(joints, rows, strict=True)):
        velocity, total = efforts.velocity[:, index], efforts.total[:, index]
        left.plot(efforts.time, velocity, color='C0', label='velocity')
        right.plot(efforts.time, total, color='C0', label='effort')
        right.plot(efforts.time, efforts.gravity[:, index], color='0.65', label='of it gravity')
        _limit(left, efforts.time, velocity, float(limits.velocity[index]))
        _limit(right, efforts.time, total, float(limits.effort[index]))
        left.set_ylabel(f'{joint}\n{limits.unit(joint, Quantity.VELOCITY)}', fontsize='small')
        right.set_ylabel(limits.unit(joint, Quantity.EFFORT), fontsize='small')
    for axis in rows[0]:
        legend_above(axis)
    save(figure, path)


def _limit(axis: Axes, time: Array, values: Array, limit: float) -> None:
    """Draw a limit and mark what is above it; write a limit that would flatten the curve."""
    if not math.isfinite(limit):
        return
    greatest = float(np.abs(values).max())
    if limit > FAR * greatest:
        axis.set_title(f'limit {limit:g}', loc='right', fontsize='x-small', color='C3', pad=2.0)
        return
    for bound in (limit, -limit):
        if bound > 0.0 or values.min() < -limit / FAR:
            axis.axhline(bound, color='C3', linewidth=0.9, linestyle='--')
    beyond = np.where(np.abs(values) > limit, values, np.nan)
    if np.isfinite(beyond).any():
        axis.plot(time, beyond, color='C3', linewidth=3.0, label='above the limit')
