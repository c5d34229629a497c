# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The motion made of a stream of points: smooth, within limits, and at rest at the last point.

Each point replaces the rest of the motion by a new one, continuous up to the acceleration: a
quintic to the point, in the velocity and acceleration that the stream has there; then, in case
that no other point follows, to rest at the point. It arrives :data:`LAG` periods after the point,
so that most points come before: a steady stream is followed with this lag and no other.

A quintic that would exceed a limit gets more time, and leads to where the stream is then. A point
that is too far for this is approached by :func:`.motion_to`, as fast as the limits permit.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
import math
from typing import NamedTuple, TypeAlias

import numpy as np

from ...arrays import Array
from ...compilation import compiled, kernel
from .online import FAR, SAME_TIME, MotionError, MotionLimits, Way, motion_to, motion_to_rest
from .trajectory import OVERSHOOT, Knots, MotionState, Trajectory

LAG = 1.4  # from a point to its position in the reference, periods of the stream
MIN_TIME = 0.05  # shortest quintic, s: shorter ones make jerk of the unevenness of a fast stream
LONGER, LONGEST = 1.25, 0.6  # the times tried grow by this factor, up to this time, s
CURVED = 0.1  # time from which on a stream counts as straight, s; at least a period
_ROUNDING = 0.995  # share of the limits that motions use
_SAMPLES = 16  # parts of a quintic whose ends are compared with the limits
_MARGIN = 0.98  # of limits at these samples: the greatest value is between two of them
_SLACK = _MARGIN + 1e-9

Joint: TypeAlias = tuple[float, float, float]  # position, velocity, acceleration
JointLimits: TypeAlias = tuple[float, float, float, float, float]  # one of each of MotionLimits


class StreamPoint(NamedTuple):
    """A point of a stream, with the derivatives that the stream has there, (m,) each."""

    time: float  # at which it is due, s
    period: float  # of the stream, s
    position: Array
    velocity: Array
    acceleration: Array


def load_shaping() -> None:
    """Compile or load the kernel, so that the first point need not wait for it."""
    _first_within(np.ones(1), 0.0, 1.0, np.ones((11, 1)), np.empty((3, 1)))


def shaped(
    begin: float, start: MotionState, points: Sequence[StreamPoint], limits: MotionLimits
) -> Way:
    """
    Return the motion from a time, s, and a state through the points of a message, then to a stop.

    Each point replaces the rest of the motion to the point before it when it is due.
    """
    velocity, acceleration, jerk = (_ROUNDING * rates for rates in limits[:3])
    limits = limits._replace(velocity=velocity, acceleration=acceleration, jerk=jerk)
    parts, elapsed = [], 0.0
    for point, following in pairwise(points):
        way = _toward(begin + elapsed - point.time, start, point, limits)
        span = following.time - point.time
        if span > way.times[-1]:
            way = _then_rest(way, point, limits)
        way = _until(span, way)
        parts.append(way.later(elapsed))
        elapsed, start = elapsed + span, _end(way)
    way = _toward(begin + elapsed - points[-1].time, start, points[-1], limits)
    way = _then_rest(way, points[-1], limits)
    return _in_a_row(*parts, way.later(elapsed))


def _toward(delay: float, start: MotionState, point: StreamPoint, limits: MotionLimits) -> Way:
    """Return the motion from a state, a time after a point, s, to where its stream is then."""
    wanted = max(LAG * point.period - delay, MIN_TIME)
    count = max(int(math.log(LONGEST / wanted) / math.log(LONGER)), 0) + 2
    times = wanted * LONGER ** np.arange(float(count))
    target = np.empty((3, start.position.size))
    chosen = _first_within(
        times, delay, point.period, np.array((*start[:3], *point[2:], *limits)), target
    )
    if chosen < 0:
        return _to_rest_at(start, point, limits)
    way = Way(np.array((0.0, times[chosen])), np.stack((start[:3], target), axis=1))
    # Where the stream is later is a guess, good until its next point.
    return _until(wanted, way) if chosen and target[1].any() else way


def _to_rest_at(start: MotionState, point: StreamPoint, limits: MotionLimits) -> Way:
    """Return the motion to rest at a point; to rest before it if a limit is in the way."""
    try:
        return motion_to(start, np.clip(point.position, limits.lower, limits.upper), limits)
    except MotionError:
        return motion_to_rest(start, limits)


def _then_rest(way: Way, point: StreamPoint, limits: MotionLimits) -> Way:
    """Return a motion and, from its end on, the motion to rest at a point."""
    return _in_a_row(way, _to_rest_at(_end(way), point, limits).later(way.times[-1]))


@kernel
def _first_within(
    times: Array, delay: float, period: float, table: Array, target: Array
) -> int:
    """
    Return the index of the first time, s, in which a quintic is within limits; -1 for none.

    :param table: rows: the state at the start, that of the point, the limits; shape (11, m)
    :param target: output: the state at the end of the quintic, shape (3, m)
    """
    for index in range(times.size):
        h = times[index]
        later = max(delay + h - LAG * period, 0.0)
        curved = min(later, max(period, CURVED))
        within = True
        for j in range(table.shape[1]):
            start = (table[0, j], table[1, j], table[2, j])
            point = (table[3, j], table[4, j], table[5, j])
            limits = (table[6, j], table[7, j], table[8, j], table[9, j], table[10, j])
            end = _at_arrival(point, later, curved, limits)
            target[0, j], target[1, j], target[2, j] = end
            within = within and _is_within(h, start, end, limits)
        if within:
            return index
    return -1


@compiled
def _at_arrival(
    point: Joint, later: float, curved: float, limits: JointLimits
) -> Joint:
    """Return the state of a stream a time after its point, s; it curves for a time, s."""
    v_max, a_max, j_max, lower, upper = limits
    q, v, a = point[0], _clip(point[1], -v_max, v_max), _clip(point[2], -a_max, a_max)
    q = _clip(q + later * v + curved * (later - 0.5 * curved) * a, lower, upper)
    below, above = _stopping_velocity(q - lower, limits), _stopping_velocity(upper - q, limits)
    v = _clip(v + curved * a, -below, above)
    # Until the acceleration is zero, at the full jerk, the velocity rises by a^2 / (2 j).
    falling = min(0.5 * a_max, math.sqrt(2.0 * j_max * max(below + v, 0.0)))
    rising = min(0.5 * a_max, math.sqrt(2.0 * j_max * max(above - v, 0.0)))
    return q, v, _clip(a, -falling, rising)


@compiled
def _stopping_velocity(room: float, limits: JointLimits) -> float:
    """Return from which velocity, within its limit, a joint stops in a distance, rad or m."""
    # The way to rest is at most v (v / a + a / j) / 2.
    v_max, a, j_max, _, _ = limits
    build_up = a / j_max
    stops = 0.5 * a * (math.sqrt(build_up * build_up + 8.0 * min(room, FAR) / a) - build_up)
    return _MARGIN * min(stops, v_max)


@compiled
def _is_within(h: float, start: Joint, end: Joint, limits: JointLimits) -> bool:
    """Return whether the quintic of h seconds between two states is within limits."""
    q0, v0, a0 = start
    v_max, a_max, j_max, lower, upper = limits
    # With slack for rounding: a stream above a limit is followed at the limit.
    v_max, a_max, j_max = _SLACK * v_max, _SLACK * a_max, _SLACK * j_max
    way, c1, c2 = end[0] - q0, h * v0, 0.5 * h * h * a0
    v1, a1 = h * end[1], h * h * end[2]
    c3 = 10.0 * way - 6.0 * c1 - 3.0 * c2 - 4.0 * v1 + 0.5 * a1
    c4 = -15.0 * way + 8.0 * c1 + 3.0 * c2 + 7.0 * v1 - a1
    c5 = 6.0 * way - 3.0 * c1 - c2 - 3.0 * v1 + 0.5 * a1
    # A start beyond a limit may slow down, not speed up.
    if (abs(v0) > v_max and v0 * a0 > 0.0) or (abs(a0) > a_max and a0 * c3 > 0.0):
        return False
    v_max, a_max = max(v_max, abs(v0)), max(a_max, abs(a0))
    lower, upper = min(lower, q0) - OVERSHOOT, max(upper, q0) + OVERSHOOT
    for sample in range(_SAMPLES + 1):
        s = sample / _SAMPLES
        q = q0 + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
        v = (c1 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))) / h
        a = (2.0 * c2 + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5))) / (h * h)
        jerk = (6.0 * c3 + s * (24.0 * c4 + s * 60.0 * c5)) / (h * h * h)
        if not (abs(v) <= v_max and abs(a) <= a_max and abs(jerk) <= j_max):
            return False
        if not lower <= q <= upper:
            return False
    return True


@compiled
def _clip(value: float, lower: float, upper: float) -> float:
    return min(max(value, lower), upper)


def _end(way: Way) -> MotionState:
    q, qd, qdd = way.states[:, -1]
    return MotionState(q, qd, qdd, np.zeros_like(q))


def _until(time: float, way: Way) -> Way:
    """Return a motion until a time, s; at rest there if it ended before."""
    count = np.searchsorted(way.times, time - SAME_TIME)
    last = Trajectory(way.states.shape[2] * ('',), None, Knots.quintic(*way)).state(time)[:3]
    states = np.concatenate((way.states[:, :count], np.stack(last)[:, np.newaxis]), axis=1)
    return Way(np.append(way.times[:count], time), states)


def _in_a_row(*parts: Way) -> Way:
    """Return motions, each of which begins in the last state of the one before it."""
    *first, last = parts
    return Way(
        np.concatenate([*(way.times[:-1] for way in first), last.times]),
        np.concatenate([*(way.states[:, :-1] for way in first), last.states], axis=1),
    )
