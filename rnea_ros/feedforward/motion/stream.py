# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Shapes a stream of points, of a policy, a leader arm or a servo, into a motion within limits.

Points come late and unevenly, most with positions only. Each one replaces the rest of the motion
by a new one, continuous up to the acceleration: a quintic to the point, in the velocity and
acceleration that the stream has there, then a stop in case that no other point follows. It arrives
:data:`LAG` periods after the point, so that most points come before the stop begins; a steady
stream is followed with this lag and no other.

A quintic that would exceed a limit gets more time. A point that is too far for this is approached
by :func:`.motion_to`, as fast as the limits permit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
import enum
from typing import NamedTuple

import numpy as np

from ...arrays import Array, Indices
from ...parameters import EACH, check_ranges, parameter
from .online import SAME_TIME, MotionError, MotionLimits, motion_to, motion_to_rest
from .parse import (
    JointRules,
    TrajectoryError,
    TrajectoryReason,
    TrajectoryRequest,
    parse,
    reject_where,
)
from .trajectory import (
    FROM_ENDS,
    LINEAR,
    OVERSHOOT,
    QUINTIC,
    Handover,
    Knots,
    MotionState,
    Trajectory,
    join,
)

LAG = 1.4  # from a point to its position in the reference, periods of the stream
MIN_TIME = 0.01  # shortest quintic, s: shorter ones turn the noise of a fast stream into jerk
LONGER, LONGEST = 1.25, 0.6  # times of quintics that are tried: the next by the one before; s
WINDOW, MIN_POINTS, MAX_POINTS = 0.04, 3, 9  # of the newest points that are fitted: s, numbers
SMOOTHING = 0.1  # share of a new interval in the period of the stream
LATE = 1.75  # periods from which a point counts as sent late, not only received late
MIN_PERIOD, MAX_PERIOD = 1e-3, 0.5  # of a stream, s
MAX_PAUSE = 4.0  # longest pause in a stream, periods
MAX_AHEAD = 0.2  # of the points of a stream: their time from the start, s
CURVED = 0.1  # time for which the acceleration of a stream lasts at least, s
FAR = 1e6  # distance to a position limit that no motion covers, rad or m
FIRST_PERIOD = 0.1  # of a stream with one point so far, s
FULL_JERK = 0.02  # default of max_jerk: time to the full acceleration, s
ACCELERATION_SHARE = 0.25  # default of max_acceleration, of what full effort can do at most

_S = np.linspace(0.0, 1.0, 17)[:, np.newaxis]
_K = np.arange(6.0)
# Rows s, columns powers: a polynomial and its first three derivatives in s.
_SAMPLES = np.array([
    np.prod([_K - order for order in range(derivative)], axis=0)
    * _S ** np.maximum(_K - derivative, 0.0)
    for derivative in range(4)
])  # fmt: skip
_MARGIN = 0.98  # of limits at these samples: the greatest value is between two of them
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
        'acceleration in 20 ms', (0.0, 1e7),
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


class StreamPoint(NamedTuple):
    """A point with the derivatives of its stream there, (m,) each."""

    time: float  # s
    period: float  # of the stream, s
    position: Array
    velocity: Array
    acceleration: Array


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
        # A longer interval is a pause, or the clock of the stamps was set.
        if stamp is not None and 0.0 < stamp - self._stamp <= MAX_PERIOD:
            interval = stamp - self._stamp
        if not self._known:
            measured = min(max(interval, MIN_PERIOD), MAX_PERIOD)
            share = 1.0 / max(len(self._points), 1) if len(self._points) < 10 else SMOOTHING
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
        positions = knots.positions - rules.whole_turns(knots.positions[0] - self._near(measured))
        if settings.max_deviation:
            away = np.zeros(measured.size)
            away[columns] = np.abs(rules.shortest_way(positions[0] - measured))[columns]
            reject_where(
                away > settings.max_deviation, TrajectoryReason.START_TOO_FAR, rules.joint_names,
                0, '{} is more than {} from {}', positions[0], settings.max_deviation, measured,
            )
        velocities = knots.velocities if knots.degrees.min() > LINEAR else None
        if chunk:
            period = 1.0 / settings.frequency
            self._points = chunk_points(time, period, positions, velocities)
        else:
            velocity = None if velocities is None else velocities[-1]
            stamp = None if request.start_time is None else request.start_time + float(times[-1])
            self._points = [self._estimator.take(positions[-1], velocity, time, stamp)]
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

    def _near(self, measured: Array) -> Array:
        """Return positions from which the whole turns of continuous joints are counted."""
        return self._points[-1].position if self._points else measured


def shaped(
    begin: float, start: MotionState, points: Sequence[StreamPoint], limits: MotionLimits
) -> Knots:
    """
    Return the motion from a time, s, and a state through the points of a message, then to a stop.

    Each point replaces the rest of the motion one period after the point before it.
    """
    parts, zero = [], begin
    for point in points[:-1]:
        way = _until(point.period, _toward(begin - point.time, start, point, limits))
        parts.append(replace(way, times=begin - zero + way.times))
        begin, start = begin + point.period, _end(way)
    last = _toward(begin - points[-1].time, start, points[-1], limits)
    return _in_a_row([*parts, replace(last, times=begin - zero + last.times)])


def _toward(
    delay: float, start: MotionState, point: StreamPoint, limits: MotionLimits
) -> Knots:
    """Return the motion from a state, a time after a point, s, to this point, then to a stop."""
    for times in _times(LAG * point.period - delay):
        ends = _at_arrival(point, delay + times[:, np.newaxis], limits)
        chosen = _first_within(start, times, ends, limits)
        if chosen is not None:
            target = (rows[chosen] for rows in ends)
            rows = (np.array(pair) for pair in zip(start[:3], target, strict=True))
            way = Knots.quintic(np.array((0.0, times[chosen])), rows)
            return _then_stop(way, limits)
    time = LAG * point.period - delay
    for _ in range(2):  # the stream goes on until the robot arrives
        (position,), (velocity,), _ = _at_arrival(point, np.array([[delay + time]]), limits)
        try:
            way = motion_to(start, position, limits, velocity)
        except MotionError:
            return motion_to_rest(start, limits)
        time = min(float(way.times[-1]), LONGEST)
    return _then_stop(way, limits)


def _times(wanted: float) -> Sequence[Array]:
    """Return the times of quintics that are tried, shape (k,), s: first the wanted one."""
    first = max(wanted, MIN_TIME)
    count = max(int(np.log(LONGEST / first) / np.log(LONGER)), 0)
    return np.array([first]), first * LONGER ** np.arange(1.0, count + 2.0)


def _at_arrival(
    point: StreamPoint, time: Array, limits: MotionLimits
) -> tuple[Array, Array, Array]:
    """Return where a stream is at times after a point, (k, 1), s, less the lag, (k, m) each."""
    later = np.maximum(time - LAG * point.period, 0.0)
    curved = np.minimum(later, max(point.period, CURVED))  # later the stream counts as straight
    v, a = point.velocity, point.acceleration
    position = point.position + later * v + curved * (later - 0.5 * curved) * a
    wanted = v + curved * a
    position = np.clip(position, limits.lower, limits.upper)
    below, above = (
        _stopping_velocity(np.minimum(room, FAR), limits)
        for room in (position - limits.lower, limits.upper - position)
    )
    velocity = np.clip(wanted, -below, above)
    # Until the acceleration is zero, at the full jerk, the velocity rises by a^2 / (2 j).
    falling, rising = (
        np.minimum(0.5 * limits.acceleration, np.sqrt(2.0 * limits.jerk * np.maximum(left, 0.0)))
        for left in (below + velocity, above - velocity)
    )
    return position, velocity, np.clip(a, -falling, rising)


def _stopping_velocity(room: Array, limits: MotionLimits) -> Array:
    """Return from which velocity, within its limit, a joint stops in a distance, rad or m."""
    # The way to rest is at most v (v / a + a / j) / 2.
    a, build_up = limits.acceleration, limits.acceleration / limits.jerk
    stops = 0.5 * a * (np.sqrt(build_up * build_up + 8.0 * room / a) - build_up)
    velocity: Array = _MARGIN * np.minimum(stops, limits.velocity)
    return velocity


def _first_within(
    start: MotionState, times: Array, ends: tuple[Array, Array, Array], limits: MotionLimits
) -> int | None:
    """Return the first of k quintics to states, (k, m) each, that is within limits."""
    h = times[:, np.newaxis]
    q, qd, qdd = ends
    at_start = h * start.velocity, h * h * start.acceleration
    at_end = q - start.position, h * qd, h * h * qdd
    polynomials = FROM_ENDS[QUINTIC] @ np.stack(
        (np.broadcast_to(start.position, q.shape), *at_start, *at_end), axis=1
    )
    sampled = np.abs(np.einsum('dsp,kpj->kdsj', _SAMPLES[1:], polynomials)).max(axis=2)
    sampled /= (times[:, np.newaxis] ** np.arange(1.0, 4.0))[:, :, np.newaxis]
    most = _MARGIN * np.array(limits[:3])
    rates = np.abs(start[1:3])
    beyond = rates > most[:2]  # such a start may come back, not go on
    most[:2] = np.maximum(most[:2], rates)
    within = (sampled <= most).all(axis=(1, 2))
    within &= ~(beyond[1] & (start.acceleration * polynomials[:, 3] > 0.0)).any(axis=1)
    within &= ~(beyond[0] & (start.velocity * start.acceleration > 0.0)).any()
    if not within.any():
        return None
    path = np.einsum('sp,kpj->ksj', _SAMPLES[0], polynomials)
    lower = np.minimum(limits.lower, start.position)
    upper = np.maximum(limits.upper, start.position)
    within &= ((path >= lower - OVERSHOOT) & (path <= upper + OVERSHOOT)).all(axis=(1, 2))
    return int(within.argmax()) if within.any() else None


def _then_stop(way: Knots, limits: MotionLimits) -> Knots:
    """Return a motion and, from its end on, the motion to a stop."""
    stop = motion_to_rest(_end(way), limits)
    return _in_a_row([way, replace(stop, times=way.times[-1] + stop.times)])


def _end(knots: Knots) -> MotionState:
    last = knots.positions[-1], knots.velocities[-1], knots.accelerations[-1]
    return MotionState(*last, np.zeros_like(last[0]))


def _until(time: float, way: Knots) -> Knots:
    """Return a motion until a time, s; at rest there if it ended before."""
    state = Trajectory(way.positions.shape[1] * ('',), None, way).state(time)
    before = way.times < time - SAME_TIME
    rows = zip(_states(way), state[:3], strict=True)
    states = (np.vstack((each[before], last)) for each, last in rows)
    return Knots.quintic(np.append(way.times[before], time), states)


def _in_a_row(parts: Sequence[Knots]) -> Knots:
    """Return motions, each of which begins in the last state of the one before it."""
    *first, last = parts
    times = np.concatenate([*(part.times[:-1] for part in first), last.times])
    rows = zip(*map(_states, parts), strict=True)
    return Knots.quintic(
        times, (np.concatenate([*(each[:-1] for each in row[:-1]), row[-1]]) for row in rows)
    )


def _states(way: Knots) -> tuple[Array, Array, Array]:
    return way.positions, way.velocities, way.accelerations
