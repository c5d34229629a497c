# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Results of the demo: tables and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...command_line import text_table
from ...drawing import add_grid, new_figure, save, show_windows
from ...identification import Identification
from .motion import reference_positions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .session import Phase

MIN_ERROR = 0.05  # lower end of the drawn errors, mrad
MAX_GAP = 0.1  # between drawn terms of the effort, s


@dataclass(frozen=True)
class Performance:
    """Performance of the control with one model."""

    time: Array  # since the start of gravity compensation, shape (N,), s
    deviation: Array  # of the joints from then on, shape (N, m), rad or m
    phase: Phase  # the motion under computed torque

    @property
    def drift(self) -> float:
        """Greatest deviation under gravity compensation, rad or m."""
        return float(np.abs(self.deviation).max())


def comparison_table(phases: Sequence[Phase], *, timing: bool) -> str:
    """Return the phases as a table of text; the timing of the control needs real time."""
    header = ('phase', 'RMS error', 'peak error')
    rows: list[tuple[str, ...]] = [(*header, 'rate', 'late ticks', 'CPU') if timing else header]
    for phase in phases:
        errors = (f'{1e3 * error:.2f} {phase.unit}' for error in (phase.rms(), phase.peak()))
        times = (f'{phase.rate:.1f} Hz', str(phase.late), f'{100.0 * phase.cpu:.1f} %')
        rows.append((phase.title, *errors, *(times if timing else ())))
    return text_table(rows, left=(0,))


def draw_comparison(path: Path, phases: Sequence[Phase], title: str, show: bool) -> None:
    """Draw positions, errors and the terms of the last phase's effort."""
    motion = phases[0].motion
    joint = int(np.argmax([np.abs(phases[0].errors()[1]).max(axis=0)]))
    name = phases[0].joints[joint]
    figure = new_figure(10.0, 11.0, window=show)
    tracking, errors, efforts = axes = figure.subplots(3, 1, sharex=True)

    t = np.linspace(0.0, motion.duration, 1000)
    reference = reference_positions(motion, [name], t)
    tracking.plot(t, reference, 'k:', label='reference', zorder=10)
    for phase in phases:
        times, error = phase.errors()
        measured = reference_positions(motion, [name], times)[:, 0] + error[:, joint]
        tracking.plot(times, measured, label=phase.title)
        norm = 1e3 * np.abs(error).max(axis=1)
        errors.semilogy(times, np.maximum(norm, MIN_ERROR), label=phase.title)
    tracking.set(ylabel=f'{name}, rad or m', title=title)
    errors.set(ylabel=f'greatest error of any joint, {phases[0].unit}')

    last = phases[-1]
    for term, rows in last.received.terms.items():
        times = np.array([row[0] for row in rows]) - last.start
        during = (times >= 0.0) & (times <= motion.duration)
        values = np.array([row[1] for row in rows])[during, joint]
        if values.any():  # a zero term would hide the others
            times = times[during]
            lost = np.flatnonzero(np.diff(times) > MAX_GAP) + 1  # messages: no line across them
            efforts.plot(
                np.insert(times, lost, np.nan), np.insert(values, lost, np.nan), label=term
            )
    efforts.set(ylabel=f'effort of {name}, N m or N', title=f'terms of the effort, {last.title}')
    efforts.set(xlabel='time, s')
    show_picture(figure, axes, path, show)


def identification_table(before: Performance, after: Performance) -> str:
    """Return drift and tracking errors before and after as a table of text."""
    unit, rows = before.phase.unit, [('', 'before', 'after', 'ratio')]
    for label, old, new in (
        (f'drift in {before.time[-1]:.1f} s, gravity only', before.drift, after.drift),
        ('RMS error of the motion', before.phase.rms(), after.phase.rms()),
        ('peak error of the motion', before.phase.peak(), after.phase.peak()),
    ):
        ratio = f'1/{old / new:.0f}'
        rows.append((label, f'{1e3 * old:.2f} {unit}', f'{1e3 * new:.2f} {unit}', ratio))
    return text_table(rows, left=(0,))


def draw_identification(
    path: Path, before: Performance, after: Performance, fit: Identification, show: bool
) -> None:
    """Draw drift and tracking errors before and after, and efforts of one joint."""
    figure, unit = new_figure(10.0, 10.0, window=show), before.phase.unit
    drift, errors, efforts = axes = figure.subplots(3, 1)
    for performance, model in ((before, 'first model'), (after, 'identified model')):
        phase = performance.phase
        for axis, t, deviation in (
            (drift, performance.time, performance.deviation),
            (errors, *phase.errors()),
        ):
            greatest = 1e3 * np.abs(deviation).max(axis=1)
            axis.semilogy(t, np.maximum(greatest, MIN_ERROR), label=model, lw=1.0)
    drift.set(ylabel=f'drift, {unit}', title='gravity compensation: greatest drift of any joint')
    errors.set(ylabel=f'error, {unit}', title='computed torque: greatest error of any joint')
    for axis in (drift, errors):
        axis.yaxis.set_major_formatter('{x:g}')
    _draw_efforts(efforts, fit)
    for axis in axes:
        axis.set_xlabel('time, s')
        axis.margins(x=0.01)
    figure.suptitle(f'{fit.prior.name}, before and after its identification')
    show_picture(figure, axes, path, show)


def show_picture(figure: Figure, axes: Iterable[Axes], path: Path, show: bool) -> None:
    """Write a figure with grids and legends, and show it if requested."""
    for axis in axes:
        add_grid(axis)
        if axis.get_lines():
            axis.legend(loc='upper left', bbox_to_anchor=(1.0, 1.0), fontsize='small')
    save(figure, path)
    if show:
        show_windows()


def _draw_efforts(axis: Axes, fit: Identification) -> None:
    """Draw the efforts of the joint whose error has decreased most."""
    compared = fit.comparison
    joint = int(np.nanargmax(compared.urdf.rms - compared.identified.rms))
    run = compared.held_out[0]
    t = run.time - run.time[0]
    for predicted, label in (
        (compared.urdf.predicted, 'first URDF'),
        (compared.identified.predicted, 'identified model'),
    ):
        axis.plot(t, predicted[0][:, joint], label=label)
    axis.plot(t, run.effort[:, joint], 'k:', label='measured')
    name = fit.prior.joint_names[joint]
    axis.set(ylabel=f'{name}, N m or N', title='effort of the same motion, which was not fitted')
