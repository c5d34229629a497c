# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The leader at a set-point: its motion, and the efforts on it, filtered, limited and passive.

Joint states have no acceleration. It comes from a causal observer of second order whose
input is the measured velocity: at constant acceleration its velocity has no delay, which a
low-pass filter would have. A delayed velocity would pull the follower back with its damping.

Of a leader without a node only the positions count, which may be few and uneven. They are shaped
as a stream: a continuous motion, 1.4 of their periods late.

A delay between contact and hand feeds energy into the leader: it gets more on the way out of a
contact than it gave on the way in, and the arms oscillate. A passivity observer counts the energy
that the feedback takes from the leader. When the feedback would give more than it has taken, the
passivity controller damps the leader by the difference (Hannaford and Ryu, "Time-domain passivity
control of haptic interfaces", IEEE Transactions on Robotics and Automation 18(1), 2002). The delay
need not be known. One damping acts on the momentum of all joints: one for each joint is not
enough: light wrists cannot dissipate the energy of heavy joints.
"""

from __future__ import annotations

import math

import numpy as np

from ..arrays import Array
from ..feedforward import JointStateMonitor
from ..feedforward.motion import Knots, MotionLimits, MotionState, Trajectory
from ..feedforward.motion.shaping import load_shaping, shaped
from ..feedforward.motion.stream import StreamEstimator
from .settings import FeedbackSettings

DAMPING_RATIO = math.sqrt(0.5)  # of the observer: a Butterworth filter

# Bound of the counted energy, positive or negative, J. An impact takes more: what is lost in it
# must not feed an oscillation later.
STORE = 1.0

# Time constant with which energy taken is forgotten, s. Without it arms that lean on a wall shake:
# each swing spends the energy of earlier ones.
MEMORY = 0.2

# Shortest time from zero to the limit of an effort, s. The leader's node limits the rate of its
# commands: a faster rise would be counted but not applied.
RISE_TIME = 0.05

# Limits of a motion made of positions: time from rest to ``leader_velocity``, and to the full
# acceleration, s. A hand is rarely faster; a Panda accepts these accelerations.
FULL_SPEED, FULL_ACCELERATION = 0.2, 0.02


class LeaderMotion:
    """Filters the motion of m joints; the cut-off frequency is that of the acceleration, Hz."""

    def __init__(self, m: int, cutoff: float) -> None:
        self._frequency, self._time = math.tau * cutoff, -math.inf
        self._position, self._velocity, self._acceleration = np.zeros((3, m))

    def update(self, states: JointStateMonitor, now: float, gap: float) -> None:
        """Take the newest state, if it is newer; the filter starts anew after a gap, s."""
        position, velocity, time = states.position, states.velocity, now - states.age(now)
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


class LeaderStream:
    """Makes a motion of m joints from positions alone; ``speed``: its limit, rad/s or m/s."""

    def __init__(self, m: int, speed: float) -> None:
        acceleration = speed / FULL_SPEED
        rates = speed, acceleration, acceleration / FULL_ACCELERATION
        self._limits = MotionLimits(*np.outer((*rates, -np.inf, np.inf), np.ones(m)))
        self._begin = -math.inf  # of the motion: when the newest positions were taken, s
        self._estimator = StreamEstimator(self._limits.acceleration)
        self._motion: Trajectory | None = None
        self._joints, self._names = np.arange(m), m * ('',)
        load_shaping()

    def update(self, states: JointStateMonitor, now: float, gap: float) -> None:
        """Take the newest state once each joint is newer; start at rest after a gap, s."""
        if now - states.age(now) <= self._begin:
            return
        if self._motion is None or now - self._begin > gap:
            start = MotionState.at_rest(states.position)
            self._estimator = StreamEstimator(self._limits.acceleration)
        else:
            start = self._motion.state(now - self._begin)
        self._begin = now
        made = states.sample_time(self._joints)  # without stamps: received
        point = self._estimator.take(states.position.copy(), None, now, made)
        way = shaped(now, start, [point], self._limits)
        self._motion = Trajectory(self._names, None, Knots.quintic(*way))

    def at(self, time: float, longest: float) -> tuple[Array, Array, Array]:
        """Return q, qd, qdd, shape (m,), at a time; without newer positions it comes to rest."""
        assert self._motion is not None
        position, velocity, acceleration, _ = self._motion.state(time - self._begin)
        return position, velocity, acceleration


class LeaderEffort:
    """Filters and limits the efforts on the leader so that they stay passive."""

    def __init__(self, settings: FeedbackSettings) -> None:
        self._limits = np.array(settings.limits)
        self._time_constant = 1.0 / (math.tau * settings.cutoff)
        self._damping_rate = settings.damping_rate
        self.restart()

    def restart(self) -> None:
        """Start with no effort and no energy."""
        self._filtered = np.zeros_like(self._limits)
        self.effort = np.zeros_like(self._limits)  # on the leader, shape (m,), N m or N
        self._velocity = np.zeros_like(self._limits)
        self.energy = 0.0  # that the feedback has taken from the leader lately, J
        self.damping = 0.0  # of the passivity controller divided by inertia, 1/s

    def update(
        self, wanted: Array, velocity: Array, inertia: Array, share: float, dt: float
    ) -> None:
        """
        Compute the next efforts from wanted ones and the leader's velocity and mass matrix (m, m).

        The share of the efforts, 0 to 1, makes a smooth start. ``dt`` is since the last call, s.
        """
        wanted = np.clip(wanted, -self._limits, self._limits)
        self._filtered += dt / (dt + self._time_constant) * (wanted - self._filtered)
        felt = share * self._filtered
        # The last effort acted while the velocity changed from the last one to this one.
        given = 0.5 * dt * float(self.effort @ (self._velocity + velocity))
        energy = min(max(self.energy - given, -STORE), STORE)
        self.energy = energy if energy < 0.0 else energy * MEMORY / (MEMORY + dt)
        self._velocity = velocity.copy()
        momentum = inertia @ velocity
        motion = float(velocity @ momentum)
        missing = dt * float(felt @ velocity) - self.energy
        self.damping = 0.0
        if missing > 0.0 and motion > 0.0:
            self.damping = min(missing / (dt * motion), self._damping_rate)
        felt = np.clip(felt - self.damping * momentum, -self._limits, self._limits)
        change = dt / RISE_TIME * self._limits
        self.effort = self.effort + np.clip(felt - self.effort, -change, change)
