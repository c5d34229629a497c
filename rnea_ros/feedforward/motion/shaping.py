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
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from .online import FAR, SAME_TIME, MotionError, MotionLimits, motion_to, motion_to_rest
from .trajectory import FROM_ENDS, OVERSHOOT, QUINTIC, Knots, MotionState, Trajectory

LAG = 1.4  # from a point to its position in the reference, periods of the stream
MIN_TIME = 0.05  # shortest quintic, s: shorter ones make jerk of the unevenness of a fast stream
LONGER, LONGEST = 1.25, 0.6  # the times tried grow by this factor, up to this time, s
CURVED = 0.1  # time from which on a stream counts as straight, s; at least a period
_ROUNDING = 0.995  # share of the limits that motions use

_S = np.linspace(0.0, 1.0, 17)[:, np.newaxis]
_K = np.arange(6.0)
# Rows s, columns powers: a polynomial and its first three derivatives in s.
_SAMPLES = np.array([
    np.prod([_K - order for order in range(derivative)], axis=0)
    * _S ** np.maximum(_K - derivative, 0.0)
    for derivative in range(4)
])  # fmt: skip
_MARGIN = 0.98  # of limits at these samples: the greatest value is between two of them


class StreamPoint(NamedTuple):
    """A point of a stream, with the derivatives that the stream has there, (m,) each."""

    time: float  # at which it is due, s
    period: float  # of the stream, s
    position: Array
    velocity: Array
    acceleration: Array


def shaped(
    begin: float, start: MotionState, points: Sequence[StreamPoint], limits: MotionLimits
) -> Knots:
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
        parts.append(replace(way, times=elapsed + way.times))
        elapsed, start = elapsed + span, _end(way)
    way = _toward(begin + elapsed - points[-1].time, start, points[-1], limits)
    way = _then_rest(way, points[-1], limits)
    return _in_a_row([*parts, replace(way, times=elapsed + way.times)])


def _toward(
    delay: float, start: MotionState, point: StreamPoint, limits: MotionLimits
) -> Knots:
    """Return the motion from a state, a time after a point, s, to where its stream is then."""
    wanted = max(LAG * point.period - delay, MIN_TIME)
    for times in _times(wanted):
        ends = _at_arrival(point, delay + times[:, np.newaxis], limits)
        chosen = _first_within(start, times, ends, limits)
        if chosen is not None:
            target = [rows[chosen] for rows in ends]
            rows = (np.array(pair) for pair in zip(start[:3], target, strict=True))
            way = Knots.quintic(np.array((0.0, times[chosen])), rows)
            # Where the stream is later is a guess, good until its next point.
            return _until(wanted, way) if target[1].any() and times[chosen] > wanted else way
    return _to_rest_at(start, point, limits)


def _to_rest_at(start: MotionState, point: StreamPoint, limits: MotionLimits) -> Knots:
    """Return the motion to rest at a point; to rest before it if a limit is in the way."""
    try:
        return motion_to(start, np.clip(point.position, limits.lower, limits.upper), limits)
    except MotionError:
        return motion_to_rest(start, limits)


def _then_rest(way: Knots, point: StreamPoint, limits: MotionLimits) -> Knots:
    """Return a motion and, from its end on, the motion to rest at a point."""
    rest = _to_rest_at(_end(way), point, limits)
    return _in_a_row([way, replace(rest, times=way.times[-1] + rest.times)])


def _times(wanted: float) -> Sequence[Array]:
    """Return the times of quintics that are tried, shape (k,), s: first the wanted one."""
    count = max(int(np.log(LONGEST / wanted) / np.log(LONGER)), 0)
    return np.array([wanted]), wanted * LONGER ** np.arange(1.0, count + 2.0)


def _at_arrival(
    point: StreamPoint, time: Array, limits: MotionLimits
) -> tuple[Array, Array, Array]:
    """Return the stream's states a lag before times after a point, (n, 1), s: (n, m) each."""
    later = np.maximum(time - LAG * point.period, 0.0)
    curved = np.minimum(later, max(point.period, CURVED))
    v = np.clip(point.velocity, -limits.velocity, limits.velocity)
    a = np.clip(point.acceleration, -limits.acceleration, limits.acceleration)
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
    beyond = rates > most[:2]  # such a start may slow down, not speed up
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
