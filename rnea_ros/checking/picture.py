# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The efforts of a trajectory as a picture, between their limits."""

from __future__ import annotations

import math
from pathlib import Path

from ..preflight.picture import PictureError
from .check import Figures


def picture(path: Path, name: str, figures: Figures) -> None:
    """
    Draw the effort of every joint over time, what of it is gravity, and the limits.

    :param path: PNG file to write
    :param name: the robot's
    :param figures: what is shown
    :raises PictureError: matplotlib is missing, or the file cannot be written
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PictureError('pictures need matplotlib: pip install matplotlib') from error
    efforts, limits = figures.efforts, figures.limits
    n = len(limits.joint_names)
    figure = Figure(figsize=(9.0, 1.0 + 1.3 * n), layout='constrained')
    FigureCanvasAgg(figure)
    axes = figure.subplots(n, 1, squeeze=False, sharex=True)[:, 0]
    figure.suptitle(f'{name}: efforts of the trajectory; rows differ in scale')
    for index, (axis, joint) in enumerate(zip(axes, limits.joint_names, strict=True)):
        axis.plot(efforts.time, efforts.gravity[:, index], color='0.65', label='gravity')
        axis.plot(efforts.time, efforts.total[:, index], color='C0', label='needed')
        limit = float(limits.effort[index])
        if math.isfinite(limit):
            for bound, label in ((limit, 'limit'), (-limit, None)):
                axis.axhline(bound, color='C3', linewidth=0.9, linestyle='--', label=label)
        axis.set_ylabel(f'{joint}\nN m or N', fontsize='small')
        axis.grid(alpha=0.3)
        axis.tick_params(labelsize='small')
    axes[0].legend(
        loc='lower left', bbox_to_anchor=(0.0, 1.0), fontsize='small', ncols=3, frameon=False
    )
    axes[-1].set_xlabel('time, s')
    try:
        figure.savefig(path, dpi=90, format='png')
    except OSError as error:
        raise PictureError(f'{path} cannot be written: {error.strerror}') from error
