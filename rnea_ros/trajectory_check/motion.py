# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The figures of a motion: peaks of all quantities, efforts without friction, fastest time scaling.

Peaks of position, velocity and acceleration are exact, extremes of the polynomials; efforts are
sampled. The fastest uniform time scaling multiplies all times by the least factor s. Velocities
are divided by s, accelerations and the dynamic part of the efforts by s^2; gravity g stays::

    tau(s) = g + (tau - g) / s^2.

Each sample bounds s from below by its effort limit: the least s is exact for the samples.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
import math

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..feedforward.motion.trajectory import (
    Trajectory,
    derivative,
    states_in,
    turning_points,
    values_at,
)
from ..robot import RobotModel
from .limits import Quantity, TrajectoryLimits

MAX_SAMPLES = 1_000_000  # some hundred MB for seven joints

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


@dataclass(frozen=True, eq=False)
class Efforts:
    """Efforts from rest to rest; times are twice the same at points, where efforts may step."""

    time: Array  # from the start of the trajectory, s, shape (N,)
    total: Array  # required efforts, shape (N, n), N m or N
    gravity: Array  # part of gravity in them, shape (N, n), N m or N
    position: Array  # shape (N, n), rad or m
    velocity: Array  # shape (N, n), rad/s or m/s

    @classmethod
    def of_motion(cls, model: RobotModel, trajectory: Trajectory, rate: float) -> Efforts:
        """Return the efforts at both sides of all points and at least at a rate, Hz."""
        time, q, qd, qdd = _samples(trajectory, rate)
        total, gravity = model.inverse_dynamics_batch(q, qd, qdd), model.gravity_torques_batch(q)
        return cls(time, total, gravity, q, qd)

    def peaks(self, limits: TrajectoryLimits) -> list[Peak]:
        """Return the greatest effort of each joint."""
        rows = np.abs(self.total).argmax(axis=0)
        return [
            Peak.symmetric(
                joint, Quantity.EFFORT, float(self.total[row, index]), float(limits.effort[index]),
                float(self.time[row])
            )
            for index, (joint, row) in enumerate(zip(limits.joint_names, rows, strict=True))
        ]


@dataclass(frozen=True)
class Bound:
    """The least factor of a motion's times within the limits."""

    stretch: float  # the factor; infinite if gravity alone exceeds an effort limit
    joint: str  # joint whose limit is reached
    quantity: Quantity
    time: float  # at which it is reached, s from the start of the unscaled trajectory


def bound_by_efforts(efforts: Efforts, limits: TrajectoryLimits) -> Bound:
    """Return the bound by the effort limits, of the efforts of the unscaled motion."""
    dynamic = efforts.total - efforts.gravity
    room = limits.effort - np.copysign(efforts.gravity, np.sign(efforts.gravity) * dynamic)
    with np.errstate(divide='ignore', invalid='ignore', over='ignore'):
        squared = np.where(dynamic == 0.0, 0.0, np.abs(dynamic) / room)
        excess = np.abs(efforts.gravity) / limits.effort
    too_heavy = np.abs(efforts.gravity) > limits.effort
    squared[too_heavy] = math.inf
    # Where gravity alone exceeds the limit, report the greatest excess.
    worst = np.where(too_heavy, excess, 0.0) if too_heavy.any() else squared
    row, joint = (int(index) for index in np.unravel_index(worst.argmax(), worst.shape))
    return Bound(
        math.sqrt(squared[row, joint]), limits.joint_names[joint], Quantity.EFFORT,
        float(efforts.time[row])
    )


def bounds_by_motion(peaks: Iterable[Peak]) -> list[Bound]:
    """Return the bounds by velocity and acceleration limits, of peaks of the unscaled motion."""
    powers = {Quantity.VELOCITY: 1.0, Quantity.ACCELERATION: 0.5}
    return [
        Bound(peak.share ** powers[peak.quantity], peak.joint, peak.quantity, peak.time)
        for peak in peaks
        if peak.quantity in powers and peak.share is not None
    ]


def motion_peaks(trajectory: Trajectory, limits: TrajectoryLimits) -> list[Peak]:
    """Return the peaks of position, velocity and acceleration, joint after joint."""
    positions, velocities, accelerations = (_extremes(trajectory, order) for order in range(3))
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


def _extremes(trajectory: Trajectory, order: int) -> Array:
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


def _samples(trajectory: Trajectory, rate: float) -> tuple[Array, Array, Array, Array]:
    """Return times, s, shape (N,), and q, qd, qdd, shape (N, joints), from rest to rest."""
    if not 0.0 < rate < math.inf:
        raise InputError('rate', f'{rate:g} Hz is not positive and finite')
    knots = trajectory.knots
    durations = np.diff(knots.times)
    steps = np.maximum(np.ceil(durations * rate), 1.0)
    count = float((steps + 1.0).sum())
    if count > MAX_SAMPLES:
        raise InputError('rate', f'{rate:g} Hz makes {count:.0f} samples, more than {MAX_SAMPLES}')
    rows = steps.astype(np.int64) + 1
    segment = np.repeat(np.arange(len(rows)), rows)
    within = np.arange(len(segment)) - np.repeat(np.cumsum(rows) - rows, rows)
    s = within / steps[segment]
    if len(rows):
        time = knots.times[segment] + s * durations[segment]
        q, qd, qdd = states_in(trajectory, segment, s)
    else:
        time, q, qd, qdd = knots.times, knots.positions, knots.velocities, knots.accelerations
    ends = time[[0, -1]]
    rest = np.zeros_like(knots.positions[:1])
    return (
        np.concatenate((ends[:1], time, ends[1:])),
        np.concatenate((q[:1], q, q[-1:])),
        np.concatenate((rest, qd, rest)),
        np.concatenate((rest, qdd, rest)),
    )
