# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The efforts on the leader: filtered, limited and passive.

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
from .settings import FeedbackSettings

# Bound of the counted energy, positive or negative, J. An impact takes more: what is lost in it
# must not feed an oscillation later.
STORE = 1.0

# Time constant with which energy taken is forgotten, s. Without it arms that lean on a wall shake:
# each swing spends the energy of earlier ones.
MEMORY = 0.2

# Shortest time from zero to the limit of an effort, s. The leader's node limits the rate of its
# commands: a faster rise would be counted but not applied.
RISE_TIME = 0.05


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
