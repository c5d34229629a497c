# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Recordings of bags and tables; find a table's columns by names or settings; convert units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
import math
import os.path
from pathlib import Path
import re
from typing import Any

import numpy as np

from ..arrays import Array, finite_array
from ..errors import InputError, RneaError, brief, clipped, one_line
from ..files import is_special
from ..robot import RobotModel
from ..yaml_files import read_document
from .joint_states import (
    Recording,
    RecordingError,
    match_joints,
    read_joint_states,
    recording_from,
    unusable,
    usable_factor,
)
from .table_files import MAX_INFO, UNIT, WORDS, TableError, is_table, open_table

KEYS = (*WORDS, 'joints', 'time', 'rate', 'degrees', 'sign', 'offset', 'gear', 'effort_scale',
        'episodes')  # fmt: skip
EPISODE = 'episode_index'  # column with the number of the episode

TIME = re.compile(r'(?i)((.*[\W_])?(time|stamp|timestamp)|(.*[./])?t)([\W_]*(s|ms|us|ns|sec))?\W*')
CURRENT = re.compile(rf'(?i)(.*[\W_])?({WORDS["effort"][1]})[\W\d_]*')
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
    settings: Mapping[str, Any] = field(default_factory=dict)  # of a table

    @property
    def has_currents(self) -> bool:
        """Whether the columns of efforts are currents, and no factor makes them efforts."""
        columns = [each for each in self.columns.get('effort', ()) if each]
        currents = any(CURRENT.fullmatch(UNIT.sub('', each)) for each in columns)
        return currents and 'effort_scale' not in self.settings


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
    if not os.path.exists(path) or is_special(path):
        raise TableError(f'{path} does not exist, or is a pipe or device; name a regular file')

    try:
        return [*_Reader(path, model, table or {}).recordings()]
    except RneaError:
        raise
    except Exception as error:  # each package raises error classes of its own
        raise TableError(
            f'{path} cannot be read: {one_line(error)}; copy or save it again'
        ) from error


def only_one(path: Path | str, found: Sequence[Recorded]) -> Recorded:
    """Return the only recording of a path; raise an error that names a way to choose one."""
    if len(found) > 1:
        raise TableError(f'{path} has {len(found)} episodes; choose one: --table episodes=0')
    return found[0]


class _Reader:
    """Finds the columns of a table, and converts them."""

    def __init__(self, path: Path, model: RobotModel, given: Mapping[str, Any]) -> None:
        self._path, self._model = path, model
        absolute = Path(os.path.abspath(path))  # '.' has no name
        self._name, self._beside = absolute.name, absolute.with_suffix('.yaml')
        there = os.path.isfile(self._beside)
        read = read_document(self._beside, MAX_INFO) if there else None
        settings = {**read, **given} if isinstance(read, dict) else {**given}
        unknown = [key for key in settings if key not in KEYS]
        if unknown or not isinstance(read, dict | None):
            where = '' if unknown and unknown[0] in given else f', {self._beside.name}'
            raise TableError(
                f'{path}{where}: {brief(unknown[0] if unknown else read)} is not a key of '
                f'{", ".join(KEYS)}; if the YAML file is not of this table, rename it'
            )
        self._settings: dict[str, Any] = settings

    def recordings(self) -> Iterator[Recorded]:
        """Yield the recording of each episode, or the only one."""
        self._table = table = open_table(self._path)
        self._columns = columns = table.columns()
        names, chosen = self._joints()
        stamp, rate = self._clock()
        needed = {*stamp, *chain(*chosen.values()), *{EPISODE}.intersection(columns)} - {None}
        arrays = table.read(sorted({columns[str(each)][0] for each in needed}))
        sizes = {name: len(values) for name, values in arrays.items()}
        if len({*sizes.values()}) > 1:
            text = ', '.join(f'{name} {size}' for name, size in sizes.items())
            raise TableError(f'{self._path} has arrays of different lengths: {text}; cut them')

        def values(name: str | None) -> Array:
            if name is None:
                return np.full(next(iter(sizes.values())), np.nan)
            array, k = columns[name]
            return arrays[array][:, k] if arrays[array].ndim > 1 else arrays[array]

        recorded = {
            quantity: np.column_stack([values(each) for each in row])
            for quantity, row in chosen.items() if row
        }
        self._convert(recorded, names)
        episode = values(EPISODE) if EPISODE in columns else None
        for number in self._episodes(episode):
            rows = slice(None) if number is None else np.flatnonzero(episode == number)
            parts = {quantity: array[rows] for quantity, array in recorded.items()}
            time, origin = np.arange(len(parts['position'])) / rate, f'even, {rate:g} Hz'
            if stamp:
                time, unit = _seconds(values(stamp[0])[rows])
                origin = f'column {stamp[0]}, {unit}'
            name = self._name + ('' if number is None else f', episode {number}')
            recording = Recording(names, time, notes=(), raw=True, **parts)
            yield Recorded(name, recording, chosen, origin, self._settings)

    def _joints(self) -> tuple[tuple[str, ...], dict[str, list[str | None]]]:
        """Return the joints' names, and the column, or None, of each quantity and joint."""
        names = [*map(str, _list(self._settings.get('joints', self._model.joint_names)))]
        keys = names
        chosen: dict[str, list[str | None]] = {}
        for quantity in WORDS:
            listed = quantity in self._settings
            found: dict[Any, str] = (
                dict(enumerate(self._listed(quantity))) if listed else self._guessed(quantity)
            )
            named = any(isinstance(key, str) for key in found)
            if quantity == 'position':
                keys = [*map(str, found)] if named else names[: len(found)]
                names = names if 'joints' in self._settings else keys
            row: list[str | None] = [*found.values()]
            if named:
                row = [found.get(key) for key in keys]
            if not any(row) and quantity != 'velocity':
                raise self._unknown(quantity, f'has no column of {quantity}')
            if any(row) and len(row) != len(names):
                columns = clipped(', '.join(map(str, row)))
                fault = f'has {len(row)} columns of {quantity} ({columns}) for {len(names)} joints'
                raise self._unknown(quantity, f'{fault}, {", ".join(names)}')
            chosen[quantity] = row if any(row) else []
        return tuple(map(clipped, names)), chosen

    def _unknown(self, key: str, fault: str) -> TableError:
        columns = clipped(', '.join(self._columns), 1000)
        return TableError(
            f'{self._path} {fault}; its columns are: {columns}; name them with --table '
            f'{key}=FIRST..LAST, or in {self._beside.name}'
        )

    def _listed(self, key: str) -> list[str]:
        """Return the columns that a setting names: by name, FIRST..LAST, or by their array."""
        columns = [*self._columns]
        listed: list[str] = []
        for item in map(str, _list(self._settings[key])):
            first, _, last = item.partition('..')
            within = [name for name in columns if item in (name, self._columns[name][0])]
            if first in columns and last in columns:
                within = columns[columns.index(first) : columns.index(last) + 1]
            if not within:
                raise self._unknown(key, f'has no column {brief(item)}')
            listed += within
        return listed

    def _guessed(self, quantity: str) -> dict[Any, str]:
        """Return the columns of a quantity by the joint's name in theirs, or by its number."""
        for words in WORDS[quantity]:
            named: dict[Any, str] = {}
            numbered: dict[str, dict[int, str]] = {}
            for column in (each for each in self._columns if not COMMANDED.search(each)):
                name = UNIT.sub('', column)
                if found := re.fullmatch(rf'(?i)(.*[\W_])?(?:{words})[\W_]*(\d+)\W*', name):
                    numbered.setdefault(found[1] or '', {})[int(found[2])] = column
                elif re.fullmatch(f'(?i){words}', name):
                    numbered.setdefault('', {})[0] = column
                elif found := re.fullmatch(rf'(?i)(?:.*/)?(.+?)[\W_](?:{words})', name):
                    if found[1] in named:
                        raise self._unknown(quantity, f'has {named[found[1]]} and {column}')
                    named[found[1]] = column
            with suppress(RecordingError):  # other columns may have such names too
                if named and (not numbered or match_joints(self._model.joint_names, [*named])):
                    return named
            if len(numbered) > 1:
                firsts = ', '.join(next(iter(each.values())) for each in numbered.values())
                raise self._unknown(quantity, f'may have {quantity} from {firsts} on')
            for group in numbered.values():
                if sorted(group) not in ([*range(len(group))], [*range(1, len(group) + 1)]):
                    raise self._unknown(quantity, f'lacks a number of {quantity}')
                return dict(sorted(group.items()))
        return {}

    def _clock(self) -> tuple[list[str], float]:
        """Return the column of time, or none, and the rate without one, Hz."""
        if 'rate' in self._settings:
            return [], float(self._each('rate', (), 1.0, lambda rate: rate > 0.0)[0])
        if 'time' in self._settings:
            return self._listed('time')[:1], math.nan
        found = [
            each for each in self._columns if TIME.fullmatch(each) and not COMMANDED.search(each)
        ]
        if not found and self._table.rate is None:
            raise self._unknown('time', 'has no column of time (without any: --table rate=HZ)')
        stamps = [each for each in found if 'stamp' in each.lower()]
        return (stamps or found)[:1], self._table.rate or math.nan

    def _episodes(self, episode: Array | None) -> list[int] | list[None]:
        """Return the numbers of the episodes to read; None for a table without."""
        if episode is None:
            if 'episodes' in self._settings:
                raise TableError(f'{self._path} has no column {EPISODE}: leave out episodes')
            return [None]
        present = np.unique(episode).astype(int).tolist()
        asked = _list(self._settings.get('episodes', present))
        if missing := [each for each in asked if each not in present]:
            raise TableError(f'{self._path} has no episode {brief(missing[0])}: {brief(present)}')
        return asked

    def _convert(self, recorded: dict[str, Array], names: Sequence[str]) -> None:
        """Convert to SI units at the joints, in place; unknown numbers become NaN."""
        known = {} if self._model.description is None else self._model.description.joints
        with suppress(RecordingError):
            pairs = match_joints([*known], names).items()
            known = {other: known[name] for name, other in pairs}
        turns = [name not in known or known[name].type != 'prismatic' for name in names]
        unit = np.where(turns & (self._each('degrees', names, 0.0) != 0.0), np.pi / 180.0, 1.0)
        axis = self._each('sign', names, 1.0, lambda sign: abs(sign) == 1.0)
        gear = self._each('gear', names, 1.0, usable_factor)
        recorded['position'] *= axis / gear
        recorded['position'] += self._each('offset', names, 0.0)
        recorded['position'] *= unit
        if 'velocity' in recorded:
            recorded['velocity'] *= axis / gear * unit
        scale = self._each('effort_scale', names, 1.0, usable_factor)
        recorded['effort'] *= axis * gear * scale
        for column in (column for array in recorded.values() for column in array.T):
            column[unusable(column)] = np.nan

    def _each(
        self, key: str, names: Sequence[str], default: float,
        usable: Callable[[float], bool] = math.isfinite,
    ) -> Array:
        """Return the numbers of a setting, one or one for each joint."""
        with suppress(InputError):
            values = finite_array(key, np.ravel(self._settings.get(key, default)), (None,))
            if len(values) in (1, len(names)) and all(map(usable, values)):
                return values
        way = {'degrees': 'true or false', 'rate': 'a number of Hz above 0'}
        each = f', or one for each of {", ".join(names)}' * bool(names)
        raise InputError(
            key, f'is {brief(self._settings[key])}; give {way.get(key, "one usable number")}{each}'
        )


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _seconds(time: Array) -> tuple[Array, str]:
    """Return the time from 0 on in seconds, and its unit, which the intervals show."""
    time = time - time[np.isfinite(time).argmax()] if len(time) else time
    interval = float(np.nanmedian(np.diff(time))) if len(time) > 1 else 0.0
    unit = next((each for each in UNITS if interval * UNITS[each] < MAX_INTERVAL), 's')
    return time * UNITS[unit], unit
