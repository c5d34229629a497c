# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What was understood of a recording, and the settings that its data suggest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from ..arrays import Array
from ..command_line import text_table
from ..errors import RneaError
from ..recordings import Recorded, Recording, RecordingError, clean, match_joints, take_samples
from ..robot import RobotModel
from .checkup import Checkup, check, check_units
from .faults import Cause
from .fit import Hypothesis, Prediction
from .selection import EVIDENCE, Solution

QUARTER = 0.5 * np.pi
OF_ANOTHER = frozenset({Cause.ANOTHER_ROBOT, Cause.UNEXPLAINED, Cause.GRAVITY_DIRECTION})
"""Causes that a wrong order or wrong zeros of the joints look like."""


def understood(
    model: RobotModel, recorded: Recorded, joints: Mapping[str, str] | None = None
) -> str:
    """
    Return, as text, what was read as what, and what looks wrong.

    :param joints: recorded joint names by the model's, if automatic matching fails
    :raises RneaError: no joint matches, or no sample is usable
    """
    whole = recorded.recording
    names = match_joints(model.joint_names, whole.names, joints)
    recording = clean(whole.of_joints([*names.values()]))
    time = recording.time
    rows = [('joint', 'position', 'velocity', 'effort', 'range', 'limits of the URDF', 'efforts')]
    known = {} if model.description is None else model.description.joints
    for k, (name, other) in enumerate(names.items()):
        at = whole.names.index(other)
        columns = [
            (recorded.columns[each][at] if recorded.columns.get(each) else None) or '-'
            for each in ('position', 'velocity', 'effort')
        ] if recorded.columns else [other, *2 * ['']]
        sliding = name in known and known[name].type == 'prismatic'
        row = model.position_indices(name).start
        limits = (model.position_lower[row], model.position_upper[row])
        rows.append((
            name, *columns, f'{_range(*_ends(recording.position[:, k]))} {"m" if sliding else "rad"}',
            _range(*limits), f'{_range(*_ends(recording.effort[:, k]))} {"N" if sliding else "N m"}',
        ))
    absent = [name for name in model.joint_names if name not in names]
    unused = [name for name in whole.names if name not in names.values()]
    lines = [
        f'{recorded.name}: {len(time)} samples, {time[-1] - time[0]:.1f} s, '
        f'{1.0 / np.median(np.diff(time)):.1f} Hz (time: {recorded.time})',
        text_table(rows, left=(0, 1, 2, 3)),
        *recording.notes,
        *[f'not recorded: {", ".join(absent)}'] * bool(absent),
        *[f'recorded, but not of the URDF: {", ".join(unused)}'] * bool(unused),
        *(f'- {each}' for each in suggestions(model, names, recording)),
    ]
    return '\n'.join(lines)


def _ends(values: Array) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _range(lower: float, upper: float) -> str:
    return f'{lower:.2f} to {upper:.2f}' if np.isfinite([lower, upper]).all() else 'none'


def suggestions(
    model: RobotModel, names: Mapping[str, str], recording: Recording
) -> Iterator[str]:
    return iter(())
