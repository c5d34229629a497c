# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A JointTrajectory message as plain data, not yet checked.

In: the fields of the message, field by field or point by point. Out: :class:`TrajectoryRequest`,
the input of :mod:`.parse`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array

Values: TypeAlias = Sequence[float] | Array

FIELDS = ('positions', 'velocities', 'accelerations', 'efforts')
"""Fields of a point with a value per joint, in their order."""


@dataclass(frozen=True)
class TrajectoryPoint:
    """
    One point of a request, with the fields of ``trajectory_msgs/JointTrajectoryPoint``.

    An empty field is absent. Every other field has one value per joint of the request, in rad or
    m, and s, or N m or N. The time is that from the start of the trajectory, the efforts are the
    user's own feedforward.
    """

    time: float
    positions: Values
    velocities: Values = ()
    accelerations: Values = ()
    efforts: Values = ()


class Header(NamedTuple):
    """The header of a message as received, for messages made from it."""

    seconds: int = 0
    nanoseconds: int = 0
    frame_id: str = ''


_NO_HEADER = Header()


class Column(NamedTuple):
    """
    One field (positions, velocities, ...) of all points.

    :param values: values of the first point, then of the second and so on, shape (values,)
    :param counts: number of values of each point, shape (points,); 0 where the field is absent
    """

    values: Array
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, rows: Sequence[Values]) -> Column:
        """Return a column with copies of the values, one row per point."""
        values = np.fromiter(chain.from_iterable(rows), dtype=np.float64)
        return cls(values, np.array([len(row) for row in rows], dtype=np.int64))

    def of_point(self, point: int) -> list[float]:
        """Return the values of one point."""
        end = int(self.counts[: point + 1].sum())
        values: list[float] = self.values[end - int(self.counts[point]) : end].tolist()
        return values


@dataclass(frozen=True, eq=False)
class TrajectoryRequest:
    """
    A requested trajectory. Fields are arrays, so that thousands of points need no Python loop.

    Fields have one value per joint and point, in rad or m, and s, or N m or N.

    :param joint_names: joints of the values of every point, in any order
    :param times: seconds from the start, shape (points,); empty to cancel the active trajectory
    :param start_time: header stamp, s; ``None`` for a stamp of 0, then the trajectory starts when
        it is first sampled
    """

    joint_names: tuple[str, ...]
    times: Array
    positions: Column
    velocities: Column
    accelerations: Column
    efforts: Column
    start_time: float | None = None
    header: Header = _NO_HEADER

    @classmethod
    def of_points(
        cls, joint_names: tuple[str, ...], points: Sequence[TrajectoryPoint],
        start_time: float | None = None,
    ) -> TrajectoryRequest:
        """Return the request with copies of these points, in order of time."""
        times = np.array([point.time for point in points], dtype=np.float64)
        positions, velocities, accelerations, efforts = (
            Column.of([getattr(point, field) for point in points]) for field in FIELDS
        )
        return cls(joint_names, times, positions, velocities, accelerations, efforts, start_time)

    @property
    def is_cancel(self) -> bool:
        """Whether there is no point: drop all motions, hold the position; JTC rejects it."""
        return self.times.size == 0

    @property
    def is_setpoint(self) -> bool:
        """Whether the request is a set-point: a single point at time 0."""
        return self.times.size == 1 and bool(self.times[0] == 0.0)
