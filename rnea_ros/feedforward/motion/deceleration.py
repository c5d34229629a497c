# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The motion to a stop after a cancel, with a bounded deceleration and a continuous acceleration.

In: the desired state. Out: a :class:`.Trajectory` that ends at rest. Each joint goes straight on
and stops by itself, whatever the cancelled trajectory would have done next, as with
``decelerate_on_cancel`` of ros2_control's joint_trajectory_controller (JTC).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Array
from .spline import QUINTIC, Knots
from .trajectory import MotionState, Trajectory

_SHORTEST = 1e-6  # shortest time to a stop, s
_NO_LIMIT = 1e6  # distance to a position limit that no motion covers, rad or m


class Deceleration(NamedTuple):
    """
    Limits of the motion to a stop.

    :param maximum: greatest deceleration, above 0, shape (m,), rad/s^2 or m/s^2
    :param lower: lower position limits, shape (m,), rad or m
    :param upper: upper position limits, shape (m,), rad or m
    """

    maximum: Array
    lower: Array
    upper: Array


def stop_motion(
    joint_names: tuple[str, ...], state: MotionState, limits: Deceleration
) -> Trajectory:
    """
    Return the motion from a state to rest, which begins with its velocity and acceleration.

    With T the time to the stop, s = t / T and p = 6 v / T + 3 a, the acceleration is
    (1 - s) (a - p s). It starts at a and ends at 0, and its greatest value in between is
    (p - a)^2 / (4 p). T is the shortest time for which this is at most the maximum, or at most
    abs(a) if that is greater. A joint that would leave its position limits stops at the limit.
    """
    sign = np.where(state.velocity < 0.0, -1.0, 1.0)
    v, a = sign * state.velocity, sign * state.acceleration
    maximum = np.maximum(limits.maximum, np.abs(a))
    stop = 3.0 * v / (maximum - a + np.sqrt(maximum * (maximum + a)))
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
    return Trajectory(
        joint_names, None, Knots(times, q, sign * qd, sign * qdd, np.full(times.size, QUINTIC))
    )
