# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The leader's motion at the time of a set-point: position, velocity and acceleration.

Joint states have no acceleration. It is the state of a causal observer of second order whose input
is the measured velocity: at constant acceleration its velocity has no delay, which a low-pass
filter would have. A delayed velocity would pull the follower back with its damping.
"""

from __future__ import annotations

import math

import numpy as np

from ..arrays import Array

DAMPING_RATIO = math.sqrt(0.5)  # of the observer: a Butterworth filter


class LeaderMotion:
    """Filters the motion of m joints; the cut-off frequency is that of the acceleration, Hz."""

    def __init__(self, m: int, cutoff: float) -> None:
        self._frequency = math.tau * cutoff
        self._time = -math.inf
        self._position = np.zeros(m)
        self._velocity = np.zeros(m)
        self._acceleration = np.zeros(m)

    def update(self, position: Array, velocity: Array, time: float, gap: float) -> None:
        """Take a newer state, received at a time, s; the filter starts anew after a gap, s."""
        elapsed = time - self._time
        if elapsed <= 0.0:
            return
        self._time = time
        self._position = position.copy()
        if elapsed > gap:
            self._velocity, self._acceleration = velocity.copy(), np.zeros_like(velocity)
            return
        # Implicit Euler steps of v' = a + 2 D w e, a' = w^2 e with e = measured - v: stable for
        # every interval.
        w = self._frequency
        damped, stiff = 2.0 * DAMPING_RATIO * w * elapsed, (w * elapsed) ** 2
        error = velocity - self._velocity - elapsed * self._acceleration
        error /= 1.0 + damped + stiff
        self._acceleration = self._acceleration + w * w * elapsed * error
        self._velocity = velocity - error

    def at(self, time: float, longest: float) -> tuple[Array, Array, Array]:
        """Return q, qd, qdd, shape (m,), extrapolated by at most ``longest``, s, to a time."""
        t = min(max(time - self._time, 0.0), longest)
        velocity = self._velocity + t * self._acceleration
        position = self._position + 0.5 * t * (self._velocity + velocity)
        return position, velocity, self._acceleration
