# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A picture of the efforts of a trajectory and their limits."""

from __future__ import annotations

import math
from pathlib import Path

from ..drawing import legend_above, new_figure, rows_over_time, save
from .check import Figures


def picture(path: Path, name: str, figures: Figures) -> None:
    """
    Draw the effort of each joint over time, its part of gravity, and its limits.

    :param path: PNG file to write
    :param name: name of the robot
    :param figures: numbers of the motion
    :raises PictureError: matplotlib is missing, or the file cannot be written
    """
    efforts, limits = figures.efforts, figures.limits
    figure = new_figure(9.0, 1.0 + 1.3 * len(limits.joint_names))
    rows = rows_over_time(figure, limits.joint_names)
    figure.suptitle(f'{name}: efforts of the trajectory; rows differ in scale')
    for index, axis in enumerate(rows):
        axis.plot(efforts.time, efforts.gravity[:, index], color='0.65', label='gravity')
        axis.plot(efforts.time, efforts.total[:, index], color='C0', label='required')
        limit = float(limits.effort[index])
        if math.isfinite(limit):
            for bound, label in ((limit, 'limit'), (-limit, None)):
                axis.axhline(bound, color='C3', linewidth=0.9, linestyle='--', label=label)
    legend_above(rows[0])
    save(figure, path)
