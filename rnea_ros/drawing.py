# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Figures, axes, files and windows for all pictures."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import RneaError
from .files import write_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class PictureError(RneaError):
    """The picture cannot be drawn."""


def require_matplotlib() -> None:
    """Raise a PictureError if matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise PictureError('pictures need matplotlib: pip install matplotlib') from error


def new_figure(width: float, height: float, *, window: bool = False) -> Figure:
    """Return an empty figure, width and height in inches; without a window it needs no display."""
    require_matplotlib()
    if window:
        from matplotlib import pyplot

        return pyplot.figure(figsize=(width, height), layout='constrained')
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout='constrained')
    FigureCanvasAgg(figure)
    return figure


def rows_over_time(figure: Figure, joints: Sequence[str]) -> list[Axes]:
    """Return one row of axes per joint, for efforts over a common time."""
    rows = figure.subplots(len(joints), 1, squeeze=False, sharex=True)[:, 0]
    for axis, joint in zip(rows, joints, strict=True):
        axis.set_ylabel(f'{joint}\nN m or N', fontsize='small')
        add_grid(axis)
    rows[-1].set_xlabel('time, s')
    return list(rows)


def two_columns_over_time(figure: Figure, count: int) -> list[tuple[Axes, Axes]]:
    """Return rows of two axes over a common time."""
    rows = figure.subplots(count, 2, squeeze=False, sharex=True)
    for axis in rows.ravel():
        add_grid(axis)
    for axis in rows[-1]:
        axis.set_xlabel('time, s')
    return [(left, right) for left, right in rows]


def add_grid(axis: Axes) -> None:
    """Add a grid and small tick labels."""
    axis.grid(alpha=0.3)
    axis.tick_params(labelsize='small')


def legend_above(axis: Axes) -> None:
    """Put the legend above the axes, at the left."""
    # ncols needs matplotlib 3.6
    axis.legend(loc='lower left', bbox_to_anchor=(0, 1), fontsize='small', ncol=4, frameon=False)


def save(figure: Figure, path: Path) -> None:
    """Write a figure to a PNG file; raise a FileError if it cannot be written."""
    content = BytesIO()
    figure.savefig(content, dpi=90, format='png')
    write_file(path, content.getvalue())


def show_windows() -> None:
    """Show the windows of all figures that have one, until they are closed."""
    from matplotlib import pyplot

    pyplot.show()
