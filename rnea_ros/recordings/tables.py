# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Recordings of bags and tables; find a table's columns by names or settings; convert units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
import math
from pathlib import Path
import re
from typing import Any

import numpy as np

from ..arrays import Array, finite_array, finite_number
from ..errors import InputError, brief, clipped, one_line
from ..files import is_special
from ..robot import RobotModel
from ..yaml_files import read_document
from .bags import bounded
from .joint_states import (
    Recording,
    RecordingError,
    match_joints,
    read_joint_states,
    recording_from,
    unusable,
    usable_factor,
)
from .table_files import MAX_INFO, Table, TableError, import_reader, is_table, open_table

WORDS = {
    'position': ('q|pos|positions?|angles?|state',),
    'velocity': ('qd|dq|qdot|vel|velocity|velocities|speeds?',),
    'effort': ('tau|tau_j|torques?|efforts?', 'currents?'),
}
"""Words of columns by quantity; a later group counts where no column has an earlier word."""

KEYS = (*WORDS, 'joints', 'time', 'rate', 'degrees', 'sign', 'offset', 'gear', 'effort_scale',
        'episodes')  # fmt: skip
EPISODE = 'episode_index'  # column with the number of the episode

ANY_WORD = re.compile(rf'(?i)(.*[\W_])?({"|".join("|".join(each) for each in WORDS.values())})')
TIME = re.compile(r'(?i)((.*[\W_])?(time|stamp|timestamp)|(.*[./])?t)([\W_]*(s|ms|us|ns|sec))?\W*')
COMMANDED = re.compile('(?i)target|desired|reference|command|cmd|goal|action|setpoint')

UNITS = {'s': 1.0, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9}
MAX_INTERVAL = 0.2  # of joint states, s; a longer one is in a smaller unit


@dataclass(frozen=True)
class Recorded:
    """A recording, and what was read as what."""

    name: str  # of the file, and of the episode
    recording: Recording
    columns: Mapping[str, Sequence[str | None]]  # by quantity, one for each joint; a bag: none
    time: str = 'stamps'  # origin of the time


def read_recordings(
    path: Path, model: RobotModel, topic: str | None = None,
    table: Mapping[str, Any] | None = None,
) -> list[Recorded]:
    """
    Return the recording of a bag or a table, or one for each episode of a LeRobot data set.

    :param model: the robot, whose joints have the columns with numbers, in its order
    :param topic: of a bag; None for the only one with joint states
    :param table: settings of a table by :data:`KEYS`, in place of those of a YAML file beside it
    :raises RneaError: the recording cannot be read, or lacks what is needed
    """
    if not is_table(path):
        if table:
            raise TableError(f'{path} is not a table: leave out the settings of a table')
        return [Recorded(path.name, recording_from(read_joint_states(path, topic)), {})]
    if not path.exists() or is_special(path):
        raise TableError(f'{path} does not exist, or is a pipe or device; name a regular file')

    def fault(error: Exception) -> TableError:
        large = isinstance(error, MemoryError)
        reason = 'it needs too much memory; split it' if large else one_line(error)
        return TableError(f'{path} cannot be read: {reason}')

    settings = _settings(path, table or {})
    import_reader(path)  # outside of the bound
    with bounded(path, fault):
        return [*_recordings(path, open_table(path), model, settings)]


def only_one(path: Path | str, found: Sequence[Recorded]) -> Recorded:
    """Return the only recording of a path; raise an error that names a way to choose one."""
    if len(found) > 1:
        raise TableError(f'{path} has {len(found)} episodes; choose one: --table episodes=0')
    return found[0]


def _settings(path: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    beside = path.with_suffix('.yaml')
    read = (read_document(beside, MAX_INFO) or {}) if beside.is_file() else {}
    settings = {**read, **given} if isinstance(read, dict) else {brief(read): read}
    if unknown := [key for key in settings if key not in KEYS]:
        place = '' if unknown[0] in given else f' of {beside} (not of the table? rename it)'
        raise TableError(
            f'{path}: unknown key {brief(unknown[0])}{place}; keys are {", ".join(KEYS)}'
        )
    return settings


def _recordings(
    path: Path, table: Table, model: RobotModel, settings: Mapping[str, Any]
) -> Iterator[Recorded]:
    """Yield the recording of each episode, or the only one."""
    columns = _columns(table)
    names, chosen = _joints(path, [*columns], model, settings)
    stamp, rate = _clock(path, [*columns], settings, table.rate)
    needed = {*stamp, *chain(*chosen.values()), *{EPISODE}.intersection(columns)} - {None}
    arrays = table.read(sorted({columns[str(each)][0] for each in needed}))
    sizes = {name: len(values) for name, values in arrays.items()}
    if len({*sizes.values()}) > 1:
        text = ', '.join(f'{name} {size}' for name, size in sizes.items())
        raise TableError(f'{path} has arrays of different lengths: {text}; cut them to one length')

    def values(name: str | None) -> Array:
        if name is None:
            return np.full(next(iter(sizes.values())), np.nan)
        array, k = columns[name]
        return arrays[array][:, k] if arrays[array].ndim > 1 else arrays[array]

    recorded = {
        quantity: np.column_stack([values(each) for each in row])
        for quantity, row in chosen.items() if row
    }
    _convert(recorded, names, model, settings)
    episode = values(EPISODE) if EPISODE in columns else None
    for number in _episodes(path, episode, settings):
        rows = slice(None) if number is None else np.flatnonzero(episode == number)
        parts = {quantity: array[rows] for quantity, array in recorded.items()}
        if stamp:
            time, unit = _seconds(values(stamp[0])[rows])
            origin = f'column {stamp[0]}, {unit}'
        else:
            time, origin = np.arange(len(parts['position'])) / rate, f'even, {rate:g} Hz'
        name = path.name if number is None else f'{path.name}, episode {number}'
        yield Recorded(name, Recording(names, time, notes=(), raw=True, **parts), chosen, origin)


def _columns(table: Table) -> dict[str, tuple[str, int]]:
    """Return array and number of each column by its name, such as q[0] or state/elbow.pos."""
    columns = {}
    for array, width in table.widths.items():
        labels = table.labels.get(array, ())
        for k in range(width or 1):
            name = f'{array}[{k}]' if width else array
            if width and len(labels) == width:
                word = '' if ANY_WORD.fullmatch(labels[k]) else re.split(r'\W', array)[-1]
                name = f'{array}/{labels[k]}.{word}'.rstrip('.')
            columns[name] = (array, k)
    return columns


def _joints(
    path: Path, columns: Sequence[str], model: RobotModel, settings: Mapping[str, Any]
) -> tuple[tuple[str, ...], dict[str, list[str | None]]]:
    """Return the joints' names, and the column, or None, of each quantity and joint."""
    names: Sequence[str] = [*map(str, _list(settings.get('joints', model.joint_names)))]
    keys = names
    chosen: dict[str, list[str | None]] = {}
    for quantity in WORDS:
        if quantity in settings:
            listed = _listed(path, columns, quantity, settings[quantity])
            found = {str(number): each for number, each in enumerate(listed)}
        else:
            found = _guessed(path, columns, quantity, model)
        named = not all(key.isdigit() for key in found)
        if quantity == 'position':
            if 'joints' not in settings:
                names = [*found] if named else names[: len(found)]
            keys = [*found] if named else names
        row: list[str | None] = [*found.values()]
        if named:
            row = [found.get(key) for key in keys]
        if not any(row) and quantity != 'velocity':
            raise _unknown(path, columns, quantity, f'has no column of {quantity}')
        if any(row) and len(row) != len(names):
            raise _unknown(
                path, columns, quantity, f'has {len(row)} columns of {quantity} '
                f'({clipped(", ".join(map(str, row)))}) for joints {", ".join(names)}'
            )
        chosen[quantity] = row if any(row) else []
    return tuple(map(clipped, names)), chosen


def _unknown(path: Path, columns: Sequence[str], key: str, fault: str) -> TableError:
    return TableError(
        f'{path} {fault}; its columns are: {clipped(", ".join(columns), 1000)}; name them with '
        f'--table {key}=FIRST..LAST, or in {path.with_suffix(".yaml").name}'
    )


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _listed(path: Path, columns: Sequence[str], key: str, given: Any) -> list[str]:
    """Return the columns that a setting names: by name, FIRST..LAST, or by their array."""
    listed: list[str] = []
    for item in map(str, _list(given)):
        first, _, last = item.partition('..')
        within = [each for each in columns if re.match(rf'{re.escape(item)}[\[/]', each)]
        if item in columns:
            within = [item]
        elif first in columns and last in columns:
            within = [*columns[columns.index(first) : columns.index(last) + 1]]
        if not within:
            raise _unknown(path, columns, key, f'has no column {brief(item)}')
        listed += within
    return listed


def _guessed(
    path: Path, columns: Sequence[str], quantity: str, model: RobotModel
) -> dict[str, str]:
    """Return the columns of a quantity by the joint's name in theirs, or by its number."""
    for words in WORDS[quantity]:
        named: dict[str, str] = {}
        numbered: dict[str, dict[int, str]] = {}
        for column in (each for each in columns if not COMMANDED.search(each)):
            if found := re.fullmatch(rf'(?i)(.*[\W_])?(?:{words})[\W_]*(\d+)\W*', column):
                numbered.setdefault(found[1] or '', {})[int(found[2])] = column
            elif re.fullmatch(f'(?i){words}', column):
                numbered.setdefault('', {})[0] = column
            elif found := re.fullmatch(rf'(?i)(?:.*/)?(.+?)[\W_](?:{words})', column):
                if found[1] in named:
                    raise _unknown(path, columns, quantity, f'has {named[found[1]]} and {column}')
                named[found[1]] = column
        with suppress(RecordingError):  # other columns may have such names too
            if named and (not numbered or match_joints(model.joint_names, [*named])):
                return named
        if len(numbered) > 1:
            firsts = ', '.join(next(iter(each.values())) for each in numbered.values())
            raise _unknown(path, columns, quantity, f'may have {quantity} from {firsts} on')
        for group in numbered.values():
            if sorted(group) not in ([*range(len(group))], [*range(1, len(group) + 1)]):
                raise _unknown(path, columns, quantity, f'lacks a number of {quantity}')
            return {str(number): group[number] for number in sorted(group)}
    return {}


def _clock(
    path: Path, columns: Sequence[str], settings: Mapping[str, Any], rate: float | None
) -> tuple[list[str], float]:
    """Return the column of time, or none, and the rate without one, Hz."""
    if 'rate' in settings:
        given = finite_number('rate', settings['rate'])
        if given <= 0.0:
            raise InputError('rate', f'{given:g} Hz is not above 0')
        return [], given
    if 'time' in settings:
        return _listed(path, columns, 'time', settings['time'])[:1], math.nan
    found = [each for each in columns if TIME.fullmatch(each) and not COMMANDED.search(each)]
    stamps = [each for each in found if 'stamp' in each.lower()]
    if not found and rate is None:
        raise _unknown(path, columns, 'time', 'has no column of time (give --table rate=HZ)')
    return (stamps or found)[:1], rate or math.nan


def _seconds(time: Array) -> tuple[Array, str]:
    """Return the time from 0 on in seconds, and its unit, which the intervals show."""
    time = time - time[np.isfinite(time).argmax()] if len(time) else time
    interval = float(np.nanmedian(np.diff(time))) if len(time) > 1 else 0.0
    unit = next((each for each in UNITS if interval * UNITS[each] < MAX_INTERVAL), 's')
    return time * UNITS[unit], unit


def _episodes(
    path: Path, episode: Array | None, settings: Mapping[str, Any]
) -> list[int] | list[None]:
    """Return the numbers of the episodes to read; None for a table without."""
    if episode is None:
        return [None]
    present = np.unique(episode).astype(int).tolist()
    asked = _list(settings.get('episodes', present))
    if missing := [each for each in asked if each not in present]:
        raise TableError(f'{path} has no episode {brief(missing[0])}, but {brief(present)}')
    return asked


def _convert(
    recorded: dict[str, Array], names: Sequence[str], model: RobotModel,
    settings: Mapping[str, Any],
) -> None:
    """Convert columns to SI units at the joints, in place; unknown numbers become NaN."""

    def each(key: str, default: float, usable: Callable[[float], bool] = math.isfinite) -> Array:
        values = finite_array(key, np.ravel(settings.get(key, default)), (None,))
        if len(values) not in (1, len(names)) or not all(map(usable, values)):
            raise InputError(
                key, f'is {brief(settings[key])}; give one usable number, or one for each of '
                f'{", ".join(names)}'
            )
        return values

    joints = {} if model.description is None else model.description.joints
    with suppress(RecordingError):
        joints = {
            other: joints[name] for name, other in match_joints([*joints], names).items()
        }
    turns = [name not in joints or joints[name].type != 'prismatic' for name in names]
    unit = np.where(turns & (each('degrees', 0.0) != 0.0), np.pi / 180.0, 1.0)
    axis = each('sign', 1.0, lambda sign: abs(sign) == 1.0)
    gear = each('gear', 1.0, usable_factor)
    recorded['position'] *= axis / gear
    recorded['position'] += each('offset', 0.0)
    recorded['position'] *= unit
    if 'velocity' in recorded:
        recorded['velocity'] *= axis / gear * unit
    recorded['effort'] *= axis * gear * each('effort_scale', 1.0, usable_factor)
    for column in (column for array in recorded.values() for column in array.T):
        column[unusable(column)] = np.nan
