# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Recorded joint states as arrays."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product
import math
from pathlib import Path
import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array, Indices, real_array
from ..errors import RneaError, clipped
from .bags import MESSAGE_TYPE, open_bag, stamp_or_receipt

MAX_VALUE = 1e9  # greatest recorded number, SI units; the square of a larger one overflows
MAX_FACTOR = 1e6  # greatest factor of efforts, or its inverse; that of the node's parameter

# Least length of a gap, in median sample intervals. A repeated or lost sample makes an interval of
# two, a stalled recorder one of many.
GAP_INTERVALS = 5.0

MIN_GAP = 0.03  # shorter silence is not a gap, s: a spline bridges it at the usual cut-off


COLUMNS = ('time', 'position', 'velocity', 'effort')


class RecordingError(RneaError):
    """Recorded joint states lack what is needed."""


@dataclass(frozen=True)
class Sample:
    """One joint state."""

    time: float  # header stamp, or time of receipt without a stamp, s
    names: tuple[str, ...]
    position: Sequence[float]  # rad or m
    velocity: Sequence[float]  # rad/s or m/s; may be empty
    effort: Sequence[float]  # N m or N, or the driver's unit as recorded; may be empty


@dataclass(frozen=True, init=False)
class Recording:
    """
    Joint states of n joints at N times.

    :param names: of the joints
    :param time: increasing, shape (N,), s
    :param position: shape (N, n), rad or m
    :param velocity: shape (N, n), rad/s or m/s; None if not recorded
    :param effort: shape (N, n), N m or N; None if not recorded, NaN in all rows of a joint without
    :param notes: flaws and omitted samples, one sentence each
    :param raw: as of a driver; flawed samples are left out later, with a note, not rejected now
    :raises RecordingError: an array, its row and the way out
    """

    names: tuple[str, ...]
    time: Array
    position: Array
    velocity: Array  # NaN where not recorded
    effort: Array  # NaN where not recorded
    notes: tuple[str, ...]
    raw: bool

    def __init__(
        self, names: Sequence[str], time: ArrayLike, position: ArrayLike,
        velocity: ArrayLike | None = None, effort: ArrayLike | None = None,
        notes: Sequence[str] = (), raw: bool = False,
    ) -> None:
        given = {'time': time, 'position': position, 'velocity': velocity, 'effort': effort}
        arrays = {name: real_array(name, values)
                  for name, values in given.items() if values is not None}  # fmt: skip
        shape = (arrays['time'].size, len(names))
        if not raw:
            _check_arrays(names, arrays)
        for name in ('velocity', 'effort'):
            arrays.setdefault(name, np.full(shape, np.nan))
        own = {'names': tuple(names), **arrays, 'notes': tuple(notes), 'raw': raw}
        for name, value in own.items():
            object.__setattr__(self, name, value)

    @cached_property
    def segment(self) -> Indices:
        """Number of the part without gaps of each sample, shape (N,); of increasing times."""
        interval = np.diff(self.time)
        gaps = interval > max(GAP_INTERVALS * np.median(interval), MIN_GAP)
        return np.concatenate([[0], np.cumsum(gaps)])

    def parts(self) -> Iterator[slice]:
        """Yield the parts without gaps."""
        edges = np.flatnonzero(np.diff(self.segment)) + 1
        for start, stop in pairwise([0, *edges.tolist(), len(self.time)]):
            yield slice(start, stop)

    def part(self, which: Any, *notes: str) -> Recording:
        """Return some samples, by a slice, a mask or numbers, and additional notes."""
        rows = {name: getattr(self, name)[which] for name in COLUMNS}
        return replace(self, notes=(*self.notes, *notes), **rows)

    def of_joints(self, names: Sequence[str]) -> Recording:
        """Return the recording of some joints, in the given order."""
        if tuple(names) == self.names:
            return self
        columns = [self.names.index(name) for name in names]
        return replace(
            self, names=tuple(names), position=self.position[:, columns],
            velocity=self.velocity[:, columns], effort=self.effort[:, columns]
        )

    def with_scaled_effort(self, factor: ArrayLike) -> Recording:
        """Return the recording with efforts scaled by one number, or one per joint, shape (n,)."""
        return replace(self, effort=self.effort * np.asarray(factor, dtype=np.float64))


def unusable(values: Array) -> NDArray[np.bool_]:
    """Return which numbers are unknown: NaN, infinite or too large."""
    return ~(np.abs(values) <= MAX_VALUE)


def _check_arrays(names: Sequence[str], arrays: Mapping[str, Array]) -> None:
    """Raise an error for a wrong shape, or the first row that is not finite or not later."""
    shape = (arrays['time'].size, len(names))
    for name, values in arrays.items():
        required = shape[:1] if name == 'time' else shape
        if values.shape != required:
            raise RecordingError(
                f'{name} has shape {values.shape}, not {required}: one row for each of '
                f'{shape[0]} times, one column for each of {shape[1]} names; transpose it, '
                'or cut all arrays to one length'
            )
    if len(set(names)) < len(names):
        raise RecordingError(f'names: {", ".join(names)} has a name twice; give each its own')
    way_out = 'leave this row out of all arrays, or set raw=True, which does so with a note'
    for quantity, values in arrays.items():
        for number, column in enumerate(np.atleast_2d(values.T)):
            unknown = unusable(column)
            absent = quantity in {'velocity', 'effort'} and np.isnan(column).all()
            if unknown.any() and not absent:
                row = int(unknown.argmax())
                of = f' of {names[number]}' if values.ndim > 1 else ''
                raise RecordingError(f'{quantity}{of}, row {row}: {column[row]} is not a finite '
                                     f'number up to {MAX_VALUE:g}; {way_out}')  # fmt: skip
    later = np.diff(arrays['time']) > 0.0
    if not later.all():
        row = int(later.argmin()) + 1
        before, time = arrays['time'][row - 1 : row + 1].tolist()
        raise RecordingError(f'time, row {row}: {time} s is not after {before} s; {way_out}')


def usable_factor(factor: float) -> bool:
    """Return whether efforts can be multiplied by a factor, of either sign."""
    return 1.0 / MAX_FACTOR <= abs(factor) <= MAX_FACTOR


def recording_from(samples: Iterable[Sample]) -> Recording:
    """
    Return samples, in the order of receipt, as arrays.

    Samples with different sets of joints come from different publishers: the largest set is kept.

    :raises RecordingError: no sample, or no sample with one position per joint
    """
    # Names, and time, position, velocity and effort as numbers only: a recording may have an hour.
    groups: dict[frozenset[str], tuple[tuple[str, ...], list[array[float]]]] = {}
    misshapen = count = 0
    for sample in samples:
        count += 1
        n = len(sample.names)
        rows = (sample.position, sample.velocity, sample.effort)
        sizes = [len(row) for row in rows]
        if sizes[0] != n or not set(sizes) <= {0, n} or len(set(sample.names)) != n:
            misshapen += 1
            continue
        key = frozenset(sample.names)
        if key not in groups:
            groups[key] = sample.names, [array('d') for _ in range(4)]
        names, (times, *columns) = groups[key]
        times.append(sample.time)
        order = None if sample.names == names else [sample.names.index(name) for name in names]
        for column, row in zip(columns, rows, strict=True):
            values = [math.nan] * n if not len(row) else row
            column.extend(values if order is None else [values[place] for place in order])
    if not count:
        raise RecordingError('no joint states')
    names, (times, *columns) = max(
        groups.values(), key=lambda group: (len(group[0]), len(group[1][0])),
        default=((), [array('d')])
    )
    if not names:
        raise RecordingError(f'none of {count} joint states has a position for every name')
    notes = []
    if misshapen:
        notes.append(f'{misshapen} joint states had arrays of wrong length or duplicate names')
    if others := count - misshapen - len(times):
        notes.append(f'{others} joint states of other joints were ignored')
    recorded = [np.frombuffer(column).reshape(len(times), len(names)) for column in columns]
    for each in (each for table in recorded for each in table.T):
        each[unusable(each)] = math.nan
    position, velocity, effort = recorded
    time = np.frombuffer(times)
    return Recording([*map(clipped, names)], time, position, velocity, effort, notes, raw=True)


def samples_from(recording: Recording) -> Iterator[Sample]:
    """Yield a recording as joint states."""
    columns = (recording.time, recording.position, recording.velocity, recording.effort)
    for time, *rows in zip(*columns, strict=True):
        yield Sample(float(time), recording.names, *rows)


def read_joint_states(bag: Path, topic: str | None = None) -> Iterator[Sample]:
    """
    Yield the joint states of a bag in the order of receipt; the first has time 0.

    :param bag: directory of a ROS 2 bag, or a file: ``.db3``, ``.mcap``, or ``.bag`` of ROS 1
    :param topic: the recorded topic; None for the only one with joint states
    :raises BagError: no bag, no such topic, several topics and none given, unreadable message
    """
    with open_bag(bag) as opened:
        chosen = opened.topic_with(MESSAGE_TYPE, 'joint states', topic)
        first: float | None = None
        for _, received, message in opened.messages([chosen]):
            time = stamp_or_receipt(message.header, received)
            first = time if first is None else first
            yield Sample(
                time - first, tuple(message.name), message.position, message.velocity,
                message.effort
            )


def match_joints(
    model: Sequence[str], recorded: Sequence[str], given: Mapping[str, str] | None = None
) -> dict[str, str]:
    """
    Return recorded names by model names, in the model's order; joints not recorded are left out.

    Given pairs, recorded names by model names, come first, then equal names. If no names are
    equal, names may differ by one common prefix, as in ``panda_joint1`` and ``fer_joint1``.

    :raises RecordingError: a given name is unknown or used twice, or no joint matches
    """
    given = given or {}
    for name, other in given.items():
        if name not in model:
            raise RecordingError(f'the model has no joint {name!r}; it has {", ".join(model)}')
        if other not in recorded:
            raise RecordingError(
                f'joint {other!r} is not recorded; recorded are {", ".join(recorded)}'
            )
    equal = {name: name for name in model if name in recorded}
    names = {**(equal or {} if given else equal or _by_prefix(model, recorded)), **given}
    if len(set(names.values())) < len(names):
        pairs = ', '.join(f'{name}={other}' for name, other in names.items())
        raise RecordingError(f'a recorded joint is assigned twice: {pairs}')
    if not names:
        raise RecordingError(
            f'no recorded joint ({", ".join(recorded)}) has the name of a model joint '
            f'({", ".join(model)}); give the pairs with --joints MODEL=RECORDED, or of a table '
            '--table joints=NAME,NAME'
        )
    return {name: names[name] for name in model if name in names}


def _by_prefix(model: Sequence[str], recorded: Sequence[str]) -> dict[str, str]:
    """Return the match of most joints by exchange of one prefix; empty if it is ambiguous."""
    # The empty prefix, and all that end in ``_`` or ``/``
    olds, news = (
        {name[: match.end()] for name in names for match in re.finditer('^|[_/]', name)}
        for names in (model, recorded)
    )
    matches: list[dict[str, str]] = []
    for old, new in product(olds, news):
        pairs = {name: new + name[len(old) :] for name in model if name.startswith(old)}
        pairs = {name: other for name, other in pairs.items() if other in recorded}
        if pairs not in matches:
            matches.append(pairs)
    most = max(map(len, matches), default=0)
    best = [pairs for pairs in matches if len(pairs) == most]
    return best[0] if len(best) == 1 else {}
