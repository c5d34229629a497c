# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The points of a trajectory, with more points between them, and the effort of each point.

In: a compiled trajectory. Out: points no further apart than a period; efforts, and their deviation
from inverse dynamics between points, where a controller interpolates them linearly.

Added points do not change the motion: a controller that interpolates as ros2_control's
joint_trajectory_controller (JTC) does follows the same polynomials with them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Indices
from ..errors import RequestRejectedError
from ..feedforward.laws import Feedforward
from ..feedforward.motion.trajectory import LINEAR, States, Trajectory, states_in
from ..feedforward.settings import ResolvedSettings, load_robot
from ..robot import RobotModel

EFFORT_LIMIT = 'effort_limit'  # word of a rejection
SAMPLE_PERIOD = 0.02  # time between samples in an interval between two points, s
MAX_SAMPLES = 20  # greatest number of samples in one interval


def number_of_points(trajectory: Trajectory, period: float) -> int:
    """Return the number of points at most a period apart, s; 0: of the given points."""
    return 1 + int(_parts(np.diff(trajectory.knots.times), period).sum())


class MotionPoints:
    """
    The points of a trajectory as arrays, shape (points, joints), joints in the controller's order.

    An *interval* is the time between two of these points, a *segment* that between two given
    points: a segment has one or more intervals. An interval is at most a period long, s; with a
    period of 0 only the given points count.

    :ivar times: seconds from the start, shape (points,)
    :ivar degrees: fields to send, shape (points,): LINEAR positions only; CUBIC velocities too;
        QUINTIC accelerations too
    :ivar own_efforts: of the trajectory, N m or N; 0 at the last point
    """

    def __init__(self, trajectory: Trajectory, period: float) -> None:
        knots = trajectory.knots
        self._trajectory = trajectory
        durations = np.diff(knots.times)
        parts = _parts(durations, period)
        # For each interval: its segment, and its begin and end as shares of the segment.
        self._segment, part = _numbered(parts)
        self._begin = part / parts[self._segment]
        self._end = (part + 1) / parts[self._segment]
        times = knots.times[self._segment] + self._begin * durations[self._segment]
        self.times = np.append(times, knots.times[-1])
        # For each point: the last given point until then, and whether it is this one.
        knot = np.append(self._segment, len(knots.times) - 1)
        is_given = np.append(part == 0, True)
        computed = self.between(np.arange(part.size), 0.0)
        given = (knots.positions, knots.velocities, knots.accelerations)
        self.positions, self.velocities, self.accelerations = (
            np.where(is_given[:, np.newaxis], values[knot], np.vstack((inner, values[-1:])))
            for inner, values in zip(computed, given, strict=True)
        )
        inner_degrees = np.minimum(knots.degrees[:-1], knots.degrees[1:])[self._segment]
        self.degrees = np.where(is_given, knots.degrees[knot], np.append(inner_degrees, LINEAR))
        self.own_efforts = np.zeros_like(self.positions)
        if knots.efforts is not None:
            share, own = self._begin[:, np.newaxis], knots.efforts
            before, after = own[self._segment], own[self._segment + 1]
            self.own_efforts[:-1] = (1.0 - share) * before + share * after

    def between(self, interval: Indices, share: Array | float) -> States:
        """Return states at shares of intervals, 0 to 1, shape (N,) each."""
        s = (1.0 - share) * self._begin[interval] + share * self._end[interval]
        return states_in(self._trajectory, self._segment[interval], s)

    def samples(self) -> tuple[Indices, Array]:
        """Return samples, by interval and share in it, 0 to 1, on both sides of given points."""
        counts = np.clip(np.ceil(np.diff(self.times) / SAMPLE_PERIOD), 2, MAX_SAMPLES + 1) - 1
        counts = counts.astype(np.intp)
        interval, number = _numbered(counts)
        share = (number + 1) / (counts[interval] + 1)
        begins, ends = np.flatnonzero(self._begin == 0.0), np.flatnonzero(self._end == 1.0)
        sides = np.repeat((0.0, 1.0), (begins.size, ends.size))
        return np.concatenate((interval, begins, ends)), np.concatenate((share, sides))


def _numbered(counts: Indices) -> tuple[Indices, Indices]:
    """Return the group of each element, and its number in it, from the sizes of groups."""
    group = np.repeat(np.arange(counts.size), counts)
    return group, np.arange(group.size) - np.repeat(np.cumsum(counts) - counts, counts)


def _parts(durations: Array, period: float) -> Indices:
    """Return the number of intervals of each segment."""
    if period == 0.0:
        return np.ones(durations.size, dtype=np.intp)
    # Ignore rounding remainders.
    return np.maximum(np.ceil(durations / period - 1e-6), 1.0).astype(np.intp)


@dataclass(frozen=True)
class Deviation:
    """The greatest difference between interpolated and required efforts."""

    effort: float = 0.0  # the difference, N m or N
    joint: str = ''  # empty without any interval
    time: float = 0.0  # s from the start


class MotionEfforts:
    """
    Computes the efforts for trajectories of the commanded joints.

    Positions ``q_robot`` are those of all joints of the robot, shape (n,), rad or m; joints that
    are not commanded rest there.
    """

    def __init__(self, model: RobotModel, settings: ResolvedSettings) -> None:
        self._settings, zero = settings, np.zeros(model.nv)
        self._law = Feedforward(
            load_robot(model, settings), zero, zero, friction=settings.joint_friction,
            armature=settings.rotor_inertia,
        )

    def of_points(self, points: MotionPoints, q_robot: Array) -> Array:
        """
        Return the efforts for the points, shape (points, joints), N m or N.

        Where two polynomials meet it is the mean of their efforts; the last point is held at rest.

        :raises RequestRejectedError: an effort is beyond its limit; so :meth:`deviation`
        """
        times = points.times
        intervals = np.arange(times.size - 1)
        after, before = (
            self._required(points.between(intervals, share), q_robot) for share in (0.0, 1.0)
        )
        last = points.positions[-1:]
        at_rest = self._required((last, np.zeros_like(last), np.zeros_like(last)), q_robot)
        for at, efforts in ((times[:-1], after), (times[1:], before), (times[-1:], at_rest)):
            self._check(at, efforts)
        efforts = np.vstack((after, at_rest)) + points.own_efforts
        efforts[1:-1] = 0.5 * (after[1:] + before[:-1]) + points.own_efforts[1:-1]
        self._check(times, efforts)
        return efforts

    def deviation(self, points: MotionPoints, efforts: Array, q_robot: Array) -> Deviation:
        """Return the greatest deviation of linearly interpolated efforts, also where they jump."""
        interval, share = points.samples()
        if not interval.size:
            return Deviation()
        times = points.times[interval] + share * np.diff(points.times)[interval]
        required = self._required(points.between(interval, share), q_robot)
        self._check(times, required)
        lines = efforts - points.own_efforts
        share = share[:, np.newaxis]
        off = np.abs((1.0 - share) * lines[interval] + share * lines[interval + 1] - required)
        row, column = np.unravel_index(int(np.argmax(off)), off.shape)
        joint = self._settings.joints[int(column)]
        return Deviation(float(off[row, column]), joint, float(times[row]))

    def _required(self, motion: tuple[Array, Array, Array], q_robot: Array) -> Array:
        """Return the efforts for states of the commanded joints, shape (N, joints)."""
        commanded = self._settings.joint_indices
        robot = (q_robot.copy(), np.zeros_like(q_robot), np.zeros_like(q_robot))
        efforts = np.empty_like(motion[0])
        for row, states in enumerate(zip(*motion, strict=True)):
            for values, state in zip(robot, states, strict=True):
                values[commanded] = state
            # The measured state equals the desired one: there is no error to feed back.
            efforts[row] = self._law.effort(*robot[:2], robot)[commanded]
        return efforts

    def _check(self, times: Array, efforts: Array) -> None:
        limits, joints = self._settings.effort_limits, self._settings.joints
        broken = ~(np.abs(efforts) <= limits)  # negated, so that NaN is rejected
        if broken.any():
            row, column = (int(index) for index in np.argwhere(broken)[0])
            raise RequestRejectedError(
                EFFORT_LIMIT,
                f'joint {joints[column]!r} needs {efforts[row, column]:.6g} at {times[row]:.6g} s,'
                f' more than its limit of {limits[column]:.6g}',
            )
