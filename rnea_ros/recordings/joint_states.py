# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Recorded joint states as arrays."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
import math
from pathlib import Path
import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, Indices
from ..errors import RneaError, clipped
from .bags import MESSAGE_TYPE, open_bag, stamp_or_receipt

MAX_VALUE = 1e9  # greatest recorded number, SI units; the square of a larger one overflows
MAX_FACTOR = 1e6  # greatest factor of efforts, or its inverse; that of the node's parameter

# Least length of a gap, in median sample intervals. A repeated or lost sample makes an interval of
# two, a stalled recorder one of many.
GAP_INTERVALS = 5.0

MIN_GAP = 0.03  # shorter silence is not a gap, s: a spline bridges it at the usual cut-off


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


@dataclass(frozen=True)
class Recording:
    """Joint states of n joints, as recorded."""

    names: tuple[str, ...]
    time: Array  # shape (N,), s
    position: Array  # shape (N, n), rad or m
    velocity: Array  # shape (N, n), rad/s or m/s; NaN where not recorded
    effort: Array  # shape (N, n), N m or N; NaN where not recorded
    notes: tuple[str, ...] = ()  # flaws and omitted samples, one sentence each

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
        return Recording(
            self.names, self.time[which], self.position[which], self.velocity[which],
            self.effort[which], (*self.notes, *notes)
        )

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


def usable_factor(factor: float) -> bool:
    """Return whether efforts can be multiplied by a factor, of either sign."""
    return 1.0 / MAX_FACTOR <= abs(factor) <= MAX_FACTOR


def recording_from(samples: Iterable[Sample]) -> Recording:
    """
    Return samples, in the order of receipt, as arrays.

    Samples with different sets of joints come from different publishers: the largest set is kept.

    :raises RecordingError: no sample, or no sample with one position per joint
    """
    groups: dict[frozenset[str], _Columns] = {}
    misshapen = count = 0
    for sample in samples:
        count += 1
        n = len(sample.names)
        sizes = len(sample.velocity), len(sample.effort)
        if len(sample.position) != n or not set(sizes) <= {0, n} or len(set(sample.names)) != n:
            misshapen += 1
            continue
        key = frozenset(sample.names)
        if key not in groups:
            groups[key] = _Columns(sample.names)
        groups[key].append(sample)
    if not count:
        raise RecordingError('no joint states')
    chosen = max(groups.values(), key=lambda group: (len(group.names), len(group)), default=None)
    if chosen is None or not chosen.names:
        raise RecordingError(f'none of {count} joint states has a position for every name')
    notes = []
    if misshapen:
        notes.append(f'{misshapen} joint states had arrays of wrong length or duplicate names')
    others = count - misshapen - len(chosen)
    if others:
        notes.append(f'{others} joint states of other joints were ignored')
    return chosen.recording(notes)


class _Columns:
    """Joint states of the same joints, in memory as numbers only."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self._orders: dict[tuple[str, ...], list[int]] = {}
        self._missing = [math.nan] * len(names)
        self._time, self._position, self._velocity, self._effort = (array('d') for _ in range(4))

    def __len__(self) -> int:
        return len(self._time)

    def append(self, sample: Sample) -> None:
        """Append a sample with these joints in any order."""
        self._time.append(sample.time)
        for column, values in (
            (self._position, sample.position),
            (self._velocity, sample.velocity),
            (self._effort, sample.effort),
        ):
            column.extend(self._in_order(sample.names, values) if len(values) else self._missing)

    def _in_order(self, names: tuple[str, ...], values: Sequence[float]) -> Sequence[float]:
        if names == self.names:
            return values
        if names not in self._orders:
            self._orders[names] = [names.index(name) for name in self.names]
        return [values[place] for place in self._orders[names]]

    def recording(self, notes: Iterable[str]) -> Recording:
        """Return the samples as arrays; NaN stands for infinite and too large numbers."""
        shape = (len(self), len(self.names))
        position, velocity, effort = (
            np.frombuffer(column).reshape(shape)
            for column in (self._position, self._velocity, self._effort)
        )
        time = np.frombuffer(self._time)
        for column in (*position.T, *velocity.T, *effort.T):
            column[~(np.abs(column) <= MAX_VALUE)] = math.nan
        names = tuple(map(clipped, self.names))
        return Recording(names, time, position, velocity, effort, tuple(notes))


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
            f'({", ".join(model)}); give the pairs with --joints MODEL=RECORDED'
        )
    return {name: names[name] for name in model if name in names}


def _by_prefix(model: Sequence[str], recorded: Sequence[str]) -> dict[str, str]:
    """Return the match of most joints by exchange of one prefix; empty if it is ambiguous."""
    best: dict[str, str] = {}
    rivals = 0
    for old in sorted({prefix for name in model for prefix in _prefixes(name)}):
        for new in sorted({prefix for name in recorded for prefix in _prefixes(name)}):
            pairs = {
                name: new + name[len(old) :]
                for name in model
                if name.startswith(old) and new + name[len(old) :] in recorded
            }
            if pairs == best:
                continue
            if len(pairs) > len(best):
                best, rivals = pairs, 0
            elif len(pairs) == len(best):
                rivals += 1
    return {} if rivals else best


def _prefixes(name: str) -> list[str]:
    """Return the prefixes of a name: the empty one, and all that end in ``_`` or ``/``."""
    return ['', *(name[: match.end()] for match in re.finditer(r'[_/]', name))]
