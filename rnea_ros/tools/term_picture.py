# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Picture of the terms of a node's commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..drawing import legend_above, new_figure, rows_over_time, save
from .term_recording import COMMANDED, MEASURED, TERMS, Line, TermRecording

STYLES: dict[str, dict[str, Any]] = {
    MEASURED: {'color': '0.7', 'linewidth': 1.5},
    COMMANDED: {'color': 'black', 'linewidth': 1.0, 'zorder': 3},
    **{term: {'color': f'C{number}'} for number, term in enumerate(TERMS)},
}
OTHER = {'color': 'C9', 'linewidth': 0.9}
"""Style of efforts that are no term of the control law, such as ``limited``."""

COLUMNS = 5

NO_LINE = Line(np.zeros(0), np.zeros(0))
"""For a joint without this effort."""


def picture(path: Path, recording: TermRecording) -> list[str]:
    """
    Draw every nonzero effort over time, one row per joint.

    :param path: PNG file to write
    :param recording: efforts to draw
    :return: names of the efforts left out, as they are always zero or NaN
    :raises PictureError: matplotlib is missing
    :raises FileError: the file cannot be written
    """
    shown = [name for name in recording.lines if recording.is_nonzero(name)]
    figure = new_figure(11.0, 1.3 + 1.6 * len(recording.joints))
    rows = rows_over_time(figure, recording.joints)
    figure.suptitle(f'{recording.node}: terms of its commands; rows differ in scale')
    for axis, joint in zip(rows, recording.joints, strict=True):
        for name in shown:
            style = STYLES.get(name, OTHER)
            line = recording.lines[name].get(joint, NO_LINE)
            axis.plot(line.time, line.effort, label=name, **style)
    if shown:
        legend_above(rows[0], COLUMNS)
    save(figure, path)
    return [name for name in recording.lines if name not in shown]
