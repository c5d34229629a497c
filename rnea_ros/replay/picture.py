# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The replay as a picture: commanded and measured efforts of every joint over time."""

from __future__ import annotations

from pathlib import Path

from ..preflight.picture import new_figure, save
from .review import Review


def picture(path: Path, review: Review) -> None:
    """
    Draw efforts over time, a row a commanded joint.

    :param path: PNG file to write
    :param review: what is shown
    :raises PictureError: matplotlib is missing, or the file cannot be written
    """
    playback, full = review.playback, review.inverse_dynamics
    n = len(playback.joints)
    figure = new_figure(11.0, 1.0 + 1.5 * n)
    axes = figure.subplots(n, 1, squeeze=False, sharex=True)[:, 0]
    own = review.settings.settings
    figure.suptitle(f'{review.robot.model.name}: efforts, mode {own.mode.value}')
    for number, (axis, name) in enumerate(zip(axes, playback.joints, strict=True)):
        axis.plot(playback.time, playback.effort[:, number], color='0.65', label='measured')
        axis.plot(playback.time, playback.command[:, number], color='C0', label='commanded')
        if name in full.joints:
            along = full.computed[:, full.joints.index(name)]
            axis.plot(full.time, along, color='C3', linewidth=0.9, label='inverse dynamics')
        axis.set_ylabel(f'{name}\nN m or N', fontsize='small')
        axis.grid(alpha=0.3)
        axis.tick_params(labelsize='small')
    axes[0].legend(
        loc='lower left', bbox_to_anchor=(0.0, 1.0), fontsize='small', ncols=3, frameon=False
    )
    axes[-1].set_xlabel('time, s')
    save(figure, path)
