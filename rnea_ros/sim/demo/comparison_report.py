# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Results of the comparison of control laws: a table and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...drawing import add_grid, new_figure, save, show_windows
from ...preflight import lay_out
from .phase import Phase

MIN_ERROR = 0.1
"""Lower end of the drawn errors, mrad."""


def table(phases: Sequence[Phase]) -> str:
    """Return the phases as a table of text."""
    rows = [('phase', 'RMS error', 'peak error', 'rate', 'late ticks', 'CPU')]
    for phase in phases:
        rows.append((
            phase.title,
            f'{1e3 * phase.rms():.2f} mrad',
            f'{1e3 * phase.peak():.2f} mrad',
            f'{phase.rate:.1f} Hz',
            str(phase.late),
            f'{100.0 * phase.cpu:.1f} %',
        ))
    return lay_out(rows, left=(0,))


def draw(path: Path, phases: Sequence[Phase], title: str, show: bool) -> None:
    """
    Draw positions, errors and the terms of the effort.

    :param path: PNG file to write
    :param phases: phases of the demo; the efforts are those of the last one
    :param title: title of the picture
    :param show: whether to open a window
    :raises PictureError: matplotlib is missing
    :raises FileError: the file cannot be written
    """
    motion = phases[0].motion
    joint = int(np.argmax([np.abs(phases[0].errors()[1]).max(axis=0)]))
    name = phases[0].joints[joint]
    figure = new_figure(10.0, 11.0, window=show)
    tracking, errors, efforts = axes = figure.subplots(3, 1, sharex=True)

    t = np.linspace(0.0, motion.duration, 1000)
    tracking.plot(t, motion.state(t)[0][:, joint], 'k:', label='reference', zorder=10)
    for phase in phases:
        times, error = phase.errors()
        tracking.plot(times, motion.state(times)[0][:, joint] + error[:, joint], label=phase.title)
        norm = 1e3 * np.abs(error).max(axis=1)
        errors.semilogy(times, np.maximum(norm, MIN_ERROR), label=phase.title)
    tracking.set(ylabel=f'{name}, rad', title=title)
    errors.set(ylabel='greatest error of any joint, mrad')

    last = phases[-1]
    for term, rows in last.received.terms.items():
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
