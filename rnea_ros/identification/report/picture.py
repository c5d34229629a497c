# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Picture: measured, URDF and identified efforts over the held-out runs, and their residuals."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...arrays import Array
from ...drawing import legend_above, new_figure, save, two_columns_over_time
from ..comparison import Comparison, ModelErrors
from ..result import Identification
from ..run import Run

PAUSE = 1.0  # drawn time between two runs, s


def picture(path: Path, result: Identification) -> None:
    """Draw efforts and residuals over time as PNG; one row for each joint with an effort."""
    comparison, names = result.comparison, result.prior.joint_names
    rows = np.flatnonzero(np.isfinite(comparison.effort_rms))
    figure = new_figure(11.1, 1.2 + 1.55 * len(rows))
    axes = two_columns_over_time(figure, len(rows))
    judged = ', '.join(dict.fromkeys(run.name for run in comparison.held_out))
    figure.suptitle(f'{result.prior.name}: efforts of {judged}, not fitted; rows differ in scale')
    time, measured, urdf, identified = _over_time(comparison)
    for (efforts, residuals), joint in zip(axes, rows, strict=True):
        efforts.plot(time, measured[:, joint], color='0.6', linewidth=2.2, label='measured')
        efforts.plot(time, urdf[:, joint], color='C0', linewidth=1.0, label='URDF')
        efforts.plot(time, identified[:, joint], color='C3', linewidth=1.0, label='identified')
        efforts.set_ylabel(f'{names[joint]}\nN m or N', fontsize='small')
        residuals.axhline(0.0, color='0.6', linewidth=1.0)
        for model, colour in ((urdf, 'C0'), (identified, 'C3')):
            residuals.plot(time, measured[:, joint] - model[:, joint], color=colour, linewidth=0.9)
        residuals.set_title(_figures(comparison, int(joint)), loc='right', fontsize='small')
    legend_above(axes[0][0])
    axes[0][1].set_title('measured minus model', loc='left', fontsize='small')
    save(figure, path)


def _figures(comparison: Comparison, joint: int) -> str:
    """Return the RMS errors of a joint."""

    def error(errors: ModelErrors) -> str:
        return f'{errors.rms[joint]:.2f} ({comparison.percent(errors)[joint]:.0f} %)'

    return f'RMS: URDF {error(comparison.urdf)}, identified {error(comparison.identified)}'


def _over_time(comparison: Comparison) -> tuple[Array, Array, Array, Array]:
    """Return time, measured, URDF's and identified efforts, with NaN where data are missing."""
    parts = []
    start = 0.0
    for number, run in enumerate(comparison.held_out):
        models = (comparison.urdf, comparison.identified)
        columns = [run.effort, *(errors.predicted[number] for errors in models)]
        time = run.time + (start - run.time[0] if number else 0.0)
        parts.append(_with_gaps(run, time, columns))
        start = float(time[-1]) + PAUSE
    time, measured, urdf, identified = (np.concatenate(each) for each in zip(*parts, strict=True))
    return time, measured, urdf, identified


def _with_gaps(run: Run, time: Array, columns: list[Array]) -> tuple[Array, ...]:
    """Return time and columns with a row of NaN behind each segment, where lines end."""
    ends = np.append(np.flatnonzero(np.diff(run.segment)) + 1, len(time))
    return tuple([np.insert(each, ends, np.nan, axis=0) for each in (time, *columns)])
