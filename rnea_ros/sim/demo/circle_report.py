# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Results of the circle of identification: a table and a picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...drawing import add_grid, new_figure, save, show_windows
from ...identification import Identification
from ...preflight import lay_out
from .phase import Phase

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MIN_ERROR = 0.05
"""Lower end of the drawn errors, mrad."""


@dataclass(frozen=True)
class Performance:
    """
    Performance of the control with one model.

    :param time: times since the start of gravity compensation, shape (N,), s
    :param deviation: deviations of the joints from then on, shape (N, m), rad or m
    :param phase: the motion under computed torque
    """

    time: Array
    deviation: Array
    phase: Phase

    @property
    def drift(self) -> float:
        """Greatest deviation under gravity compensation, rad or m."""
        return float(np.abs(self.deviation).max())


def table(before: Performance, after: Performance) -> str:
    """Return drift and tracking errors before and after as a table of text."""
    rows = [('', 'before', 'after', 'ratio')]
    for label, old, new in (
        (f'drift in {before.time[-1]:.1f} s, gravity only', before.drift, after.drift),
        ('RMS error of the motion', before.phase.rms(), after.phase.rms()),
        ('peak error of the motion', before.phase.peak(), after.phase.peak()),
    ):
        ratio = f'1/{old / new:.0f}'
        rows.append((label, f'{1e3 * old:.2f} mrad', f'{1e3 * new:.2f} mrad', ratio))
    return lay_out(rows, left=(0,))


def draw(
    path: Path, before: Performance, after: Performance, fit: Identification, show: bool
) -> None:
    """
    Draw drift and tracking errors before and after, and efforts of one joint.

    :param path: PNG file to write
    :param before: performance with the first model
    :param after: performance with the identified model
    :param fit: identified model
    :param show: whether to open a window
    :raises PictureError: matplotlib is missing
    :raises FileError: the file cannot be written
    """
    figure = new_figure(10.0, 10.0, window=show)
    drift, errors, efforts = figure.subplots(3, 1)
    for performance, model in ((before, 'first model'), (after, 'identified model')):
        phase = performance.phase
        for axis, t, deviation in (
            (drift, performance.time, performance.deviation),
            (errors, *phase.errors()),
        ):
            greatest = 1e3 * np.abs(deviation).max(axis=1)
            axis.semilogy(t, np.maximum(greatest, MIN_ERROR), label=model, lw=1.0)
    drift.set(ylabel='drift, mrad', title='gravity compensation: greatest drift of any joint')
    errors.set(ylabel='error, mrad', title='computed torque: greatest error of any joint')
    for axis in (drift, errors):
        axis.yaxis.set_major_formatter('{x:g}')
    _draw_efforts(efforts, fit)
    for axis in (drift, errors, efforts):
        axis.set_xlabel('time, s')
        axis.margins(x=0.01)
        add_grid(axis)
        axis.legend(loc='upper left', bbox_to_anchor=(1.0, 1.0), fontsize='small')
    figure.suptitle(f'{fit.prior.name}, before and after its identification')
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
    axis.set(ylabel=f'{name}, N m', title='effort of the same motion, which was not fitted')
