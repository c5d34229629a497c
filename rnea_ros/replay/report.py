# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The replay as text: conclusion, residuals, limits, states, rejections, flaws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
import csv
from io import StringIO
from itertools import groupby
import math
from pathlib import Path

from ..command_line import text_table
from ..drawing import legend_above, new_figure, rows_over_time, save
from ..feedforward import Reason, State
from ..feedforward.loaded_model import HardwareCompensation
from ..files import write_file
from .playback import Playback
from .review import Residual, Review

HEADER = ('gravity', 'inverse dynamics', 'at limit', 'at rate limit')  # titles after the command


def report(review: Review) -> str:
    """Return the whole report."""
    robot, playback, settings = review.robot, review.playback, review.settings
    parts = [
        _conclusion(review),
        '',
        f'data: {len(robot.samples)} joint states in {playback.time[-1]:.1f} s; '
        f'model: {robot.model.name}, {len(robot.model.joint_names)} joints',
        f'control: mode {settings.mode.name}, {settings.rate:g} Hz, {len(playback.time)} ticks, '
        f'joint_states_timeout {settings.joint_states_timeout:.3g} s',
        'table: RMS of the measured effort, and of its difference from each computed effort, '
        'N m or N',
        '',
        _table(review),
        '',
        f'states: {_states(review)}',
        *_counts('joint states rejected', playback.rejections),
        *_counts('flagged', playback.flags),
        *(f'- {remark}' for remark in _remarks(review)),
        *(f'- {flaw}' for flaw in review.flaws),
    ]
    return '\n'.join(parts)


def _table(review: Review) -> str:
    playback, ticks = review.playback, int(review.playback.controlling.sum())
    commanded = 'commanded + hardware' if playback.hardware.any() else 'commanded'
    rows: list[tuple[str, ...]] = [('joint', 'measured', commanded, *HEADER)]
    for name, size in zip(review.gravity.joints, review.gravity.size, strict=True):
        limits = ['-', '-']
        if ticks and name in playback.joints:
            k = playback.joints.index(name)
            limits = [
                f'{100.0 * which[playback.controlling, k].sum() / ticks:.1f} %'
                for which in (playback.saturated, playback.rate_limited)
            ]
        efforts = (review.commanded, review.gravity, review.inverse_dynamics)
        differences = (_difference(residual, name) for residual in efforts)
        measured = f'{size:.2f}' if math.isfinite(size) else '-'
        rows.append((name, measured, *differences, *limits))
    return text_table(rows, left=(0,))


def _difference(residual: Residual, name: str) -> str:
    """Return a residual as a number and a percentage, '-' without a comparison."""
    k = residual.joints.index(name) if name in residual.joints else None
    if k is None or not math.isfinite(rms := float(residual.rms[k])):
        return '-'
    percent = float(residual.percent[k])
    return f'{rms:.2f} ({percent:.1f} %)' if math.isfinite(percent) else f'{rms:.2f}'


def _states(review: Review) -> str:
    """Return the states in order; the flags are listed apart, so DEGRADED counts as ACTIVE."""
    states = [
        (State.ACTIVE if change.state is State.DEGRADED else change.state, change.time)
        for change in review.playback.states
    ]
    runs = (next(run) for _, run in groupby(states, lambda entry: entry[0]))
    return ', '.join(f'{state.value} at {time:.2f} s' for state, time in runs)


def _counts(what: str, counts: Counter[Reason]) -> Iterator[str]:
    if counts:
        parts = (f'{reason.value} {count}' for reason, count in counts.most_common())
        yield f'{what}: {", ".join(parts)}'


def _remarks(review: Review) -> Iterator[str]:
    """Yield the limits of the comparison."""
    robot, settings = review.robot, review.settings
    if robot.absent:
        yield f'not recorded, assumed at rest: {", ".join(robot.absent)}'
    if settings.mode.follows_motions:
        yield f'a recording has no reference motion: mode {settings.mode.name} acts as gravity'
    if review.playback.hardware.any():
        yield (
            'the hardware adds gravity or payload: its share and the command together are '
            'compared with the measured effort'
        )
    if HardwareCompensation.FRICTION in settings.hardware_compensates:
        yield (
            'friction is not comparable: the hardware adds it, so measured efforts may contain it '
            'while commands do not'
        )
    if review.playback.clock_steps:
        yield f'the clock of the stamps jumped {review.playback.clock_steps} times'


def _conclusion(review: Review) -> str:
    states = review.playback.states
    if review.completed:
        return 'the control ran through the whole recording'
    if (reason := states[-1].reason) is None:
        return 'nothing was commanded: no valid state of all joints'
    ended = next(change for change in states if change.reason is not None)
    return f'the control ended at {ended.time:.2f} s: {reason.value}'


def picture(path: Path, review: Review) -> None:
    """Draw efforts over time, one row per commanded joint."""
    playback, full = review.playback, review.inverse_dynamics
    figure = new_figure(11.0, 1.0 + 1.5 * len(playback.joints))
    rows = rows_over_time(figure, playback.joints)
    settings = review.settings
    figure.suptitle(f'{review.robot.model.name}: efforts, mode {settings.mode.name}')
    for number, (axis, name) in enumerate(zip(rows, playback.joints, strict=True)):
        axis.plot(playback.time, playback.effort[:, number], color='0.65', label='measured')
        axis.plot(playback.time, playback.command[:, number], color='C0', label='commanded')
        if playback.hardware.any():
            with_hardware = playback.command[:, number] + playback.hardware[:, number]
            axis.plot(playback.time, with_hardware, color='C2', label='commanded + hardware')
        if name in full.joints:
            computed = full.computed[:, full.joints.index(name)]
            axis.plot(full.time, computed, color='C3', linewidth=0.9, label='inverse dynamics')
    legend_above(rows[0])
    save(figure, path)


def write_table(path: Path, playback: Playback) -> None:
    """
    Write a row for each tick as CSV: time, state, and three efforts of every joint.

    The efforts are the command, the share of the hardware, and the latest measured effort. Cells
    without a command or a measurement are empty.
    """
    columns = ['time', 'state']
    for name in playback.joints:
        columns += [f'{name}/commanded', f'{name}/hardware', f'{name}/measured']
    table = StringIO()
    writer = csv.writer(table)
    writer.writerow(columns)
    for tick, state in enumerate(playback.state_of_ticks()):
        row = [f'{playback.time[tick]:.6f}', state.value]
        efforts = (playback.command, playback.hardware, playback.effort)
        joints = zip(*(effort[tick] for effort in efforts), strict=True)
        row += ['' if math.isnan(value) else f'{value:.6g}' for joint in joints for value in joint]
        writer.writerow(row)
    write_file(path, table.getvalue())
