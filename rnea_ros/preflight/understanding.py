# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What was understood of a recording, and the settings that its data suggest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ..command_line import text_table
from ..errors import RneaError
from ..recordings import Recorded, Recording, RecordingError, clean, match_joints
from ..robot import RobotModel
from .checkup import Checkup, check, check_units
from .faults import Cause, ModelVerdict
from .mounting import find_mounting, setting

DEGREE = np.pi / 180.0


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
    rows: list[Sequence[str]] = [
        ('joint', 'position', 'velocity', 'effort', 'range', 'limits', 'efforts', '')
    ]
    known = {} if model.description is None else model.description.joints
    for k, (name, other) in enumerate(names.items()):
        at, row = whole.names.index(other), model.position_indices(name).start
        columns = [each[at] or '' if each else '' for each in recorded.columns.values()]
        limits = (ends[row] for ends in (model.position_lower, model.position_upper))
        slides = name in known and known[name].type == 'prismatic'
        unit = ('m, ' if slides else 'rad, ') + (
            'current' if recorded.has_currents else 'N' if slides else 'N m'
        )
        rows.append((
            name, *(columns or (other, '', '')), _range(recording.position[:, k]),
            _range([*limits]), _range(recording.effort[:, k]), unit,
        ))
    absent = [name for name in model.joint_names if name not in names]
    unused = [name for name in whole.names if name not in names.values()]
    lines = [
        f'{recorded.name}: {len(time)} samples, {time[-1] - time[0]:.1f} s, '
        f'{1.0 / np.median(np.diff(time)):.1f} Hz (time: {recorded.time})',
        text_table(rows, left=(0, 1, 2, 3, 7)),
        *recording.notes,
        *[f'not recorded: {", ".join(absent)}'] * bool(absent),
        *[f'recorded, but not of the URDF: {", ".join(unused)}'] * bool(unused),
        *['currents: give effort_scale, N m/A'] * recorded.has_currents,
    ]
    given = np.resize(recorded.settings.get('degrees', False), len(whole.names))
    degrees = {name: bool(each) for name, each in zip(whole.names, given, strict=True)}
    found = [*suggestions(model, names, recording, degrees)] or ['nothing looks wrong']
    lines += [f'- {each}' for each in found]
    return '\n'.join(lines)


def _range(values: ArrayLike) -> str:
    ends = np.min(values), np.max(values)
    return '{:.2f} to {:.2f}'.format(*ends) if np.isfinite(ends).all() else 'none'


def suggestions(
    model: RobotModel, names: Mapping[str, str], recording: Recording,
    degrees: Mapping[str, bool],
) -> Iterator[str]:
    """
    Yield the settings that a clean recording suggests, with their evidence.

    :param names: recorded joint names by the model's; the recording has no others
    :param degrees: whether a table has degrees, by all recorded names in its order
    """
    known = {} if model.description is None else model.description.joints
    columns = [*degrees]
    turns = [name not in known or known[name].type != 'prismatic' for name in names]
    in_degrees = np.array([degrees[other] for other in names.values()])
    try:
        check_units(model, names, recording)
    except RecordingError as error:
        yield str(error)
        in_degrees = np.array(turns)
        unit = np.where(turns, DEGREE, 1.0)
        recording = replace(
            recording, position=recording.position * unit, velocity=recording.velocity * unit
        )
    try:
        checkup = check(model, recording, names)
        if checkup.verdict is ModelVerdict.REJECTED:
            mounting = find_mounting(model, recording, checkup)
            if mounting is not None:
                yield from mounting.texts(
                    recording.names, columns, np.where(in_degrees & turns, DEGREE, 1.0)
                )
                names = mounting.matched(recording.names)
                recording = replace(recording, position=mounting.moved(recording.position))
                checkup = check(model, recording, names)
    except RneaError as error:
        yield f'signs, units, order and zeros are not checked: {error}'
        return
    factors = {Cause.WRONG_SCALE, Cause.INVERTED_EFFORT}
    for finding in checkup.findings:
        if finding.must_be_fixed and finding.cause not in factors:
            yield f'{finding.cause.text}: {finding.text}'
    inverted = [
        names[checkup.assessment.joints[joint].name] for finding in checkup.findings
        if finding.cause is Cause.INVERTED_AXIS for joint in finding.joints
    ]
    if inverted:
        yield f'of a table: {setting("sign", dict.fromkeys(inverted, -1.0), 1.0, columns)}'
    if not factors.isdisjoint(finding.cause for finding in checkup.findings):
        yield _effort_scale(checkup, names, columns)


def _effort_scale(checkup: Checkup, names: Mapping[str, str], columns: Sequence[str]) -> str:
    """Return the factors of efforts that are in another unit, or inverted."""
    figures = [checkup.assessment.joints[joint] for joint in checkup.assessment.loaded]
    scales = {
        joint.name: joint.scale for joint in figures
        if joint.scale.half_width < 0.5 * abs(joint.scale.value)
    }
    usual = float(np.median([scale.value for scale in scales.values()] or [1.0]))
    values = {
        names[name]: 1.0 / (scales[name].value if name in scales else usual)
        for name in checkup.joints
    }
    others = [name for name in checkup.joints if name not in scales]
    return (
        'efforts are in another unit or inverted, or the URDF is of another arm; '
        'times the model they are: '
        + ', '.join(f'{name} {scale}' for name, scale in scales.items())
        + f'; {setting("effort_scale", values, 1.0, columns)} fits the '
        "URDF's masses"
        + f' ({", ".join(others)}: little load, the median)' * bool(others)
        + '; better take N m/A from the data sheet (of mA: times 0.001)'
    )
