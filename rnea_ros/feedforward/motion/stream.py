# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Streams of points, of a policy, a leader arm or a servo: from messages to motions within limits.

Points come late and unevenly, most with positions only: their times, velocities and accelerations
are estimated here. :mod:`.shaping` makes the motion.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
import enum

import numpy as np

from ...arrays import Array, Indices
from ...parameters import EACH, check_ranges, parameter
from .online import MotionLimits
from .parse import (
    JointRules,
    TrajectoryError,
    TrajectoryReason,
    TrajectoryRequest,
    parse,
    reject_where,
)
from .shaping import FAR, StreamPoint, shaped
from .trajectory import LINEAR, Handover, MotionState, Trajectory, join

WINDOW, MIN_POINTS, MAX_POINTS = 0.04, 3, 9  # of the newest points that are fitted: s, numbers
SMOOTHING = 0.1  # share of a new interval in the period of the stream
LATE = 1.75  # periods from which a point counts as sent late, not only received late
MIN_PERIOD, MAX_PERIOD = 1e-3, 0.5  # of a stream, s
MAX_PAUSE = 4.0  # longest pause in a stream, periods
MAX_AHEAD = 0.2  # of the points of a stream: their time from the start, s
FIRST_PERIOD = 0.1  # of a stream with one point so far, s
FULL_JERK = 0.05  # default of max_jerk: time to the full acceleration, s
ACCELERATION_SHARE = 0.25  # default of max_acceleration, of what full effort can do at most

_ROUNDING = 0.995  # share of the limits that motions use


class Shaping(enum.Enum):
    """What happens to a stream of set-points."""

    NONE = 'none'      # each point is the reference until the next one
    RUCKIG = 'ruckig'  # a motion within limits


@dataclass(frozen=True)
class StreamSettings:
    """Parameters ``stream.*``."""

    shaping: Shaping = parameter(
        Shaping.NONE, 'motion from a stream of points: each as it is, or a motion within limits'
    )
    frequency: float = parameter(
        0.0, 'points per second of a message whose points all have time 0, Hz; 0: reject it',
        (0.0, 1000.0),
    )
    max_deviation: float = parameter(
        0.0, 'reject a point further from the robot, rad or m; 0: approach it', (0.0, 100.0)
    )
    max_velocity: tuple[float, ...] = parameter(
        (0.0,), f'limit of the motion, {EACH}, rad/s or m/s; 0: of the URDF', (0.0, 1000.0)
    )
    max_acceleration: tuple[float, ...] = parameter(
        (0.0,), f'limit of the motion, {EACH}, rad/s^2 or m/s^2; 0: of the URDF, without one a '
        'quarter of what full effort can do at most', (0.0, 1e4),
    )
    max_jerk: tuple[float, ...] = parameter(
        (0.0,), f'limit of the motion, {EACH}, rad/s^3 or m/s^3; 0: of the URDF, without one full '
        'acceleration in 50 ms', (0.0, 1e7),
    )

    def __post_init__(self) -> None:
        check_ranges(self, 'stream.')

    def limits(self, urdf: MotionLimits, most: Array) -> MotionLimits:
        """Return the limits, for those of a URDF and greatest accelerations, shape (m,)."""
        def chosen(given: Sequence[float], of_urdf: Array, default: Array) -> Array:
            values: Array = np.where(np.array(given) > 0.0, given, default)
            return np.minimum(values, of_urdf)

        acceleration = chosen(self.max_acceleration, urdf.acceleration, ACCELERATION_SHARE * most)
        return urdf._replace(
            velocity=chosen(self.max_velocity, urdf.velocity, urdf.velocity),
            acceleration=acceleration,
            jerk=chosen(self.max_jerk, urdf.jerk, acceleration / FULL_JERK),
        )


class StreamEstimator:
    """
    Times, velocity and acceleration of a stream of points, which are received late and unevenly.

    Without stamps the points count as even, one smoothed period apart, unless one comes so late
    that others must be missing. The derivatives are those of a parabola through the newest points.

    :param period: of the stream, s; 0: unknown
    """

    def __init__(self, period: float = 0.0) -> None:
        self._known = period
        self.period = period or FIRST_PERIOD
        self._points: deque[StreamPoint] = deque(maxlen=MAX_POINTS)
        self._received = self._stamp = self._time = -np.inf

    def take(
        self, position: Array, velocity: Array | None, time: float, stamp: float | None = None
    ) -> StreamPoint:
        """Return a point that was received at a time, s."""
        interval, self._received = time - self._received, time
        if not 0.0 <= interval <= max(MAX_PAUSE * self.period, MAX_PERIOD):
            self._points.clear()  # another stream, or its clock was set
            self.period = self._known or FIRST_PERIOD
        span, self._stamp = self._span(interval, stamp), stamp or -np.inf
        if not self._points:
            span, self._time = 0.0, time
        self._time += span
        self._time += SMOOTHING * (time - self._time)
        if abs(time - self._time) > self.period:
            self._time = time
        zero = np.zeros_like(position)
        own_time = self._points[-1].time + span if self._points else 0.0
        self._points.append(
            StreamPoint(own_time, 0.0, position, zero if velocity is None else velocity, zero)
        )
        return self._fitted(with_velocity=velocity is not None)

    def _span(self, interval: float, stamp: float | None) -> float:
        """Return the time between the newest two points, s, and follow the stream's period."""
        if stamp is not None and 0.0 < stamp - self._stamp < np.inf:
            interval = stamp - self._stamp
        if self._points and not self._known:
            measured = min(max(interval, MIN_PERIOD), MAX_PERIOD)
            share = max(1.0 / len(self._points), SMOOTHING)  # of the first ones, their mean
            self.period += share * (measured - self.period)
        if stamp is not None or interval > LATE * self.period:
            return max(interval, MIN_PERIOD)
        return self.period

    def _fitted(self, *, with_velocity: bool) -> StreamPoint:
        """Return the newest point with its derivatives."""
        count = max(MIN_POINTS, round(WINDOW / self.period) + 1)
        points = list(self._points)[-count:]
        t = np.array([point.time for point in points]) - points[-1].time
        if with_velocity:
            position = points[-1].position
            newest = [point.velocity for point in points[-2:]]
            velocity, acceleration, _ = _parabola(t[-2:], newest)
        else:
            position, velocity, acceleration = _parabola(t, [point.position for point in points])
        return StreamPoint(self._time, self.period, position, velocity, acceleration)


def _parabola(t: Array, values: Sequence[Array]) -> Array:
    """Return value, slope and second derivative at t = 0 of a fit to rows of values, (3, m)."""
    fit = np.zeros((3, values[0].size))
    powers = np.column_stack((np.ones_like(t), t, 0.5 * t * t))[:, : t.size]
    fit[: powers.shape[1]] = np.linalg.lstsq(powers, np.array(values), rcond=None)[0]
    return fit


def chunk_points(
    time: float, period: float, position: Array, velocity: Array | None
) -> list[StreamPoint]:
    """Return points, (k, m), that are a period apart, with derivatives from their neighbours."""
    if velocity is None:
        velocity = np.gradient(position, period, axis=0)
    acceleration = np.gradient(velocity, period, axis=0)
    rows = zip(position, velocity, acceleration, strict=True)
    return [StreamPoint(time + k * period, period, *row) for k, row in enumerate(rows)]


class StreamShaper:
    """
    Makes the motions of a stream: :meth:`take` each message, then :meth:`follow`.

    :param rules: for the joints of the messages
    """

    def __init__(
        self, settings: StreamSettings, rules: JointRules, limits: MotionLimits
    ) -> None:
        velocity, acceleration, jerk = (_ROUNDING * rates for rates in limits[:3])
        self._settings = settings
        self._limits = limits._replace(velocity=velocity, acceleration=acceleration, jerk=jerk)
        self._rules = replace(rules, allow_nonzero_velocity_at_trajectory_end=True)
        self._estimator = StreamEstimator(1.0 / settings.frequency if settings.frequency else 0.0)
        self._points: list[StreamPoint] = []
        self._columns: Indices = np.arange(len(rules.joint_names))
        self._effort: Array | None = None

    def is_of_stream(self, request: TrajectoryRequest) -> bool:
        """Return whether a message is of a stream: all its points are due at once, or soon."""
        return request.times.size > 0 and bool(request.times.max() <= MAX_AHEAD)

    def take(self, request: TrajectoryRequest, time: float, measured: Array) -> None:
        """
        Take a message, received at a time, s; ``measured`` are the robot's positions, (m,).

        All points of a chunk, whose times are 0, count; of other messages the last one, as those
        of servo nodes repeat the points before it.

        :raises TrajectoryError: the message breaks a rule; the stream goes on without it
        """
        rules, settings, times = self._rules, self._settings, request.times
        chunk = times.size > 1 and not times.any()
        if chunk:
            if not settings.frequency:
                raise TrajectoryError(
                    TrajectoryReason.TIMES_NOT_INCREASING,
                    f'{times.size} points at time 0: set stream.frequency to their rate',
                )
            times = np.arange(times.size) / settings.frequency
        columns, knots = parse(replace(request, times=times, start_time=None), rules, time)
        reject_where(
            np.abs(knots.positions) > FAR, TrajectoryReason.POSITION_LIMIT, rules.joint_names, 0,
            '{:.6g} is further than any robot reaches', knots.positions,
        )
        given = slice(None) if chunk else slice(-1, None)
        positions = knots.positions[given]
        positions = positions - rules.whole_turns(positions[0] - measured)
        if settings.max_deviation:
            away = np.zeros(measured.size)
            away[columns] = np.abs(rules.shortest_way(positions[0] - measured))[columns]
            reject_where(
                away > settings.max_deviation, TrajectoryReason.START_TOO_FAR, rules.joint_names,
                0, '{} is more than {} from {}', positions[0], settings.max_deviation, measured,
            )
        velocities = knots.velocities[given] if knots.degrees.min() > LINEAR else None
        if chunk:
            period = 1.0 / settings.frequency
            self._points = chunk_points(time, period, positions, velocities)
        else:
            velocity = None if velocities is None else velocities[0]
            stamp = None if request.start_time is None else request.start_time + float(times[-1])
            self._points = [self._estimator.take(positions[0], velocity, time, stamp)]
        self._columns = columns
        self._effort = None if knots.efforts is None else knots.efforts[-1]

    def follow(
        self, begin: float, start: MotionState, handover: Handover | None
    ) -> Trajectory:
        """Return the motion of the newest message, from a time, s, and a state or handover on."""
        if handover is not None:
            start = handover.active.state(handover.time)
        given = np.zeros(start.position.size, dtype=np.bool_)
        given[self._columns] = True
        points = [
            point._replace(
                position=np.where(given, point.position, start.position),
                velocity=given * point.velocity, acceleration=given * point.acceleration,
            )
            for point in self._points
        ]
        knots = shaped(begin, start, points, self._limits)
        if self._effort is not None or start.effort.any():
            efforts = np.zeros_like(knots.positions)
            efforts[0], efforts[1:] = start.effort, 0.0 if self._effort is None else self._effort
            knots = replace(knots, efforts=efforts)
        motion = Trajectory(self._rules.joint_names, None, knots)
        if handover is not None:
            motion = join(handover, motion, self._columns)
        motion.streamed = True
        return motion
