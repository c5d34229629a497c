# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A desired motion as it was asked for: plain data, not yet checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array

Values: TypeAlias = Sequence[float] | Array


@dataclass(frozen=True)
class TrajectoryPoint:
    """
    One point of a request, the fields as in ``trajectory_msgs/JointTrajectoryPoint``.

    An empty field is absent. The others have one value for each of the request's joints.

    :param time: seconds from the start of the trajectory
    :param positions: rad or m
    :param velocities: rad/s or m/s
    :param accelerations: rad/s^2 or m/s^2
    :param efforts: N m or N, a feedforward of the user's own
    """

    time: float
    positions: Values
    velocities: Values = ()
    accelerations: Values = ()
    efforts: Values = ()


class Column(NamedTuple):
    """
    One field of all points.

    :param values: those of the first point, then those of the second and so on, shape (values,)
    :param counts: how many values each point has, shape (points,); 0 where the field is absent
    """

    values: Array
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, rows: Sequence[Values]) -> Column:
        """Return a column with a copy of the values of each point."""
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
    A desired motion, field by field: thousands of points are read without a loop over them.

    :param joint_names: the joints of every point's values, in any order
    :param times: seconds from the start, shape (points,); no points at all cancel the motion in
        force
    :param positions: rad or m
    :param velocities: rad/s or m/s
    :param accelerations: rad/s^2 or m/s^2
    :param efforts: N m or N
    :param start_time: seconds in the clock of whoever compiles it, or ``None`` (a stamp of 0):
        the trajectory starts when it is first sampled
    """

    joint_names: tuple[str, ...]
    times: Array
    positions: Column
    velocities: Column
    accelerations: Column
    efforts: Column
    start_time: float | None = None

    @classmethod
    def of_points(
        cls,
        joint_names: tuple[str, ...],
        points: Sequence[TrajectoryPoint],
        start_time: float | None = None,
    ) -> TrajectoryRequest:
        """
        Return the request for a motion that is given point by point; the values are copied.

        :param joint_names: see the class
        :param points: in order of time
        :param start_time: see the class
        """
        return cls(
            joint_names,
            np.array([point.time for point in points], dtype=np.float64),
            Column.of([point.positions for point in points]),
            Column.of([point.velocities for point in points]),
            Column.of([point.accelerations for point in points]),
            Column.of([point.efforts for point in points]),
            start_time,
        )

    @property
    def is_cancel(self) -> bool:
        """
        Whether this asks to drop the motion in force and hold, rather than for a motion.

        JTC refuses a trajectory without points from its topic.
        """
        return self.times.size == 0

    @property
    def is_setpoint(self) -> bool:
        """Whether this is one point at time 0, as streamed by who has no trajectory to send."""
        return self.times.size == 1 and bool(self.times[0] == 0.0)
