# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Files of a replay: a picture of the efforts of every joint, and a table."""

from __future__ import annotations

import csv
from io import StringIO
import math
from pathlib import Path

from ..drawing import legend_above, new_figure, rows_over_time, save
from ..files import write_file
from .playback import Playback
from .review import Review


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
