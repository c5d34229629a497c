# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Results of the demo: a table and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...arrays import Array
from ...drawing import add_grid, new_figure, save, show_windows
from .client import Recording
from .motion import Motion

LEAST_ERROR = 0.1
"""Lower end of the drawn errors, mrad."""


@dataclass(frozen=True)
class Phase:
    """
    The motion under one control law.

    :param title: name of the control law in table and picture
    :param recording: recorded joint states and terms
    :param start: start of the motion, wall time, s
    :param rate: achieved control rate, Hz
    :param late: number of ticks more than half a period late
    :param cpu: CPU share of the node's process, 1 for a whole core
    """

    title: str
    recording: Recording
    start: float
    rate: float
    late: int
    cpu: float

    def errors(self, motion: Motion) -> tuple[Array, Array]:
        """Return times since the start, shape (k,), s, and errors, shape (k, m), rad or m."""
        t = np.array(self.recording.stamps) - self.start
        during = (t >= 0.0) & (t <= motion.duration)
        reference, _, _ = motion.state(t[during])
        return t[during], np.array(self.recording.positions)[during] - reference

    def rms(self, motion: Motion) -> float:
        """Return the root mean square of the error over joints and time, rad or m."""
        return float(np.sqrt(np.mean(self.errors(motion)[1] ** 2)))

    def peak(self, motion: Motion) -> float:
        """Return the greatest error of any joint, rad or m."""
        return float(np.abs(self.errors(motion)[1]).max())


def table(phases: Sequence[Phase], motion: Motion) -> str:
    """Return the phases as a table of text."""
    rows = [('phase', 'RMS error', 'peak error', 'rate', 'late ticks', 'CPU')]
    for phase in phases:
        rows.append((
            phase.title,
            f'{1e3 * phase.rms(motion):.2f} mrad',
            f'{1e3 * phase.peak(motion):.2f} mrad',
            f'{phase.rate:.1f} Hz',
            str(phase.late),
            f'{100.0 * phase.cpu:.1f} %',
        ))
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = [
        '  '.join(
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    lines.insert(1, '  '.join('-' * width for width in widths))
    return '\n'.join(lines)


def picture(
    path: Path, phases: Sequence[Phase], motion: Motion, title: str, show: bool
) -> None:
    """
    Draw positions, errors and the terms of the effort.

    :param path: PNG file to write
    :param phases: phases of the demo; the efforts are those of the last one
    :param motion: reference motion
    :param title: title of the picture
    :param show: whether to open a window
    :raises PictureError: matplotlib is missing
    :raises FileError: the file cannot be written
    """
    joint = int(np.argmax([np.abs(phases[0].errors(motion)[1]).max(axis=0)]))
    name = motion.joints[joint]
    figure = new_figure(10.0, 11.0, window=show)
    tracking, errors, efforts = axes = figure.subplots(3, 1, sharex=True)

    t = np.linspace(0.0, motion.duration, 1000)
    tracking.plot(t, motion.state(t)[0][:, joint], 'k:', label='reference', zorder=10)
    for phase in phases:
        times, error = phase.errors(motion)
        tracking.plot(times, motion.state(times)[0][:, joint] + error[:, joint], label=phase.title)
        norm = 1e3 * np.abs(error).max(axis=1)
        errors.semilogy(times, np.maximum(norm, LEAST_ERROR), label=phase.title)
    tracking.set(ylabel=f'{name}, rad', title=title)
    errors.set(ylabel='greatest error of any joint, mrad')

    last = phases[-1]
    for term, rows in last.recording.terms.items():
        times = np.array([row[0] for row in rows]) - last.start
        during = (times >= 0.0) & (times <= motion.duration)
        values = np.array([row[1] for row in rows])[during, joint]
        if values.any():  # a zero term would hide the others
            efforts.plot(times[during], values, label=term)
    efforts.set(ylabel=f'effort of {name}, N m', title=f'terms of the effort, {last.title}')
    efforts.set(xlabel='time, s')
    for axis in axes:
        add_grid(axis)
        if axis.get_lines():
            axis.legend(loc='upper left', bbox_to_anchor=(1.0, 1.0), fontsize='small')
    save(figure, path)
    if show:
        show_windows()
