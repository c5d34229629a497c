# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The terms of a node's commands as a picture."""

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
"""What is no term of the control law: how limits and blending changed their sum."""

COLUMNS = 5

NO_LINE = Line(np.zeros(0), np.zeros(0))
"""Of a joint that others were measured without."""


def picture(path: Path, recording: TermRecording) -> list[str]:
    """
    Draw every effort that is in use over time, a row a joint.

    :param path: PNG file to write
    :param recording: what is shown
    :return: what was left out: zero, or no number, throughout
    :raises PictureError: matplotlib is missing, or the file cannot be written
    """
    shown = [what for what in recording.lines if recording.in_use(what)]
    figure = new_figure(11.0, 1.3 + 1.6 * len(recording.joints))
    rows = rows_over_time(figure, recording.joints)
    figure.suptitle(f'{recording.node}: parts of its commands; rows differ in scale')
    for axis, joint in zip(rows, recording.joints, strict=True):
        for what in shown:
            style = STYLES.get(what, OTHER)
            line = recording.lines[what].get(joint, NO_LINE)
            axis.plot(line.time, line.effort, label=what, **style)
    if shown:
        legend_above(rows[0], COLUMNS)
    save(figure, path)
    return [what for what in recording.lines if what not in shown]
