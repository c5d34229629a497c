# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Read recordings from bags and tables: text, npz, mat, Parquet, LeRobot data sets.

A reader for each format returns columns of numbers by name. Settings (arguments, or a YAML file
beside the table) give their meaning, else their names. Numbers become SI units at the joints.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
import json
import math
import os.path
from pathlib import Path
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, finite_array
from ..errors import InputError, RneaError, brief, clipped, one_line
from ..files import is_special, read_regular
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

WORDS = {  # in the names of columns; currents count where no column has another word
    'position': ('q|pos|positions?|angles?|state',),
    'velocity': ('qd|dq|qdot|vel|velocity|velocities|speeds?',),
    'effort': ('tau|tau_j|torques?|efforts?', 'currents?'),
}
ANY_WORD = re.compile(rf'(?i)(.*[\W_])?({"|".join(chain(*WORDS.values()))})')
TIME = re.compile(r'(?i)((.*[\W_])?(time|stamp|timestamp)|(.*[./])?t)([\W_]*(s|ms|us|ns|sec))?\W*')
COMMANDED = re.compile('(?i)target|desired|reference|command|cmd|goal|action|setpoint')
UNIT = r'([\[(]\D+[\])])?'  # at the end of a name
EMPTY = ('', 'na', 'n/a', 'null', 'none')  # cells without a number
MAX_SIZE = 4_000_000_000  # bytes: two hours of ten joints at 1 kHz as text
EPISODE = 'episode_index'  # column with the number of the episode
INFO, MAX_INFO = 'meta/info.json', 1_000_000  # of a LeRobot data set; bytes of a description
UNITS = {'s': 1.0, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9}
MAX_INTERVAL = 0.2  # of joint states, s; the unit is the first that gives less

NUMBERS: Mapping[str, tuple[float, str, Callable[[float], bool]]] = {
    'rate': (1.0, 'a number of Hz above 0', lambda rate: rate > 0.0),
    'degrees': (0.0, 'true or false', lambda flag: flag in (0.0, 1.0)),
    'sign': (1.0, '1 or -1', lambda sign: abs(sign) == 1.0),
    'gear': (1.0, 'a factor from 1e-6 to 1e6', usable_factor),
    'offset': (0.0, 'a number', math.isfinite),
    'effort_scale': (1.0, 'a factor from 1e-6 to 1e6', usable_factor),
}
"""Settings with one number, or one for each joint: default, description, test of validity."""

KEYS = (*WORDS, 'joints', 'time', 'episodes', *NUMBERS)


@dataclass(frozen=True)
class Recorded:
    """A recording, and the columns and settings behind it."""

    name: str  # of the file, and of the episode
    recording: Recording
    columns: Mapping[str, Sequence[str | None]]  # by quantity, one for each joint; empty for a bag
    time: str = 'stamps'  # origin of the time
    settings: Mapping[str, Any] = field(default_factory=dict)  # of a table

    def numbers(self, key: str) -> dict[str, float]:
        """Return the setting of each joint by its recorded name, in the table's order."""
        names = self.recording.names
        values = np.resize(self.settings.get(key, NUMBERS[key][0]), len(names))
        return dict(zip(names, values.astype(float).tolist(), strict=True))


def is_table(path: Path) -> bool:
    """Return whether a path has the name of a table, or is a LeRobot data set."""
    return _kind(path) in READERS


def _kind(path: Path) -> str:
    return INFO if os.path.isfile(path / INFO) else path.suffix.lower()


def read_recordings(
    path: Path, model: RobotModel, topic: str | None = None, table: Mapping[str, Any] | None = None
) -> list[Recorded]:
    """
    Return the recording of a bag or a table, or one for each episode of a LeRobot data set.

    :param model: the robot; numbered columns are its joints, in its order
    :param topic: of a bag; None for the only one with joint states
    :param table: settings of a table by :data:`KEYS`; they override a YAML file beside it
    :raises RneaError: the recording cannot be read, or lacks what is needed
    """
    if not is_table(path):
        if table:
            raise RecordingError(f'{path} is not a table: leave out the settings of a table')
        return [Recorded(path.name, recording_from(read_joint_states(path, topic)), {})]
    try:
        if not os.path.exists(path) or is_special(path) or os.path.getsize(path) > MAX_SIZE:
            raise RecordingError(f'does not exist, is a pipe or device, or has over '
                                 f'{MAX_SIZE / 1e9:g} GB; name a regular file, cut a long one')
        return [*_Table(path, model, table or {}).recordings()]
    except RneaError as error:
        raise RecordingError(f'{path}: {error}') from error
    except ImportError as error:
        package = str(error.name).partition('.')[0]
        raise RecordingError(f'{path}: pip install {package} to read it') from error
    except Exception as error:  # each package raises error classes of its own
        raise RecordingError(f'{path} cannot be read: {one_line(error)}; save it again as arrays '
                             "of numbers (MATLAB: save(..., '-v7'))") from error


def read_recording(
    path: Path, model: RobotModel, topic: str | None = None, table: Mapping[str, Any] | None = None
) -> Recorded:
    """Return the only recording of a path, as :func:`read_recordings`."""
    found = read_recordings(path, model, topic, table)
    if len(found) > 1:
        raise RecordingError(f'{path} has {len(found)} episodes; choose one: --table episodes=0')
    return found[0]


def turning(model: RobotModel, names: Sequence[str]) -> NDArray[np.bool_]:
    """Return which joints, by their names in a recording, are not prismatic."""
    known = {} if model.description is None else model.description.joints
    with suppress(RecordingError):
        known = {other: known[name] for name, other in match_joints([*known], names).items()}
    return np.array([name not in known or known[name].type != 'prismatic' for name in names])


class _Table:
    """The columns of a table, and the settings that say what they mean."""

    def __init__(self, path: Path, model: RobotModel, given: Mapping[str, Any]) -> None:
        self._path, self._model = path, model
        self._beside = Path(os.path.abspath(path)).with_suffix('.yaml')  # '.' has no name
        read = read_document(self._beside, MAX_INFO) if os.path.isfile(self._beside) else None
        for key in (*(read or ()), *given):
            if key not in KEYS:
                raise RecordingError(f'{brief(key)} is not one of {", ".join(KEYS)}; correct it, '
                                     f'or rename {self._beside.name} if it is for another file')
        self._settings = {**(read or {}), **given}
        self._columns = READERS[_kind(path)](path)
        self._measured = [name for name in self._columns if not COMMANDED.search(name)]

    def _unclear(self, key: str, fault: str) -> RecordingError:
        columns = clipped(', '.join(self._columns), 1000)
        return RecordingError(f'{fault}; its columns are: {columns}; name them with --table '
                              f'{key}=FIRST..LAST, or in {self._beside.name}')

    def _values(self, key: str) -> list[Any]:
        """Return the values of a setting; empty if not set."""
        return list(np.ravel(self._settings.get(key, [])).tolist())

    def recordings(self) -> Iterator[Recorded]:
        """Yield the recording of each episode, or the only one."""
        names, chosen = self._joints()
        read = {name: self._columns[name] for name in chain(*chosen.values()) if name}
        time, origin = self._time(len(next(iter(read.values()))))
        lengths = {len(each): name for name, each in (*read.items(), ('time', time))}
        if len(lengths) > 1:
            text = ', '.join(f'{name} {length}' for length, name in lengths.items())
            raise RecordingError(f'columns differ in length: {text}; cut them to one length')
        none = np.full(len(time), np.nan)
        recorded = {
            quantity: np.column_stack([read.get(str(name), none) for name in row])
            for quantity, row in chosen.items() if row
        }
        self._convert(recorded, names)
        episode = self._columns.get(EPISODE, none)
        present = np.unique(episode[np.isfinite(episode)]).astype(int).tolist()
        for number in self._values('episodes') or present or [None]:
            if number not in (None, *present):
                raise RecordingError(f'no episode {brief(number)}; omit the key episodes, or '
                                     f'choose from {brief(present)}')
            rows = slice(None) if number is None else episode == number
            parts = {quantity: values[rows] for quantity, values in recorded.items()}
            stamps = time[rows] - time[rows][np.isfinite(time[rows]).argmax()]  # from 0 on
            recording = Recording(names, stamps, notes=(), raw=True, **parts)
            name = self._path.absolute().name + f', episode {number}' * (number is not None)
            yield Recorded(name, recording, chosen, origin, self._settings)

    def _joints(self) -> tuple[list[str], dict[str, list[str | None]]]:
        """Return the joints' names, and by quantity their columns, empty if none."""
        given = [*map(str, self._values('joints'))]
        keys, chosen = given or [*self._model.joint_names], dict[str, list[str | None]]()
        for quantity in WORDS:
            listed: dict[Any, str] = dict(enumerate(self._listed(quantity)))
            found = listed or self._guessed(quantity)
            named = any(isinstance(key, str) for key in found)
            if quantity == 'position':  # the joints are those with a position
                keys = [*map(str, found)] if named else keys[: len(found) or None]
            row = [found.get(key) for key in (keys if named else found)]
            chosen[quantity] = row = row if any(row) else []
            names = given or keys
            if len(row) != len(names) and (row or quantity != 'velocity'):
                columns = f'({clipped(", ".join(map(str, row)))}) ' if row else ''
                raise self._unclear(quantity, f'{len(row) or "no"} columns of {quantity} {columns}'
                                    f'for {len(names)} joints, {", ".join(names)}')
        return [*map(clipped, given or keys)], chosen

    def _listed(self, key: str) -> list[str]:
        """Return the columns that a setting gives by name, FIRST..LAST or array."""
        columns, listed = [*self._columns], list[str]()
        for item in map(str, self._values(key)):
            first, _, last = item.partition('..')
            within = [name for name in columns if item in (name, re.split(r'[\[/]', name)[0])]
            if first in columns and last in columns:
                within = columns[columns.index(first) : columns.index(last) + 1]
            if not within:
                raise self._unclear(key, f'no column {brief(item)}')
            listed += within
        return listed

    def _guessed(self, quantity: str) -> dict[Any, str]:
        """Return the columns of a quantity by the joint's name, or number, in them."""
        for words in WORDS[quantity]:
            pattern = rf'(?i)(?:(?:.*/)?(.+?)[\W_])?(?:{words})[\W_]*(\d*)\W*{UNIT}'
            found = [each for each in map(re.compile(pattern).fullmatch, self._measured) if each]
            named = {each[1]: each.string for each in found if each[1] and not each[2]}
            numbered = {int(each[2] or 0): each.string for each in found if each[2] or not each[1]}
            clear = len(named) + len(numbered) == len(found)
            with suppress(RecordingError):  # the numbered ones may be something else
                if named and (not numbered or match_joints(self._model.joint_names, [*named])):
                    numbered = {}
            count = len(numbered)
            if not clear or sorted(numbered) not in ([*range(count)], [*range(1, count + 1)]):
                columns = clipped(', '.join(each.string for each in found))
                raise self._unclear(quantity, f'no clear order of {quantity} in {columns}')
            if found:
                return dict(sorted(numbered.items())) or named
        return {}

    def _time(self, count: int) -> tuple[Array, str]:
        """Return the time, s, and its origin; the median interval decides the unit."""
        if 'rate' in self._settings:
            rate = self._numbers('rate').item()
            return np.arange(count) / rate, f'even, {rate:g} Hz'
        found = [name for name in self._measured if TIME.fullmatch(name)]
        found.sort(key=lambda name: 'stamp' not in name.lower())
        found = self._listed('time') or found
        if not found:
            raise self._unclear('time', 'no column of time as a number (or --table rate=HZ)')
        time = self._columns[found[0]]
        interval = float(np.nanmedian(np.diff(time))) if len(time) > 1 else 0.0
        unit = next((each for each in UNITS if interval * UNITS[each] < MAX_INTERVAL), 's')
        return time * UNITS[unit], f'column {found[0]}, {unit}'

    def _convert(self, recorded: Mapping[str, Array], names: Sequence[str]) -> None:
        """Convert to SI units at the joints, in place; unknown numbers become NaN."""
        degrees, sign, gear, offset, scale = (
            self._numbers(key, names) for key in NUMBERS if key != 'rate'
        )
        unit = np.where(turning(self._model, names) & (degrees == 1.0), np.pi / 180.0, 1.0)
        factors = {'position': sign / gear * unit, 'velocity': sign / gear * unit,
                   'effort': sign * gear * scale}  # fmt: skip
        for quantity, values in recorded.items():
            values *= factors[quantity]
            values += offset * unit * (quantity == 'position')
            values[unusable(values)] = np.nan

    def _numbers(self, key: str, names: Sequence[str] = ()) -> Array:
        """Return the number of a setting, or one for each joint."""
        default, what, is_valid = NUMBERS[key]
        given = self._settings.get(key, default)
        with suppress(InputError):
            values = finite_array(key, np.ravel(given), (None,))
            if len(values) in (1, len(names)) and all(map(is_valid, values)):
                return values
        each = f', or one for each of {", ".join(names)}' * bool(names)
        raise RecordingError(f'{key} is {brief(given)}; give {what}{each}')


def _text(path: Path) -> dict[str, Array]:
    """Return the columns of a text that have a number in its first row of numbers."""
    above, comments, names, values = list[list[str]](), list[list[str]](), list[str](), array('d')
    with path.open(encoding='utf-8-sig', errors='replace') as file:
        for line_number, line in enumerate(file, 1):
            separator = next((each for each in '\t;,' if each in line), None)
            plain = line.replace(',', '.') if separator == ';' else line  # decimal commas
            row = [cell.strip(' \r\n"') for cell in plain.lstrip('#% ').split(separator)]
            numbers = [*map(_number, row)]
            if line.startswith(('#', '%')) or not any(row):
                if not names and len({*row}) == len(row):  # else a sentence
                    comments.insert(0, row)
            elif not names and all(number is None or math.isnan(number) for number in numbers):
                above.append(row)
            else:
                names = names or _names([*above, *comments], numbers)
                if len(row) != len(names):
                    raise RecordingError(f'line {line_number}: {len(row)} cells, not {len(names)} '
                                         'as above; correct or delete this line')
                for name, number, cell in zip(names, numbers, row, strict=True):
                    if name and number is None:
                        raise RecordingError(f'line {line_number}: {name} is {brief(cell)}, not a '
                                             'number; correct or delete this line')
                    if name and number is not None:
                        values.append(number)
    if not names:
        raise RecordingError('no row of numbers; name a table of joint states')
    columns = [name for name in names if name]
    return dict(zip(columns, np.frombuffer(values).reshape(-1, len(columns)).T, strict=True))


def _number(cell: str) -> float | None:
    """Return the number in a cell, NaN if it is empty, None if it is a text."""
    try:
        return float(cell)
    except ValueError:
        return math.nan if cell.lower() in EMPTY else None


def _names(above: Sequence[Sequence[str]], first: Sequence[float | None]) -> list[str]:
    """Return the names of columns from the rows above the numbers; empty for texts."""
    # A row of units is as long as the names, and stands below.
    header = next((row for row in above if len(row) == len(first)), len(first) * [''])
    names = [name or str(k) for k, name in enumerate(header, 1)]
    if twice := [name for k, name in enumerate(names) if name in names[:k]]:
        raise RecordingError(f'two columns {brief(twice[0])}; give each its own name')
    return [name * (number is not None) for name, number in zip(names, first, strict=True)]


def _split(arrays: Mapping[str, Any], prefix: str = '') -> dict[str, Array]:
    """Return the columns of arrays, named as q[0], and of structs, as log.q[0]."""
    columns = dict[str, Array]()
    texts = [each for each in map(np.asarray, arrays.values()) if each.dtype.kind == 'U']
    for key, value in arrays.items():
        name, values = prefix + key, np.squeeze(np.asarray(value))
        if isinstance(value, dict):
            columns |= _split(value, f'{name}.')
        elif values.dtype.kind in 'biufM' and values.ndim == 1:
            columns[name] = values.astype(np.float64)
        elif values.dtype.kind in 'biuf' and values.ndim == 2:
            rows = values if values.shape[1] > len(values) else values.T
            labels = next((each for each in texts if each.shape == rows.shape[:1]), ())
            for k, row in enumerate(rows):
                column = _labelled(name, str(labels[k])) if len(labels) else f'{name}[{k}]'
                columns[column] = row.astype(np.float64)
    return columns


def _labelled(name: str, label: str) -> str:
    """Return the name of a column; a label without a quantity gets the array's name."""
    word = '' if ANY_WORD.fullmatch(label) else re.split(r'\W', name)[-1]
    return f'{name}/{label}.{word}'.rstrip('.')


def _parquet(*paths: Path) -> dict[str, Array]:
    from pyarrow.parquet import ParquetDataset

    data = ParquetDataset([*map(str, paths)], partitioning=None)
    other = re.compile('(large_)?(string|binary)|struct|dictionary|map')  # texts, images
    names = [each.name for each in data.schema if not other.match(str(each.type))]
    table = data.read(columns=names, use_threads=False)
    arrays = {name: table[name].to_numpy() for name in names}
    return _split({name: np.stack(each) if each.dtype == 'O' else each
                   for name, each in arrays.items()})


def _data_set(path: Path) -> dict[str, Array]:
    """Return the columns of all episodes of a LeRobot data set, version 2 or 3."""
    info = json.loads(read_regular(path / INFO, MAX_INFO))
    paths = sorted(path.glob('data/chunk-*/*.parquet'))
    if not paths:
        raise RecordingError('no data/chunk-*/*.parquet; download the whole data set')
    columns = _parquet(*paths)
    for name, feature in info['features'].items():
        labels = feature.get('names') or []
        labels = next(iter(labels.values())) if isinstance(labels, dict) else labels
        for k, label in enumerate(map(str, labels)):
            if f'{name}[{k}]' in columns:
                columns[_labelled(name, label)] = columns.pop(f'{name}[{k}]')
    columns.setdefault('timestamp', np.arange(len(columns[EPISODE])) / info['fps'])
    return columns


def _mat(path: Path) -> dict[str, Array]:
    from scipy.io import loadmat

    return _split(loadmat(path, simplify_cells=True))


READERS: Mapping[str, Callable[[Path], dict[str, Array]]] = {
    INFO: _data_set, '.csv': _text, '.tsv': _text, '.txt': _text, '.mat': _mat,
    '.npz': lambda path: _split(dict(np.load(path))), '.parquet': _parquet,
}
