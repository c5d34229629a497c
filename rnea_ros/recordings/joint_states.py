# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Recorded joint states as arrays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import RneaError
from .bags import open_bag, stamp_or_receipt


class RecordingError(RneaError):
    """Recorded joint states lack what is needed."""


@dataclass(frozen=True)
class Sample:
    """
    One joint state.

    :param time: header stamp, or time of receipt without a stamp, s
    :param position: rad or m
    :param velocity: rad/s or m/s; may be empty
    :param effort: N m or N; may be empty
    """

    time: float
    names: tuple[str, ...]
    position: Sequence[float]
    velocity: Sequence[float]
    effort: Sequence[float]


@dataclass(frozen=True)
class Recording:
    """
    Joint states of n joints, as recorded.

    :param names: joint names
    :param time: shape (N,), s
    :param position: shape (N, n), rad or m
    :param velocity: shape (N, n), rad/s or m/s; NaN where not recorded
    :param effort: shape (N, n), N m or N; NaN where not recorded
    :param notes: flaws and omitted samples, one sentence each
    """

    names: tuple[str, ...]
    time: Array
    position: Array
    velocity: Array
    effort: Array
    notes: tuple[str, ...] = ()

    def part(self, which: Any, *notes: str) -> Recording:
        """
        Return some of the samples.

        :param which: index of the samples: a slice, a mask or numbers
        :param notes: additional notes
        """
        return Recording(
            self.names,
            self.time[which],
            self.position[which],
            self.velocity[which],
            self.effort[which],
            (*self.notes, *notes),
        )

    def of_joints(self, names: Sequence[str]) -> Recording:
        """Return the recording of some joints, in the given order."""
        columns = [self.names.index(name) for name in names]
        return replace(
            self,
            names=tuple(names),
            position=self.position[:, columns],
            velocity=self.velocity[:, columns],
            effort=self.effort[:, columns],
        )

    def with_scaled_effort(self, factor: ArrayLike) -> Recording:
        """
        Return the recording with scaled efforts.

        :param factor: one number, or one per joint, shape (n,); -1 for a robot with inverted signs
        """
        return replace(self, effort=self.effort * np.asarray(factor, dtype=np.float64))


def recording_from(samples: Iterable[Sample]) -> Recording:
    """
    Return samples as arrays.

    Samples with different sets of joints come from different publishers: the largest set is kept.

    :param samples: joint states in the order of receipt
    :raises RecordingError: no sample, or no sample with one position per joint
    """
    groups: defaultdict[frozenset[str], list[Sample]] = defaultdict(list)
    misshapen = count = 0
    for sample in samples:
        count += 1
        n = len(sample.names)
        sizes = len(sample.velocity), len(sample.effort)
        if len(sample.position) != n or not set(sizes) <= {0, n} or len(set(sample.names)) != n:
            misshapen += 1
        else:
            groups[frozenset(sample.names)].append(sample)
    if not count:
        raise RecordingError('no joint states')
    chosen = max(groups.items(), key=lambda item: (len(item[0]), len(item[1])), default=None)
    if chosen is None or not chosen[0]:
        raise RecordingError(f'none of {count} joint states has a position for every name')
    kept = chosen[1]
    names = kept[0].names
    notes = []
    if misshapen:
        notes.append(f'{misshapen} joint states had arrays of wrong length or duplicate names')
    others = count - misshapen - len(kept)
    if others:
        notes.append(f'{others} joint states of other joints were ignored')
    orders: dict[tuple[str, ...], list[int]] = {}

    def row(sample: Sample, values: Sequence[float]) -> Array:
        if not len(values):
            return np.full(len(names), np.nan)
        if sample.names not in orders:
            orders[sample.names] = [sample.names.index(name) for name in names]
        return np.asarray(values, dtype=np.float64)[orders[sample.names]]

    return Recording(
        names,
        np.array([sample.time for sample in kept]),
        np.array([row(sample, sample.position) for sample in kept]),
        np.array([row(sample, sample.velocity) for sample in kept]),
        np.array([row(sample, sample.effort) for sample in kept]),
        tuple(notes),
    )


def read_joint_states(bag: Path, topic: str | None = None) -> Iterator[Sample]:
    """
    Yield the joint states of a bag in the order of receipt; the first has time 0.

    :param bag: directory of a ROS 2 bag, or a file: ``.db3``, ``.mcap``, or ``.bag`` of ROS 1
    :param topic: the recorded topic; None for the only one with joint states
    :raises BagError: no bag, no such topic, several topics and none given, unreadable message
    """
    with open_bag(bag) as opened:
        chosen = opened.topic_with('sensor_msgs/msg/JointState', 'joint states', topic)
        first: float | None = None
        for _, received, message in opened.messages([chosen]):
            time = stamp_or_receipt(message.header, received)
            first = time if first is None else first
            yield Sample(
                time - first,
                tuple(message.name),
                message.position,
                message.velocity,
                message.effort,
            )
