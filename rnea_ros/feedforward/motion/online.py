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

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Array
from ...errors import RneaError
from .trajectory import QUINTIC, Knots, MotionState

_SHORTEST = 1e-6  # shortest time to a stop, s
_NO_LIMIT = 1e6  # distance to a position limit that no motion covers, rad or m
_SAME_TIME = 1e-5  # knots closer than this are one, s: shorter segments lose digits
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

    @property
    def stop(self) -> Deceleration:
        """Limits of a motion to a stop."""
        return Deceleration(self.acceleration, self.lower, self.upper)


class MotionError(RneaError):
    """There is no motion to a target within limits."""


def has_ruckig() -> bool:
    """Return whether the library of motions to a target is installed."""
    return find_spec('ruckig') is not None


def stop_motion(
    state: MotionState, limits: Deceleration, shortest: float = 0.0
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
    room = np.clip(room, 0.0, _NO_LIMIT)
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
    return Knots(times, q, sign * qd, sign * qdd, np.full(times.size, QUINTIC))


def motion_to(
    state: MotionState, position: Array, limits: MotionLimits, velocity: Array | None = None
) -> Knots:
    """
    Return the fastest motion from a state to a position, at rest there or with a velocity.

    All joints arrive together. Rates of the state may be above the limits: it brakes first.
    Position limits are not looked at, as they contain both ends.

    :raises MotionError: ruckig is not installed, or finds no motion
    """
    if not has_ruckig():
        raise MotionError(MISSING)
    import ruckig

    target = ruckig.InputParameter(position.size)
    target.current_position, target.current_velocity, target.current_acceleration = (
        values.tolist() for values in state[:3]
    )
    target.target_position = position.tolist()
    if velocity is not None:
        target.target_velocity = velocity.tolist()
    target.max_velocity, target.max_acceleration, target.max_jerk = (
        np.minimum(rates, _INFINITE).tolist() for rates in limits[:3]
    )
    found = ruckig.Trajectory(position.size)
    try:
        ruckig.Ruckig(position.size).calculate(target, found)
    except ruckig.RuckigError as error:
        raise MotionError(f'no motion to {position.tolist()}: {error}') from error
    return _knots(found.profiles[0], found)


def _knots(profiles: Sequence[Any], found: Any) -> Knots:
    """Return the knots of Ruckig's motion; the jerk is constant between them."""
    ends = [np.cumsum([*profile.brake.t, *profile.t]) for profile in profiles]
    times = np.unique(np.append(np.concatenate(ends), 0.0))
    times = times[np.append(True, np.diff(times) > _SAME_TIME)]
    q, qd, qdd = np.moveaxis(np.array([found.at_time(t) for t in times.tolist()]), 1, 0)
    return Knots(times, q, qd, qdd, np.full(times.size, QUINTIC))
