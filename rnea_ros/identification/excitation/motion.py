# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Motions from rest to rest: finite Fourier series, as points that a controller interpolates.

::

    qd(t) = sum over k of a_k cos(k w t) + b_k sin(k w t),    w = 2 pi / period
    sum of a_k = 0,    sum of k b_k = 0

(Swevers et al., "Optimal robot excitation and identification", IEEE T-RA 1997, eq. 14.) The two
conditions make velocity and acceleration zero at both ends, and the position returns to its start.
Every such motion is a combination of 2 K - 2 basic ones. Motions scale: half the coefficients are
half the distance from the start, at half the velocity and acceleration. A trajectory controller
interpolates the points of a motion by quintics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array
from ...feedforward.motion import Column, TrajectoryRequest
from ...feedforward.motion.trajectory import QUINTIC, Knots, States, Trajectory, states_in

HARMONICS = 5
DEGREES = 2 * HARMONICS - 2  # number of coefficients of a joint
POINTS = 200  # of a period: between them the quintics differ from the series by less than 1e-8
GRID = 1e-3  # interval of samples for the last check, s
WAY_SHARE = 0.25  # share of the velocity bounds that the way to the start uses
MIN_WAY = 2.0  # s
QUINTIC_PEAK = 1.875  # largest velocity of a quintic from rest to rest, by its mean velocity
BRAKE_POINTS = 10


@dataclass(frozen=True, eq=False)
class FourierBasis:
    """The basic motions at some times."""

    time: Array  # shape (N,), s
    position: Array  # distance from the start, shape (N, 8), s (times a velocity: rad or m)
    velocity: Array  # shape (N, 8)
    acceleration: Array  # shape (N, 8), 1/s

    @classmethod
    def at(cls, time: Array, period: float) -> FourierBasis:
        """Return the basic motions at some times, shape (N,), s."""
        k = np.arange(1, HARMONICS + 1)
        w = 2.0 * np.pi * k / period
        cosine, sine = np.cos(np.outer(time, w)), np.sin(np.outer(time, w))
        at_rest = np.zeros((2, 2 * HARMONICS))
        at_rest[0, :HARMONICS] = 1.0
        at_rest[1, HARMONICS:] = k
        free = np.linalg.svd(at_rest)[2][2:].T  # an orthonormal basis of the null space
        return cls(
            time,
            np.hstack((sine / w, (1.0 - cosine) / w)) @ free,
            np.hstack((cosine, sine)) @ free,
            np.hstack((-sine * w, cosine * w)) @ free,
        )

    def motion(self, start: Array, coefficients: Array) -> tuple[Array, Array, Array]:
        """Return q, qd and qdd, each of shape (N, n), for coefficients of shape (8, n)."""
        return (
            start + self.position @ coefficients,
            self.velocity @ coefficients,
            self.acceleration @ coefficients,
        )


@dataclass(frozen=True, eq=False)
class RestToRestMotion:
    """Points of n joints."""

    joint_names: tuple[str, ...]  #: the joints
    times: Array  #: from 0 on, shape (N,), s
    positions: Array  #: shape (N, n), rad or m
    velocities: Array  #: shape (N, n)
    accelerations: Array  #: shape (N, n)

    @property
    def states(self) -> States:
        """Positions, velocities and accelerations."""
        return self.positions, self.velocities, self.accelerations

    @property
    def duration(self) -> float:
        """Time of the last point, s."""
        return float(self.times[-1])

    def at(self, times: Array) -> States:
        """Return positions, velocities and accelerations at M times, s, each of shape (M, n)."""
        degrees = np.full(self.times.size, QUINTIC)
        trajectory = Trajectory(self.joint_names, None, Knots(self.times, *self.states, degrees))
        inside = np.clip(times, 0.0, self.duration)
        last = self.times.size - 2
        segment = np.clip(np.searchsorted(self.times, inside, side='right') - 1, 0, last)
        return states_in(
            trajectory, segment, (inside - self.times[segment]) / np.diff(self.times)[segment]
        )

    def sampled(self) -> tuple[Array, States]:
        """Return evenly spaced times with intervals of 1 ms or less, and the states there."""
        times = np.linspace(0.0, self.duration, int(np.ceil(self.duration / GRID)) + 1)
        return times, self.at(times)

    def slowed(self, speed: float) -> RestToRestMotion:
        """Return the motion at another speed: a factor, 0.5 for half as fast."""
        return replace(
            self, times=self.times / speed, velocities=self.velocities * speed,
            accelerations=self.accelerations * speed**2
        )

    def of_joints(self, names: Sequence[str]) -> RestToRestMotion:
        """Return the motion of some joints, in the given order."""
        columns = [self.joint_names.index(name) for name in names]
        return RestToRestMotion(
            tuple(names), self.times, *(values[:, columns] for values in self.states)
        )

    def after(self, way: RestToRestMotion) -> RestToRestMotion:
        """Return both motions, one after the other; ``way`` leads to this one's first point."""
        times = np.concatenate((way.times, way.duration + self.times[1:]))
        states = zip(way.states, self.states, strict=True)
        joined = (np.vstack((before, after[1:])) for before, after in states)
        return RestToRestMotion(self.joint_names, times, *joined)

    def braked(self, time: float, duration: float) -> RestToRestMotion:
        """
        Return a motion to rest within a duration, s, on this motion's path from a time, s.

        Its first point is after time 0.
        """
        s = np.arange(1, BRAKE_POINTS + 1) / BRAKE_POINTS
        # The speed factor falls from 1 to 0: 1 - 3 s^2 + 2 s^3; its integral is the way.
        factor, way = 1.0 - 3.0 * s**2 + 2.0 * s**3, s - s**3 + 0.5 * s**4
        slope = (6.0 * s**2 - 6.0 * s) / duration
        q, qd, qdd = self.at(time + duration * way)
        factor, slope = factor[:, np.newaxis], slope[:, np.newaxis]
        return RestToRestMotion(
            self.joint_names, duration * s, q, factor * qd, factor**2 * qdd + slope * qd
        )

    def request(self, joints: Sequence[str]) -> TrajectoryRequest:
        """Return the motion of some joints as a request."""
        q, qd, qdd = (Column.of(list(values)) for values in self.of_joints(joints).states)
        efforts = Column.of([()] * len(self.times))
        return TrajectoryRequest(tuple(joints), self.times, q, qd, qdd, efforts)


def fourier_motion(
    joint_names: tuple[str, ...], start: Array, coefficients: Array, period: float, periods: int
) -> RestToRestMotion:
    """Return periods of a Fourier series of n joints, for coefficients of shape (8, n)."""
    times = period / POINTS * np.arange(periods * POINTS + 1, dtype=np.float64)
    states = FourierBasis.at(times[:POINTS], period).motion(start, coefficients)
    for values, at_rest in zip(states, (start, *np.zeros((2, len(start)))), strict=True):
        values[0] = at_rest  # without rounding errors
    repeated = (np.vstack((np.tile(values, (periods, 1)), values[:1])) for values in states)
    return RestToRestMotion(joint_names, times, *repeated)


def way(
    joint_names: tuple[str, ...], start: Array, end: Array, velocity: Array
) -> RestToRestMotion:
    """
    Return a motion from rest to rest on a straight line between joint positions, shape (n,).

    :param velocity: velocity bounds, shape (n,), of which a quarter is used
    """
    duration = QUINTIC_PEAK * float((np.abs(end - start) / (WAY_SHARE * velocity)).max())
    rest = np.zeros((2, len(start)))
    times = np.array([0.0, max(duration, MIN_WAY)])
    return RestToRestMotion(joint_names, times, np.vstack((start, end)), rest, rest)
