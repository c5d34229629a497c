# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Write commands and measured efforts over time as comma-separated values."""

from __future__ import annotations

import csv
from io import StringIO
import math
from pathlib import Path

from ..files import write_file
from .playback import Playback


def write_table(path: Path, playback: Playback) -> None:
    """
    Write a row for each tick: time, state, and three efforts of every joint.

    The efforts are the command, the share of the hardware, and the latest measured effort. Cells
    without a command or a measurement are empty.

    :param path: CSV file to write
    :param playback: commands and measured efforts
    :raises FileError: it cannot be written
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
        of_joints = zip(*(effort[tick] for effort in efforts), strict=True)
        row += [_cell(value) for joint in of_joints for value in joint]
        writer.writerow(row)
    write_file(path, table.getvalue())


def _cell(value: float) -> str:
    return '' if math.isnan(value) else f'{value:.6g}'
