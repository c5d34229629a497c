# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Recorded joint states: read from a bag without ROS, and held as arrays."""

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
    """Joint states were read, but there is not in them what is needed."""


@dataclass(frozen=True)
class Sample:
    """
    One joint state.

    :param time: of its header stamp, or of its receipt where it has none, s
    """

    time: float
    names: tuple[str, ...]
    position: Sequence[float]
    velocity: Sequence[float]
    effort: Sequence[float]


@dataclass(frozen=True)
class Recording:
    """
    Joint states of the same joints, as they came.

    :param names: the joints, n of them
    :param time: shape (N,), s
    :param position: shape (N, n), rad or m
    :param velocity: shape (N, n), rad/s or m/s; NaN where there is none
    :param effort: shape (N, n), N m or N; NaN where there is none
    :param notes: what was left out, one sentence each
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
        :param notes: what to say about it
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
        """Return the same of some joints, in their order."""
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
        Return the same with efforts multiplied: -1 for a robot that reports the reaction.

        :param factor: one number, or one a joint, shape (n,)
        """
        return replace(self, effort=self.effort * np.asarray(factor, dtype=np.float64))


def recording_from(samples: Iterable[Sample]) -> Recording:
    """
    Return samples as arrays; of several publishers, those of the one that sends most joints.

    :param samples: joint states in the order of their receipt
    :raises RecordingError: there is none, or none whose position has its length
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
        raise RecordingError('there is no joint state')
    chosen = max(groups.items(), key=lambda item: (len(item[0]), len(item[1])), default=None)
    if chosen is None or not chosen[0]:
        raise RecordingError(f'none of {count} joint states has a position for every name')
    kept = chosen[1]
    names = kept[0].names
    notes = []
    if misshapen:
        notes.append(f'{misshapen} joint states had arrays of a wrong length or a name twice')
    others = count - misshapen - len(kept)
    if others:
        notes.append(f'{others} joint states of other joints were left aside')
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
    Yield the joint states of a bag in their order; times count from the first one.

    :param bag: directory of a ROS 2 bag, or a file: ``.db3``, ``.mcap``, or ROS 1's ``.bag``
    :param topic: the recorded topic; None for the only one that carries joint states
    :raises BagError: no such file, no bag, not exactly one such topic, or a broken message
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
