# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The points of a motion, and more of them between.

Points that are added change nothing of it: they have the fields that make a controller that joins
points as ros2_control's joint_trajectory_controller does follow the same polynomials as without.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..feedforward.trajectory import (
    CUBIC,
    LINEAR,
    QUINTIC,
    Knots,
    Setpoint,
    States,
    Trajectory,
    states_in,
)

LOOK = 0.02
"""How often a motion is looked at between two points, s."""

MOST_LOOKS = 20
"""But no more often than so between two points."""


def number_of_points(motion: Trajectory | Setpoint, period: float) -> int:
    """
    Return how many points a motion has with none of them further apart than a period.

    :param motion: of the commanded joints
    :param period: s; 0 for its own points alone
    """
    if isinstance(motion, Setpoint):
        return 1
    return 1 + int(_parts(np.diff(motion.knots.times), period).sum())


class MotionPoints:
    """
    The points of a motion as arrays, joints in the controller's order.

    :param motion: of the commanded joints; a set-point is a motion of one point
    :param period: between two points at most, s; 0 for its own points alone
    :ivar times: seconds from the start, shape (points,)
    :ivar positions: shape (points, joints), rad or m
    :ivar velocities: likewise, rad/s or m/s
    :ivar accelerations: likewise, rad/s^2 or m/s^2
    :ivar degrees: shape (points,), see :mod:`.trajectory_knots`: a point of degree LINEAR is to
        be sent with positions alone, one of degree CUBIC without accelerations
    :ivar own_efforts: what the motion itself asks for, shape (points, joints), N m or N; 0 at the
        last point
    """

    def __init__(self, motion: Trajectory | Setpoint, period: float) -> None:
        trajectory = _as_trajectory(motion) if isinstance(motion, Setpoint) else motion
        knots = trajectory.knots
        self._trajectory = trajectory
        intervals = np.diff(knots.times)
        parts = _parts(intervals, period)
        # Of each interval between two points: its segment, and which part of it.
        self._segment = np.repeat(np.arange(intervals.size), parts)
        part = np.arange(self._segment.size) - np.repeat(np.cumsum(parts) - parts, parts)
        self._begin = part / parts[self._segment]
        self._end = (part + 1) / parts[self._segment]
        is_knot = part == 0
        starts = knots.times[self._segment]
        times = np.where(is_knot, starts, starts + self._begin * intervals[self._segment])
        self.times = np.append(times, knots.times[-1])
        last = knots.positions.shape[0] - 1
        at_knot = np.append(np.where(is_knot, self._segment, -1), last)
        computed = self.at_start
        given = (knots.positions, knots.velocities, knots.accelerations)
        self.positions, self.velocities, self.accelerations = (
            _merged(values, of_knots, at_knot)
            for values, of_knots in zip(computed, given, strict=True)
        )
        inner = np.minimum(knots.degrees[:-1], knots.degrees[1:])
        of_segments = np.append(inner[self._segment], LINEAR)
        self.degrees = np.where(at_knot >= 0, knots.degrees[at_knot], of_segments)
        self.own_efforts = np.zeros_like(self.positions)
        if knots.efforts is not None:
            share, own = self._begin[:, np.newaxis], knots.efforts
            before, after = own[self._segment], own[self._segment + 1]
            self.own_efforts[:-1] = (1.0 - share) * before + share * after

    @property
    def at_start(self) -> States:
        """The state where each interval between two points begins, by its own polynomial."""
        return states_in(self._trajectory, self._segment, self._begin)

    @property
    def at_end(self) -> States:
        """The state where each interval ends, by its own polynomial."""
        return states_in(self._trajectory, self._segment, self._end)

    @property
    def beside_given(self) -> tuple[NDArray[np.intp], Array]:
        """
        Where intervals begin or end at a given point: at the interval, and at which share of it.

        Polynomials meet there, and what they need may jump.
        """
        begins, ends = np.flatnonzero(self._begin == 0.0), np.flatnonzero(self._end == 1.0)
        share = np.repeat((0.0, 1.0), (begins.size, ends.size))
        return np.concatenate((begins, ends)), share

    def between(self, interval: NDArray[np.intp], share: Array) -> States:
        """
        Return states between points.

        :param interval: after which point, shape (N,)
        :param share: of the interval, 0 to 1, shape (N,)
        """
        begin, end = self._begin[interval], self._end[interval]
        s = begin + share * (end - begin)
        return states_in(self._trajectory, self._segment[interval], s)


def looks_between(times: Array) -> tuple[NDArray[np.intp], Array]:
    """
    Return where to look between points: at the interval, and at which share of it.

    :param times: of the points, s, shape (points,)
    """
    looks = np.clip(np.ceil(np.diff(times) / LOOK), 2, MOST_LOOKS + 1).astype(np.intp) - 1
    interval = np.repeat(np.arange(looks.size), looks)
    number = np.arange(interval.size) - np.repeat(np.cumsum(looks) - looks, looks)
    return interval, (number + 1) / (looks[interval] + 1)


def _parts(intervals: Array, period: float) -> NDArray[np.intp]:
    """Return into how many parts the time between two given points is divided."""
    if period == 0.0:
        return np.ones(intervals.size, dtype=np.intp)
    # What floats leave of a whole number of periods makes no part of its own.
    return np.maximum(np.ceil(intervals / period - 1e-6), 1.0).astype(np.intp)


def _merged(computed: Array, of_knots: Array, at_knot: NDArray[np.intp]) -> Array:
    """Return values of all points: those that were given where there are such."""
    values = np.vstack((computed, of_knots[-1:]))
    given = at_knot >= 0
    values[given] = of_knots[at_knot[given]]
    return values


def _as_trajectory(setpoint: Setpoint) -> Trajectory:
    degree = QUINTIC if setpoint.qdd.any() else CUBIC if setpoint.qd.any() else LINEAR
    q, qd, qdd = (state[np.newaxis].copy() for state in setpoint.state[:3])
    knots = Knots(np.zeros(1), q, qd, qdd, np.array([degree]))
    return Trajectory(setpoint.joint_names, setpoint.start_time, knots)
