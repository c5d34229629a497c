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
from ..recordings import Recorded, Recording, RecordingError, clean, match_joints, turning
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
    efforts = ' '.join(filter(None, recorded.columns.get('effort', ()))).lower()
    currents = 'current' in efforts and 'effort_scale' not in recorded.settings
    names = match_joints(model.joint_names, whole.names, joints)
    recording = clean(whole.of_joints([*names.values()]))
    time = recording.time
    rows: list[Sequence[str]] = [
        ('joint', 'position', 'velocity', 'effort', 'range', 'limits', 'efforts', '')
    ]
    for k, (name, turns) in enumerate(zip(names, turning(model, [*names]), strict=True)):
        at, row = whole.names.index(names[name]), model.position_indices(name).start
        columns = [each[at] or '' if each else '' for each in recorded.columns.values()]
        limits = (ends[row] for ends in (model.position_lower, model.position_upper))
        unit, effort = ('rad', 'N m') if turns else ('m', 'N')
        rows.append((
            name, *(columns or (names[name], '', '')), _range(recording.position[:, k]),
            _range([*limits]), _range(recording.effort[:, k]),
            f'{unit}, {"current" if currents else effort}',
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
        *['currents: give effort_scale, N m/A'] * currents,
    ]
    given = {key: recorded.numbers(key) for key in ('degrees', 'sign', 'offset', 'effort_scale')}
    found = [*suggestions(model, names, recording, given)] or ['nothing looks wrong']
    lines += [f'- {each}' for each in found]
    return '\n'.join(lines)


def _range(values: ArrayLike) -> str:
    ends = np.min(values), np.max(values)
    return '{:.2f} to {:.2f}'.format(*ends) if np.isfinite(ends).all() else 'none'


def suggestions(
    model: RobotModel, names: Mapping[str, str], recording: Recording,
    given: Mapping[str, dict[str, float]],
) -> Iterator[str]:
    """
    Yield the settings that a clean recording suggests, with their evidence.

    :param names: recorded joint names by the model's; the recording has no others
    :param given: settings of a table by key, and by all recorded names in its order
    """
    turns = turning(model, [*names])
    in_degrees = np.array([given['degrees'][other] != 0.0 for other in names.values()])
    offset = {**given['offset']}
    try:
        check_units(model, names, recording)
    except RecordingError as error:
        yield str(error)
        in_degrees = turns
        unit = np.where(turns, DEGREE, 1.0)
        recording = replace(
            recording, position=recording.position * unit, velocity=recording.velocity * unit
        )
    try:
        checkup = check(model, recording, names)
        if checkup.verdict is ModelVerdict.REJECTED:
            mounting = find_mounting(model, recording, checkup)
            if mounting is not None:
                unit = np.where(in_degrees & turns, DEGREE, 1.0)
                moves = mounting.moved(np.zeros(len(names))) / unit
                for name, move in zip(recording.names, moves.tolist(), strict=True):
                    offset[name] += move
                yield from mounting.texts(recording.names, offset)
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
    if inverted:  # the offset is added to the inverted position
        flip = {name: -1.0 if name in inverted else 1.0 for name in offset}
        changed = {'sign': given['sign']}
        if any(offset[name] for name in inverted):
            changed['offset'] = offset
        texts = [setting(key, {name: flip[name] * values[name] for name in values})
                 for key, values in changed.items()]  # fmt: skip
        yield f'of a table: {" ".join(texts)}'
    if not factors.isdisjoint(finding.cause for finding in checkup.findings):
        yield _effort_scale(checkup, names, given['effort_scale'])


def _effort_scale(
    checkup: Checkup, names: Mapping[str, str], given: Mapping[str, float]
) -> str:
    """Return the factors of efforts that are in another unit, or inverted."""
    figures = [checkup.assessment.joints[joint] for joint in checkup.assessment.loaded]
    scales = {
        joint.name: joint.scale for joint in figures
        if joint.scale.half_width < 0.5 * abs(joint.scale.value)
    }
    usual = float(np.median([scale.value for scale in scales.values()] or [1.0]))
    factors = {
        names[name]: 1.0 / (scales[name].value if name in scales else usual)
        for name in checkup.joints
    }
    values = {name: value * factors.get(name, 1.0) for name, value in given.items()}
    others = [name for name in checkup.joints if name not in scales]
    return (
        'efforts are in another unit or inverted, or the URDF is of another arm; '
        'times the model they are: '
        + ', '.join(f'{name} {scale}' for name, scale in scales.items())
        + f"; {setting('effort_scale', values)} fits the URDF's masses"
        + f' ({", ".join(others)}: little load, the median)' * bool(others)
        + '; better take N m/A from the data sheet (of mA: times 0.001)'
    )
