# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Motions that begin in any state, made while the robot moves: to a stop, or to a target.

They are continuous up to the acceleration; a knot stands where the polynomial of a joint changes.
The motion to a target is Ruckig's (Berscheid and Kröger, "Jerk-limited real-time trajectory
generation with arbitrary target states", RSS 2021): the fastest one within the limits in which all
joints arrive together.
"""

from __future__ import annotations

from importlib.util import find_spec
from itertools import chain
from typing import NamedTuple

import numpy as np

from ...arrays import Array, Indices
from ...errors import RneaError
from .trajectory import OVERSHOOT, Knots, MotionState

_SHORTEST = 1e-6  # shortest time to a stop, s
FAR = 1e6  # distance that no motion covers, rad or m
SAME_TIME = 1e-5  # knots closer than this are one, s: shorter segments lose digits
_INFINITE = 1e9  # limit of rates without a limit, SI units; Ruckig accepts no infinity

MISSING = 'ruckig is not installed: pip install ruckig'


class Deceleration(NamedTuple):
    """Limits of the motion to a stop, (m,) each: deceleration, above 0, and position limits."""

    maximum: Array
    lower: Array
    upper: Array


class MotionLimits(NamedTuple):
    """Limits of a motion, (m,) each: of rates, above 0, perhaps infinite, and of positions."""

    velocity: Array
    acceleration: Array
    jerk: Array
    lower: Array
    upper: Array

    def of(self, joints: Indices) -> MotionLimits:
        """Return the limits of some joints."""
        return MotionLimits(*(values[joints] for values in self))


class Way(NamedTuple):
    """A spline of quintics: times, shape (n,), s; position, velocity, acceleration, (3, n, m)."""

    times: Array
    states: Array

    def later(self, time: float) -> Way:
        """Return the same motion a time later, s."""
        return Way(time + self.times, self.states)


class MotionError(RneaError):
    """There is no motion to a target within limits."""


def has_ruckig() -> bool:
    """Return whether the library of motions to a target is installed."""
    return find_spec('ruckig') is not None


def stop_motion(
    state: MotionState, limits: Deceleration, shortest: float | Array = 0.0
) -> Knots:
    """
    Return the motion from a state to rest; each joint goes straight on and stops by itself.

    As in ros2_control's joint_trajectory_controller, the rest of the trajectory does not matter.
    With T the time to the stop, s = t / T and p = 6 v / T + 3 a, the acceleration is
    (1 - s) (a - p s). It starts at a and ends at 0, and its greatest value in between is
    (p - a)^2 / (4 p). T is the shortest time for which this is at most the maximum, or at most
    abs(a) if that is greater. A joint that would leave its position limits stops at the limit.

    :param shortest: least time to the stop of each joint, but for the position limits, s
    """
    sign = np.where(state.velocity < 0.0, -1.0, 1.0)
    v, a = sign * state.velocity, sign * state.acceleration
    maximum = np.maximum(limits.maximum, np.abs(a))
    stop = np.maximum(3.0 * v / (maximum - a + np.sqrt(maximum * (maximum + a))), shortest)
    # The way to the stop is v T / 2 + a T^2 / 12.
    room = np.where(sign > 0.0, limits.upper - state.position, state.position - limits.lower)
    room = np.clip(room, 0.0, FAR)
    under_root = 0.25 * v * v + a * room / 3.0
    reaches = (under_root >= 0.0) & (v > 0.0)
    to_limit = 2.0 * room[reaches] / (0.5 * v[reaches] + np.sqrt(under_root[reaches]))
    stop[reaches] = np.minimum(stop[reaches], to_limit)
    stop = np.maximum(stop, _SHORTEST)

    times = np.unique(np.append(stop, 0.0))
    s = np.minimum(times[:, np.newaxis] / stop, 1.0)
    rest = 1.0 - s
    p = 6.0 * v / stop + 3.0 * a
    qdd = rest * (a - p * s)
    # Integrals of the acceleration; with the factor (1 - s) the end is exactly at rest.
    qd = rest * rest * (v + s * (2.0 * v + stop * a))
    way = stop * s * (v + s * (0.5 * stop * a - s * ((a + p) * stop / 6.0 - s * p * stop / 12.0)))
    q = state.position + sign * way
    return Knots.quintic(times, (q, sign * qd, sign * qdd))


def motion_to(state: MotionState, position: Array, limits: MotionLimits) -> Way:
    """
    Return the fastest motion from a state to rest at a position.

    All joints arrive together. Rates of the state may be above the limits: it brakes first.

    :raises MotionError: ruckig is not installed, or finds no motion within the position limits
    """
    return _found(state, position, limits)


def motion_to_rest(state: MotionState, limits: MotionLimits) -> Way:
    """
    Return the motion in which each joint comes to rest as fast as its limits permit.

    A joint that cannot stop before a position limit stops at it, above its other limits.
    """
    try:
        return _found(state, None, limits)
    except MotionError:
        stop = Deceleration(limits.acceleration, limits.lower, limits.upper)
        # In this time a joint at rest loses its acceleration within the limit of the jerk.
        knots = stop_motion(state, stop, shortest=4.0 * limits.acceleration / limits.jerk)
        states = np.stack((knots.positions, knots.velocities, knots.accelerations))
        return Way(knots.times, states)


def _found(state: MotionState, position: Array | None, limits: MotionLimits) -> Way:
    """Return Ruckig's motion from a state to rest, at a position or anywhere."""
    try:
        import ruckig
    except ModuleNotFoundError as error:
        raise MotionError(MISSING) from error

    asked = ruckig.InputParameter(state.position.size)
    asked.current_position, asked.current_velocity, asked.current_acceleration = (
        values.tolist() for values in state[:3]
    )
    if position is None:
        asked.control_interface = ruckig.ControlInterface.Velocity
        asked.synchronization = ruckig.Synchronization.No
    else:
        asked.target_position = position.tolist()
    asked.max_velocity, asked.max_acceleration, asked.max_jerk = (
        np.minimum(rates, _INFINITE).tolist() for rates in limits[:3]
    )
    found = ruckig.Trajectory(state.position.size)
    try:
        ruckig.Ruckig(state.position.size).calculate(asked, found)
    except (ruckig.RuckigError, ValueError) as error:  # of results that its binding lacks
        raise MotionError(f'there is no motion: {error}') from error
    # The jerk is constant between the ends of the parts of the joints' profiles.
    ends = np.cumsum([[*profile.brake.t, *profile.t] for profile in found.profiles[0]], axis=1)
    times = np.unique(np.append(ends, 0.0))
    times = times[np.append(True, np.diff(times) > SAME_TIME)]
    rows = chain.from_iterable(map(found.at_time, times.tolist()))  # each of m values
    states = np.fromiter(chain.from_iterable(rows), dtype=np.float64)
    states = states.reshape(times.size, 3, -1).swapaxes(0, 1)
    # found.position_extrema is wrong for motions to rest (Ruckig 0.19.4).
    q, qd, _ = states
    between = 0.5 * (q[1:] + q[:-1]) - 0.125 * np.diff(times)[:, np.newaxis] * np.diff(qd, axis=0)
    path = np.concatenate((q, between))
    # A state beyond a limit may come back.
    lower = np.minimum(limits.lower, state.position) - OVERSHOOT
    upper = np.maximum(limits.upper, state.position) + OVERSHOOT
    if ((path < lower) | (path > upper)).any():
        raise MotionError('the motion leaves the position limits')
    return Way(times, states)
