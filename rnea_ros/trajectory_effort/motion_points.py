# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The points of a trajectory, with more points between them.

In: a compiled trajectory. Out: points no further apart than a period.

Added points do not change the motion: a controller that interpolates as ros2_control's
joint_trajectory_controller (JTC) does follows the same polynomials with them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..feedforward.trajectory import LINEAR, States, Trajectory, states_in

SAMPLE_PERIOD = 0.02
"""Time between samples in an interval between two points, s."""

MAX_SAMPLES = 20
"""Greatest number of samples in one interval."""


def number_of_points(trajectory: Trajectory, period: float) -> int:
    """
    Return the number of points with no two of them further apart than a period.

    :param trajectory: trajectory of the commanded joints
    :param period: longest time between two points, s; 0 for the given points only
    """
    return 1 + int(_parts(np.diff(trajectory.knots.times), period).sum())


class MotionPoints:
    """
    The points of a trajectory as arrays, joints in the controller's order.

    An *interval* is the time between two of these points, a *segment* that between two given
    points: a segment has one or more intervals.

    :param trajectory: trajectory of the commanded joints
    :param period: longest time between two points, s; 0 for the given points only
    :ivar times: seconds from the start, shape (points,)
    :ivar positions: shape (points, joints), rad or m
    :ivar velocities: shape (points, joints), rad/s or m/s
    :ivar accelerations: shape (points, joints), rad/s^2 or m/s^2
    :ivar degrees: fields to send, shape (points,): LINEAR positions only; CUBIC velocities too;
        QUINTIC accelerations too
    :ivar own_efforts: efforts of the trajectory's own, shape (points, joints), N m or N; 0 at the
        last point
    """

    def __init__(self, trajectory: Trajectory, period: float) -> None:
        knots = trajectory.knots
        self._trajectory = trajectory
        durations = np.diff(knots.times)
        parts = _parts(durations, period)
        # For each interval: its segment, and its begin and end as shares of the segment.
        self._segment = np.repeat(np.arange(durations.size), parts)
        part = np.arange(self._segment.size) - np.repeat(np.cumsum(parts) - parts, parts)
        self._begin = part / parts[self._segment]
        self._end = (part + 1) / parts[self._segment]
        is_knot = part == 0
        starts = knots.times[self._segment]
        times = np.where(is_knot, starts, starts + self._begin * durations[self._segment])
        self.times = np.append(times, knots.times[-1])
        last = knots.positions.shape[0] - 1
        at_knot = np.append(np.where(is_knot, self._segment, -1), last)
        computed = self.at_start
        given = (knots.positions, knots.velocities, knots.accelerations)
        self.positions, self.velocities, self.accelerations = (
            _merged(values, knot_values, at_knot)
            for values, knot_values in zip(computed, given, strict=True)
        )
        inner = np.minimum(knots.degrees[:-1], knots.degrees[1:])
        segment_degrees = np.append(inner[self._segment], LINEAR)
        self.degrees = np.where(at_knot >= 0, knots.degrees[at_knot], segment_degrees)
        self.own_efforts = np.zeros_like(self.positions)
        if knots.efforts is not None:
            share, own = self._begin[:, np.newaxis], knots.efforts
            before, after = own[self._segment], own[self._segment + 1]
            self.own_efforts[:-1] = (1.0 - share) * before + share * after

    @property
    def at_start(self) -> States:
        """The state at the start of each interval, by the polynomial of that interval."""
        return states_in(self._trajectory, self._segment, self._begin)

    @property
    def at_end(self) -> States:
        """The state at the end of each interval, by the polynomial of that interval."""
        return states_in(self._trajectory, self._segment, self._end)

    @property
    def beside_given(self) -> tuple[NDArray[np.intp], Array]:
        """
        Both sides of each given point, where two polynomials meet and efforts may jump.

        :returns: index of the interval, shape (N,); share of the interval, 0 or 1, shape (N,)
        """
        begins, ends = np.flatnonzero(self._begin == 0.0), np.flatnonzero(self._end == 1.0)
        share = np.repeat((0.0, 1.0), (begins.size, ends.size))
        return np.concatenate((begins, ends)), share

    def between(self, interval: NDArray[np.intp], share: Array) -> States:
        """
        Return states in intervals.

        :param interval: index of the interval, shape (N,)
        :param share: share of the interval, 0 to 1, shape (N,)
        """
        begin, end = self._begin[interval], self._end[interval]
        s = begin + share * (end - begin)
        return states_in(self._trajectory, self._segment[interval], s)


def samples_between(times: Array) -> tuple[NDArray[np.intp], Array]:
    """
    Return times of samples between points.

    :param times: times of the points, s, shape (points,)
    :returns: index of the interval, shape (N,); share of the interval, above 0 and below 1,
        shape (N,)
    """
    counts = np.clip(np.ceil(np.diff(times) / SAMPLE_PERIOD), 2, MAX_SAMPLES + 1) - 1
    counts = counts.astype(np.intp)
    interval = np.repeat(np.arange(counts.size), counts)
    number = np.arange(interval.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return interval, (number + 1) / (counts[interval] + 1)


def _parts(durations: Array, period: float) -> NDArray[np.intp]:
    """Return the number of intervals of each segment."""
    if period == 0.0:
        return np.ones(durations.size, dtype=np.intp)
    # A remainder from rounding makes no interval of its own.
    return np.maximum(np.ceil(durations / period - 1e-6), 1.0).astype(np.intp)


def _merged(computed: Array, knot_values: Array, at_knot: NDArray[np.intp]) -> Array:
    """Return values of all points: given values at given points, else computed ones."""
    values = np.vstack((computed, knot_values[-1:]))
    given = at_knot >= 0
    values[given] = knot_values[at_knot[given]]
    return values
