# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Picture of the commanded and measured efforts of every joint over time."""

from __future__ import annotations

from pathlib import Path

from ..drawing import legend_above, new_figure, rows_over_time, save
from .review import Review


def picture(path: Path, review: Review) -> None:
    """
    Draw efforts over time, one row per commanded joint.

    :param path: PNG file to write
    :param review: efforts to draw
    :raises PictureError: matplotlib is missing
    :raises FileError: the file cannot be written
    """
    playback, full = review.playback, review.inverse_dynamics
    figure = new_figure(11.0, 1.0 + 1.5 * len(playback.joints))
    rows = rows_over_time(figure, playback.joints)
    settings = review.settings.parameters
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
