# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The follower's set-points: continuous, and inside its limits whatever the leader does.

A set-point never moves faster than the follower's velocity limits, brakes before a position limit,
and stays near the measured follower. So the follower's node rejects none of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..feedforward.motion import JointRules

APPROACH = 0.05  # time constant of the end of a motion with limited acceleration, s


class Motion(NamedTuple):
    """A desired state of m joints."""

    position: Array  # shape (m,), rad or m
    velocity: Array  # shape (m,), rad/s or m/s
    acceleration: Array  # shape (m,), rad/s^2 or m/s^2


class FollowerSetpoints:
    """
    Makes the next set-point from the last one.

    Arguments ``measured`` are positions of the follower, shape (m,), rad or m; ``dt`` is the time
    since the last set-point, s. ``max_deviation``, rad or m, is from the measured follower;
    ``max_acceleration``, rad/s^2 or m/s^2, applies to motions that the leader does not make.
    """

    def __init__(self, rules: JointRules, max_acceleration: float, max_deviation: float) -> None:
        self._rules, self._acceleration, self._deviation = rules, max_acceleration, max_deviation
        zero = np.zeros(len(rules.joint_names))
        self.motion = Motion(zero, zero, zero)
        # Joints whose last set-point is not at its target because of a limit.
        self.limited: NDArray[np.bool_] = np.zeros(zero.shape, dtype=np.bool_)

    def restart(self, position: Array) -> None:
        """Start at rest, at a position."""
        zero = np.zeros_like(position)
        self.motion = Motion(position.copy(), zero, zero)
        self.limited[:] = False

    def follow(self, target: Motion, measured: Array, dt: float) -> None:
        """Go to a target, at once if no limit is in the way."""
        wanted = target.position - self.motion.position
        step = self._permitted(wanted, measured, self._rules.velocity_limits, dt)
        self.limited = np.abs(step - wanted) > 1e-9
        speeds = self._rules.velocity_limits
        velocity = np.where(self.limited, step / dt, np.clip(target.velocity, -speeds, speeds))
        acceleration = np.where(self.limited, 0.0, target.acceleration)
        self.motion = Motion(self.motion.position + step, velocity, acceleration)

    def approach(self, target: Motion, measured: Array, speed: float, dt: float) -> None:
        """Go towards a target with limited speed, rad/s or m/s, and acceleration."""
        error = target.position - self.motion.position
        velocity = target.velocity + np.sign(error) * self._braking_speed(np.abs(error))
        self._accelerate(np.clip(velocity, -speed, speed), measured, speed, dt)

    def stop(self, measured: Array, dt: float) -> None:
        """Come to rest with limited acceleration."""
        self._accelerate(np.zeros_like(measured), measured, np.inf, dt)

    @property
    def at_rest(self) -> bool:
        """Whether the last set-point has no velocity."""
        return not self.motion.velocity.any()

    def _accelerate(self, wanted: Array, measured: Array, speed: float, dt: float) -> None:
        before = self.motion
        change = self._acceleration * dt
        velocity = before.velocity + np.clip(wanted - before.velocity, -change, change)
        # A motion that is already faster may slow down.
        speeds = np.maximum(speed, np.abs(before.velocity))
        speeds = np.minimum(speeds, self._rules.velocity_limits)
        step = self._permitted(velocity * dt, measured, speeds, dt)
        self.limited = np.abs(step - velocity * dt) > 1e-9
        velocity = np.where(self.limited, step / dt, velocity)
        acceleration = np.where(self.limited, 0.0, (velocity - before.velocity) / dt)
        self.motion = Motion(before.position + step, velocity, acceleration)

    def _permitted(self, step: Array, measured: Array, speeds: Array, dt: float) -> Array:
        """Return the step, cut to what the limits permit."""
        q, rules = self.motion.position, self._rules
        below = np.maximum(q - np.maximum(rules.lower, measured - self._deviation), 0.0)
        above = np.maximum(np.minimum(rules.upper, measured + self._deviation) - q, 0.0)
        # Never beyond the limit itself: the braking speed would pass it by a rounding error.
        lowest = -np.minimum(dt * np.minimum(self._braking_speed(below), speeds), below)
        highest = np.minimum(dt * np.minimum(self._braking_speed(above), speeds), above)
        return np.clip(step, lowest, highest)

    def _braking_speed(self, distance: Array) -> Array:
        """Return the speed from which the distance suffices to stop, smooth at its end."""
        a = self._acceleration
        with np.errstate(invalid='ignore'):
            speed: Array = np.sqrt((a * APPROACH) ** 2 + 2.0 * a * distance) - a * APPROACH
        return speed
