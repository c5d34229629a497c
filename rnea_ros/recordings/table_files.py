# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Files of numbers as named columns: text, npz, mat, Parquet, LeRobot data sets."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
import json
import os.path
from pathlib import Path
import re
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import brief, one_line
from ..files import read_regular
from .joint_states import RecordingError
from .samples import require_scipy

INFO = 'meta/info.json'  # of a LeRobot data set
MAX_INFO = 1_000_000  # bytes of it
COMMENT = ('#', '%')  # first characters of a line of text
EMPTY = ('', 'na', 'n/a', 'null', 'none')  # cells without a number
DATE = re.compile(r'\d[-/.:]\d+[-/.:]\d')
UNIT = re.compile(
    r'(?i)(^|\s*[\[(])(-|s|[mun]s|sec|rad|deg|°|degrees|m|mm|(rad|deg|°|m|mm)/s|m?a|n|n[ *.·]?m)?'
    r'($|[\])]$)'
)
"""A cell with nothing but a unit, or a unit in brackets at the end of a name."""

WORDS = {
    'position': ('q|pos|positions?|angles?|state',),
    'velocity': ('qd|dq|qdot|vel|velocity|velocities|speeds?',),
    'effort': ('tau|tau_j|torques?|efforts?', 'currents?'),
}
"""Words of columns by quantity; a later group counts where no column has an earlier word."""

ANY_WORD = re.compile(rf'(?i)(.*[\W_])?({"|".join("|".join(each) for each in WORDS.values())})')


class TableError(RecordingError):
    """A table cannot be read, or its columns cannot be understood."""


@dataclass(frozen=True)
class Table:
    """Arrays of N rows in files, read when needed."""

    widths: Mapping[str, int]  # number of columns of each array; 0 for a column alone
    read: Callable[[Sequence[str]], Mapping[str, Array]]  # arrays by name
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)  # of an array's columns
    rate: float | None = None  # Hz

    def columns(self) -> dict[str, tuple[str, int]]:
        """Return array and number of each column by its name, as q[0] or state/elbow.pos."""
        columns = {}
        for name, width in self.widths.items():
            labels = self.labels.get(name, ())
            for k in range(width or 1):
                column = f'{name}[{k}]' if width else name
                if width and len(labels) == width:
                    word = '' if ANY_WORD.fullmatch(labels[k]) else re.split(r'\W', name)[-1]
                    column = f'{name}/{labels[k]}.{word}'.rstrip('.')
                columns[column] = (name, k)
        return columns


def is_table(path: Path) -> bool:
    """Return whether a path has the name of a table, or is a LeRobot data set."""
    return path.suffix.lower() in READERS or os.path.isfile(path / INFO)


def open_table(path: Path) -> Table:
    """Return the table in a file, or in all files of a LeRobot data set."""
    return _data_set(path) if path.is_dir() else READERS[path.suffix.lower()](path)


def _text(path: Path) -> Table:
    """Return the table of a text; its first lines may be comments and the columns' names."""

    def lines() -> Iterator[tuple[int, str]]:
        with path.open(encoding='utf-8-sig', errors='replace') as file:
            for number, line in enumerate(file, 1):
                if plain := line.replace('"', '').rstrip('\r\n'):
                    yield number, plain

    headers: list[list[str]] = []  # the last ones: comments, names, units
    for number, line in lines():
        separator = next((each for each in '\t;,' if each in line), None)
        cells = _cells(line, separator)
        if not line.startswith(COMMENT) and any(map(_is_number, cells)):
            first = number
            break
        headers = [_cells(line.lstrip('#% '), separator), *headers[:9]]
    else:
        raise TableError(f'{path} has no row of numbers; name a table of joint states')
    count = len(cells)
    numbers = [str(number + 1) for number in range(count)]
    fits = [
        [cell or number for cell, number in zip(each, numbers, strict=True)]
        for each in headers if len(each) == count and not all(map(UNIT.match, each))
    ]
    header = next((each for each in fits if len({*each}) == count), fits[0] if fits else numbers)
    if twice := [name for k, name in enumerate(header) if name in header[:k]]:
        raise TableError(f'{path} has two columns {brief(twice[0])}; give each its own name')

    def read(names: Sequence[str]) -> dict[str, Array]:
        places = [header.index(name) for name in names]
        values = array('d')
        for number, line in lines():
            row = _cells(line, separator)
            if number < first or not row or line.startswith(COMMENT):
                continue
            try:
                if len(row) != count:
                    raise ValueError(f'has {len(row)} cells, not {count} as line {first}')
                cells = [row[place] for place in places]
                values.extend([float('nan' if c.lower() in EMPTY else c) for c in cells])
            except ValueError as error:
                text, way = one_line(error), 'correct or delete this line'
                if DATE.search(text):
                    way = 'dates as time: --table rate=HZ'
                raise TableError(f'{path}, line {number}: {text}; {way}') from error
        return dict(zip(names, np.frombuffer(values).reshape(-1, len(names)).T, strict=True))

    return Table(dict.fromkeys(header, 0), read)


def _cells(line: str, separator: str | None) -> list[str]:
    """Return the cells of a line; semicolons stand between numbers with a decimal comma."""
    plain = line.replace(',', '.') if separator == ';' else line
    return [cell.strip() for cell in plain.split(separator)] if line.strip() else []


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _npz(path: Path) -> Table:
    try:
        with np.load(path, allow_pickle=False) as file:
            return _of_arrays({name: file[name] for name in file.files})
    except ValueError as error:
        raise TableError(f'{path} holds no plain arrays: {one_line(error)}; save arrays of '
                         'numbers with numpy.savez') from error  # fmt: skip


def _mat(path: Path) -> Table:
    require_scipy()
    from scipy.io import loadmat

    try:
        return _of_arrays(loadmat(path, simplify_cells=True))
    except NotImplementedError as error:
        raise TableError(
            f"{path} is a MATLAB file of version 7.3, which is not read; save it in MATLAB with "
            "save(..., '-v7')"
        ) from error


def _of_arrays(given: Mapping[str, Any]) -> Table:
    """Return the table of arrays, with rows of samples; those of structs have dots in the name."""
    arrays: dict[str, Array] = {}
    labels: Sequence[str] = ()
    for name, value in _flat(given):
        values = np.squeeze(np.asarray(value))
        if values.dtype.kind in 'US' and values.ndim == 1:
            labels = [str(label).strip() for label in values]
        elif values.dtype.kind in 'biuf' and values.ndim in (1, 2):
            arrays[name] = values.T if values.shape[-1] > len(values) else values
    widths = {name: values.shape[1] if values.ndim > 1 else 0 for name, values in arrays.items()}
    return Table(
        widths, lambda names: {name: arrays[name].astype(np.float64) for name in names},
        dict.fromkeys(widths, labels)
    )


def _flat(given: Mapping[str, Any], prefix: str = '') -> Iterator[tuple[str, Any]]:
    for name, value in given.items():
        if isinstance(value, dict):
            yield from _flat(value, f'{prefix}{name}.')
        elif not name.startswith('__'):
            yield prefix + name, value


def _parquet(*paths: Path) -> Table:
    try:
        from pyarrow import types
        from pyarrow.parquet import ParquetDataset
    except ImportError as error:
        raise TableError('reading Parquet needs pyarrow: pip install pyarrow') from error
    data = ParquetDataset([*map(str, paths)], partitioning=None)
    first = data.fragments[0].head(1)
    numeric = (types.is_integer, types.is_floating, types.is_timestamp)
    widths = {}
    for entry in data.schema if len(first) else ():
        is_list = hasattr(entry.type, 'value_field')
        kind = entry.type.value_type if is_list else entry.type
        if any(is_numeric(kind) for is_numeric in numeric):
            widths[entry.name] = len(first[entry.name][0]) if is_list else 0

    def read(names: Sequence[str]) -> dict[str, Array]:
        table, arrays = data.read(columns=[*names], use_threads=False), {}
        for name in names:
            parts = [each.flatten() if widths[name] else each for each in table[name].chunks]
            flat = np.concatenate([part.to_numpy(zero_copy_only=False) for part in parts])
            arrays[name] = flat.astype(np.float64).reshape(len(table), *[-1] * bool(widths[name]))
        return arrays

    return Table(widths, read)


def _data_set(path: Path) -> Table:
    """Return the table of a LeRobot data set of version 2 or 3, with rows of all episodes."""
    info = json.loads(read_regular(path / INFO, MAX_INFO))
    features = info.get('features') if isinstance(info, dict) else None
    if not isinstance(features, dict):
        raise TableError(f'{path / INFO} names no features; name the folder of a LeRobot data set')
    labels = {}
    for name, feature in features.items():
        given = feature.get('names') if isinstance(feature, dict) else None
        given = next(iter(given.values())) if isinstance(given, dict) and given else given
        if isinstance(given, list):
            labels[name] = [*map(str, given)]
    paths = sorted(path.glob('data/chunk-*/*.parquet'))
    if not paths:
        raise TableError(f'{path} has no file data/chunk-*/*.parquet; download the whole data set')
    rate = info.get('fps')
    if not isinstance(rate, int | float):
        raise TableError(f'{path / INFO}: fps is {brief(rate)}, not a number')
    return replace(_parquet(*paths), labels=labels, rate=float(rate))


READERS: Mapping[str, Callable[[Path], Table]] = {
    '.csv': _text, '.tsv': _text, '.txt': _text, '.npz': _npz, '.mat': _mat, '.parquet': _parquet,
}
