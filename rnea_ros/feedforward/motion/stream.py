# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Streams of points, of a policy, a leader arm or a servo: from messages to motions within limits.

Points come late and unevenly, most with positions only: their times, velocities and accelerations
are estimated here. :mod:`.shaping` makes the motion.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
import enum
from itertools import repeat
from typing import NamedTuple

import numpy as np

from ...arrays import Array, Indices
from ...parameters import EACH, check_ranges, parameter
from ..reasons import Reason
from .online import FAR, MotionLimits
from .parse import (
    JointRules,
    TrajectoryError,
    TrajectoryReason,
    TrajectoryRequest,
    parse,
    reject_where,
)
from .shaping import LAG, StreamPoint, load_shaping, shaped
from .trajectory import LINEAR, Handover, Knots, MotionState, Trajectory, join

WINDOW, MIN_POINTS, MAX_POINTS = 0.04, 3, 9  # of the newest points that are fitted: s, numbers
SMOOTHING = 0.1  # share of the newest interval in the period, and of its delay in the time
LATE = 1.75  # an interval of more periods means that points are missing
MIN_PERIOD, MAX_PERIOD, FIRST_PERIOD = 1e-3, 0.5, 0.1  # of a stream, and before it is known, s
MAX_PAUSE = 4.0  # longest pause in a stream, periods, at least MAX_PERIOD
NOISE = 1e-3  # a jump is larger than this, rad or m
MAX_AHEAD = 0.2  # of the points of a stream: their time from the start, s
MAX_CHUNK = 200  # points of a chunk: each takes up to 0.5 ms to shape
KEPT = MAX_POINTS + MAX_CHUNK  # a chunk may be replaced at its first point
MAX_STREAMS = 8  # sets of joints that are streamed at once
MAX_STAMP = 1.0  # a stamp of points with times that is further from now does not count, s
FULL_JERK = 0.05  # default of max_jerk: time to the full acceleration, s
ACCELERATION_SHARE = 0.25  # default of max_acceleration, of twice what full effort gives


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
        0.0, 'points per second of a chunk, whose points all have time 0, Hz; 0: reject chunks',
        (0.0, 1000.0),
    )
    max_deviation: float = parameter(
        0.0, 'reject a point further from the robot, or from the point before, rad or m; 0: none',
        (0.0, 100.0),
    )
    max_velocity: tuple[float, ...] = parameter(
        (0.0,), f'limit of the motion, {EACH}, rad/s or m/s; 0: of the URDF', (0.0, 1000.0)
    )
    max_acceleration: tuple[float, ...] = parameter(
        (0.0,), f'limit of the motion, {EACH}, rad/s^2 or m/s^2; 0: of the URDF, without one '
        'half of what full effort gives', (0.0, 1e4),
    )
    max_jerk: tuple[float, ...] = parameter(
        (0.0,), f'limit of the motion, {EACH}, rad/s^3 or m/s^3; 0: of the URDF, without one full '
        'acceleration in 50 ms', (0.0, 1e6),
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


class _Taken(NamedTuple):
    """A point that was taken, (k,) each."""

    own_time: float  # when it was made, apart from an offset, s
    time: float  # when it is due, s
    position: Array
    velocity: Array | None  # as given
    difference: Array  # velocity since the point before
    acceleration: Array  # of the parabola


class StreamEstimator:
    """
    Times, velocity and acceleration of a stream of points of k joints.

    Points are received late and unevenly: without stamps they count as made evenly, one smoothed
    period apart. The derivatives are those of a parabola through the newest points, with two
    exceptions. An acceleration that the points before do not have does not count yet. A point that
    the greatest acceleration does not reach is a jump: it has the lesser velocity of those before
    and after it, so that a step, or a sudden end, is not taken for a motion that goes on.

    :param most: greatest accelerations, shape (k,), rad/s^2 or m/s^2
    """

    def __init__(self, most: Array) -> None:
        self._most = most
        self._taken: deque[_Taken] = deque(maxlen=KEPT)
        self._received = self._stamp = -np.inf
        self._planned = False
        self.period = FIRST_PERIOD

    @property
    def newest(self) -> Array | None:
        """The position of the newest point, shape (k,); None before the first."""
        return self._taken[-1].position if self._taken else None

    def take(
        self, position: Array, velocity: Array | None, received: float, stamp: float | None = None
    ) -> StreamPoint:
        """Return the point that was received at a time, s: it is due now."""
        interval, self._received = received - self._received, received
        self._forget(received, received)
        before, self._stamp = self._stamp, -np.inf if stamp is None else stamp
        stamped = 0.0 < self._stamp - before <= MAX_PERIOD  # longer: a pause, or a clock was set
        if stamped:
            interval = self._stamp - before
        if not self._taken:
            return self._add(0.0, received, position, velocity)
        if interval <= 0.0:  # time stands still: the point replaces the newest
            newest = self._taken.pop()
            return self._add(newest.own_time, newest.time, position, velocity)
        self._adapt(interval)
        missing = interval > LATE * self.period
        span = max(interval, MIN_PERIOD) if missing or stamped else self.period
        newest = self._taken[-1]
        time = newest.time + span
        time += SMOOTHING * (received - time)
        if abs(received - time) > self.period:
            time = received
        return self._add(newest.own_time + span, time, position, velocity)

    def plan(
        self, times: Array, positions: Array, velocities: Array | None, now: float
    ) -> list[StreamPoint]:
        """Return points that are due at given times, s; they replace those planned before."""
        period = float(times[-1] - times[0]) / (times.size - 1)
        self._received, self._stamp = now, -np.inf
        self._forget(now, float(times[0]) - 0.5 * period)
        self._planned, self.period = True, period
        points = []
        of_points: Iterable[Array | None] = repeat(None) if velocities is None else velocities
        for time, position, velocity in zip(times.tolist(), positions, of_points, strict=False):
            own_time = 0.0
            if self._taken:
                newest = self._taken[-1]
                own_time = newest.own_time + max(time - newest.time, MIN_PERIOD)
            points.append(self._add(own_time, time, position, velocity))
        return points

    def _forget(self, now: float, time: float) -> None:
        """Forget planned points due later than a time; all points if a clock was set or paused."""
        while self._planned and self._taken and self._taken[-1].time > time:
            self._taken.pop()
        self._planned = False
        longest = max(MAX_PAUSE * self.period, MAX_PERIOD)
        if self._taken and abs(now - self._taken[-1].time) > longest:
            self._taken.clear()
        if not self._taken:
            self.period = FIRST_PERIOD

    def _adapt(self, interval: float) -> None:
        """Let the period follow the intervals: first their mean, then slowly."""
        share = max(1.0 / len(self._taken), SMOOTHING)
        self.period += share * (min(max(interval, MIN_PERIOD), MAX_PERIOD) - self.period)

    def _add(
        self, own_time: float, time: float, position: Array, velocity: Array | None
    ) -> StreamPoint:
        """Take a point; return it with its derivatives."""
        difference = before = np.zeros_like(position)
        if self._taken:
            newest = self._taken[-1]
            span, before = max(own_time - newest.own_time, MIN_PERIOD), newest.difference
            difference = (position - newest.position) / span
            jumps = np.abs(difference - before) * span > self._most * span * span + NOISE
            if jumps.any():
                slope = _lesser(difference, before)
                self._taken = deque(
                    (each._replace(
                        position=np.where(
                            jumps, position + (each.own_time - own_time) * slope, each.position
                        ),
                        acceleration=np.where(jumps, 0.0, each.acceleration),
                    ) for each in self._taken), maxlen=KEPT,
                )
        earlier = self._taken[-1].acceleration if self._taken else before
        count = max(MIN_POINTS, round(WINDOW / self.period) + 1)
        points = [*self._taken, _Taken(own_time, time, position, velocity, difference, before)]
        points = points[-count:]
        t = np.array([point.own_time for point in points]) - own_time
        if velocity is None:
            fit = _parabola(t, [point.position for point in points])
            position, estimate, raw = fit
            acceleration = _lesser(raw, 2.0 * earlier)
            estimate = estimate + 0.5 * t[0] * (raw - acceleration)
        else:
            estimate, last = velocity, points[-2].velocity if len(points) > 1 else None
            raw = np.zeros_like(position) if last is None else (velocity - last) / -t[-2]
            acceleration = _lesser(raw, 2.0 * earlier)
        self._taken.append(points[-1]._replace(acceleration=raw))
        return StreamPoint(time, self.period, position, estimate, acceleration)


def _lesser(one: Array, other: Array) -> Array:
    """Return the value with the smaller size; 0 where the signs differ."""
    return np.where(one * other > 0.0, np.copysign(np.minimum(abs(one), abs(other)), one), 0.0)


def _parabola(t: Array, values: Sequence[Array]) -> Array:
    """Return value, slope and second derivative at t = 0 of a fit to rows of values, (3, k)."""
    fit = np.zeros((3, values[0].size))
    powers = (np.vander(t, 3, increasing=True) * (1.0, 1.0, 0.5))[:, : t.size]
    fit[: powers.shape[1]] = np.linalg.lstsq(powers, np.array(values), rcond=None)[0]
    return fit


class StreamShaper:
    """
    Makes the motions of streams: :meth:`take` each message, then :meth:`follow`.

    Messages with other joints are another stream.

    :param rules: for the joints of the messages
    """

    def __init__(
        self, settings: StreamSettings, rules: JointRules, limits: MotionLimits
    ) -> None:
        self._settings, self._limits = settings, limits
        self._rules = replace(rules, allow_nonzero_velocity_at_trajectory_end=True)
        self._estimators: dict[tuple[int, ...], StreamEstimator] = {}
        self._columns = np.arange(len(rules.joint_names))
        self._points: list[StreamPoint] = []
        self._efforts: Array | None = None
        load_shaping()

    def is_of_stream(self, request: TrajectoryRequest) -> bool:
        """Return whether a message is of a stream: all its points are due at once, or soon."""
        return request.times.size > 0 and bool(request.times.max() <= MAX_AHEAD)

    def take(
        self, request: TrajectoryRequest, now: float, stamp: float, measured: Array,
        held: Array,
    ) -> None:
        """
        Take a message, received now, s, in the loop's time; ``stamp`` is now in that of its stamp.

        :param measured: positions of the robot, shape (m,); ``held``: of the reference, or these
        :raises TrajectoryError: the message breaks a rule; the stream goes on without it
        """
        rules, times = self._rules, self._times(request)
        parsed = replace(request, times=times, start_time=None)
        columns, knots = parse(parsed, rules, now)
        estimator = self._estimator(tuple(columns.tolist()))
        reject_where(
            np.abs(knots.positions) > FAR, TrajectoryReason.POSITION_LIMIT, rules.joint_names, 0,
            '{:.6g} is further than any robot reaches', knots.positions,
        )
        positions = self._unwrapped(knots.positions, columns, held, estimator.newest)
        self._check_deviation(positions, columns, measured)
        velocities = knots.velocities[:, columns] if knots.degrees.min() > LINEAR else None
        positions = positions[:, columns]
        if times.size == 1:
            velocity = None if velocities is None else velocities[0]
            self._points = [estimator.take(positions[0], velocity, now, request.start_time)]
        else:
            ahead = 0.0 if request.start_time is None else request.start_time - stamp
            begin = now + (ahead if abs(ahead) < MAX_STAMP else 0.0)
            points = estimator.plan(begin + times, positions, velocities, now)
            late = now - 0.5 * estimator.period
            self._points = [point for point in points if point.time > late] or points[-1:]
        self._columns = columns
        count = len(self._points)
        self._efforts = None if knots.efforts is None else knots.efforts[-count:]

    def follow(self, begin: float, start: MotionState | Handover) -> Trajectory:
        """Return the motion of the newest message, from a time, s, and a state or handover on."""
        columns = self._columns
        state = start.active.state(start.time) if isinstance(start, Handover) else start
        way = shaped(
            begin, MotionState(*(values[columns] for values in state)), self._points,
            self._limits.of(columns),
        )
        rows = np.zeros((4, way.times.size, state.position.size))
        rows[0] = state.position
        rows[:3, :, columns] = way.states
        knots = Knots.quintic(way.times, rows[:3])
        if self._efforts is not None or state.effort.any():
            arrivals = [point.time - begin + LAG * point.period for point in self._points]
            times = np.maximum.accumulate([0.0, *arrivals])
            of_points = np.zeros((len(arrivals), state.effort.size))
            of_points = of_points if self._efforts is None else self._efforts
            for row, joint in zip(rows[3].T, np.vstack((state.effort, of_points)).T, strict=True):
                row[:] = np.interp(way.times, times, joint)
            knots = replace(knots, efforts=rows[3])
        if isinstance(start, Handover):
            motion = join(start, knots, columns)
        else:
            motion = Trajectory(self._rules.joint_names, None, knots)
        motion.streamed = True
        return motion

    def _times(self, request: TrajectoryRequest) -> Array:
        """Return the times of the points; those of a chunk by its frequency."""
        times, frequency = request.times, self._settings.frequency
        if times.size > MAX_CHUNK:
            raise TrajectoryError(
                Reason.TOO_LARGE, f'{times.size} points of a stream, at most {MAX_CHUNK}'
            )
        if times.size == 1 or times.any():
            return times
        if not frequency:
            raise TrajectoryError(
                TrajectoryReason.TIMES_NOT_INCREASING,
                f'{times.size} points at time 0: set stream.frequency to their rate',
            )
        return np.arange(times.size) / frequency

    def _estimator(self, columns: tuple[int, ...]) -> StreamEstimator:
        if columns not in self._estimators:
            if len(self._estimators) == MAX_STREAMS:
                self._estimators.clear()
            most = self._limits.acceleration[[*columns]]
            self._estimators[columns] = StreamEstimator(most)
        return self._estimators[columns]

    def _unwrapped(
        self, positions: Array, columns: Indices, start: Array, before: Array | None
    ) -> Array:
        """Return positions with continuous joints within half a turn of the row before."""
        positions, near = positions.copy(), start.copy()
        if before is not None:
            near[columns] = before
            near -= self._rules.whole_turns(near - start)
        for row in positions:
            row -= self._rules.whole_turns(row - near)
            near = row
        return positions

    def _check_deviation(self, positions: Array, columns: Indices, measured: Array) -> None:
        most = self._settings.max_deviation
        if most:
            before = np.vstack((measured, positions[:-1]))
            away = np.zeros_like(positions)
            away[:, columns] = np.abs(self._rules.shortest_way(positions - before))[:, columns]
            reject_where(
                away > most, TrajectoryReason.START_TOO_FAR, self._rules.joint_names, 0,
                '{} is more than {} from {}', positions, most, before,
            )
