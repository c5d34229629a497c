# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The peaks of position, velocity and acceleration of each joint, and their times.

In: a :class:`.Trajectory` and limits. Out: :class:`Peak`. Peaks are exact: they are extremes of
the polynomials, not of samples.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np

from ..arrays import Array
from ..feedforward.motion.trajectory import Trajectory, derivative, turning_points, values_at
from .limits import Quantity, TrajectoryLimits

# Accepted excess over a limit by rounding, as a share of the limit, or in its unit below 1.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Peak:
    """The state of a joint that is nearest to a limit, in SI units."""

    joint: str
    quantity: Quantity
    value: float
    limit: float  # with its sign; infinite for no limit
    margin: float  # distance to the limit; negative beyond it
    time: float  # from the start of the trajectory, s

    @classmethod
    def symmetric(
        cls, joint: str, quantity: Quantity, value: float, limit: float, time: float
    ) -> Peak:
        """Return the peak of a quantity with the same limit in both directions."""
        return cls(joint, quantity, value, math.copysign(limit, value), limit - abs(value), time)

    @property
    def share(self) -> float | None:
        """The value as a share of the limit; ``None`` for a position, or without a limit."""
        if self.quantity is Quantity.POSITION or math.isinf(self.limit):
            return None
        return self.value / self.limit

    @property
    def is_violation(self) -> bool:
        """Whether the value is beyond the limit, by more than rounding."""
        return self.margin < -_ROUNDING * max(1.0, abs(self.limit))


def motion_peaks(trajectory: Trajectory, limits: TrajectoryLimits) -> list[Peak]:
    """Return the peaks of position, velocity and acceleration, joint after joint."""
    positions, velocities, accelerations = (extremes(trajectory, order) for order in range(3))
    peaks = []
    for index, joint in enumerate(limits.joint_names):
        (lowest, lowest_time), (highest, highest_time) = positions[:, :, index].tolist()
        lower, upper = float(limits.lower[index]), float(limits.upper[index])
        low = Peak(joint, Quantity.POSITION, lowest, lower, lowest - lower, lowest_time)
        high = Peak(joint, Quantity.POSITION, highest, upper, upper - highest, highest_time)
        peaks.append(low if low.margin < high.margin else high)
        for quantity, found, all_limits in (
            (Quantity.VELOCITY, velocities, limits.velocity),
            (Quantity.ACCELERATION, accelerations, limits.acceleration),
        ):
            value, time = max(found[:, :, index].tolist(), key=lambda pair: abs(pair[0]))
            peaks.append(Peak.symmetric(joint, quantity, value, float(all_limits[index]), time))
    return peaks


def extremes(trajectory: Trajectory, order: int) -> Array:
    """Return each joint's least and greatest value, and their times, shape (2, 2, joints)."""
    knots = trajectory.knots
    if knots.times.size == 1:
        value = (knots.positions, knots.velocities, knots.accelerations)[order][0]
        return np.broadcast_to((value, np.full_like(value, knots.times[0])), (2, 2, value.size))
    polynomials = derivative(trajectory, order)
    segments, powers, joints = polynomials.shape
    flat = np.moveaxis(polynomials, 1, 0).reshape(powers, segments * joints)
    s = turning_points(flat)
    values = values_at(flat, s).reshape(-1, joints)
    s = s.reshape(len(s), segments, joints)
    times = knots.times[:-1, np.newaxis] + s * np.diff(knots.times)[:, np.newaxis]
    times = times.reshape(-1, joints)
    columns = np.arange(joints)
    return np.array([
        (values[row, columns], times[row, columns])
        for row in (values.argmin(axis=0), values.argmax(axis=0))
    ])
