# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Motions that are ready to be followed: trajectories and set-points.

In: :class:`.Knots`, checked by :mod:`.compile`. Out: the desired state at any time.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, Indices
from .spline import CUBIC, LINEAR, QUINTIC, Knots, coefficients, values_at


class MotionState(NamedTuple):
    """
    The desired state at one time; arrays of shape (joints,), rad or m, and s; N m or N.

    The effort is added to the output.
    """

    position: Array
    velocity: Array
    acceleration: Array
    effort: Array

    @classmethod
    def at_rest(cls, position: Array) -> MotionState:
        """Return a state at rest: velocity, acceleration and effort are 0."""
        return cls(position, *np.zeros((3, position.size)))


@dataclass(frozen=True, eq=False)
class Setpoint:
    """
    A streamed set-point: one point at time 0, followed until the next one comes.

    Its velocity may be nonzero. :class:`.Reference` ends it after a timeout.

    :param start_time: time in the clock of the request's stamp, s; ``None`` for at once
    :param joint_names: joints in the controller's order
    :param q: joint positions, shape (joints,), rad or m
    :param qd: joint velocities, shape (joints,), rad/s or m/s; 0 for absent ones
    :param qdd: joint accelerations, shape (joints,), rad/s^2 or m/s^2; 0 for absent ones
    :param effort: effort added to the output, shape (joints,), N m or N; ``None`` for none
    :param from_controller: whether a trajectory controller publishes it. Then speed scaling is
        already applied, and a missing next set-point is a fault, even at rest
    """

    start_time: float | None
    joint_names: tuple[str, ...]
    q: Array
    qd: Array
    qdd: Array
    effort: Array | None = None
    from_controller: bool = False

    @property
    def state(self) -> MotionState:
        """The desired state."""
        effort = np.zeros_like(self.q) if self.effort is None else self.effort
        return MotionState(self.q, self.qd, self.qdd, effort)

    def as_trajectory(self) -> Trajectory:
        """Return a trajectory of one point with the same state, without effort."""
        degree = QUINTIC if self.qdd.any() else CUBIC if self.qd.any() else LINEAR
        q, qd, qdd = (values[np.newaxis] for values in (self.q, self.qd, self.qdd))
        knots = Knots(np.zeros(1), q, qd, qdd, np.array([degree]))
        return Trajectory(self.joint_names, self.start_time, knots)


class Polynomials(NamedTuple):
    """
    The polynomials of all segments, in the segment's own time s in [0, 1].

    :param positions: coefficients of s^0 to s^5, shape (segments, 6, joints), rad or m
    :param efforts: efforts at the start and at the end of each segment, linear between them, shape
        (segments, 2, joints), N m or N; ``None`` for none
    """

    positions: Array
    efforts: Array | None


class Join(NamedTuple):
    """
    How a trajectory continues an earlier one, in whose time it is stated.

    :param root: the trajectory that the first one was joined to; its time is that of all
    :param begin: time at which the request takes over, s
    :param zero: time 0 of the request, s
    :param sources: the trajectories that are followed from then on, each with its joints
    """

    root: Trajectory
    begin: float
    zero: float
    sources: tuple[tuple[Trajectory, Indices], ...]


class Trajectory:
    """
    A desired motion of all joints. Any thread may sample it.

    :param joint_names: joints in the controller's order
    :param start_time: time in the clock of the request's stamp, s; ``None``: the trajectory starts
        when it is first sampled
    :param knots: at least one point
    :param polynomials: one for each segment; ``None`` for those through the points
    :param join: how it continues an earlier trajectory; ``None`` for one of its own
    :ivar duration: time of the last point, s
    :ivar final_position: position that is held from the end on, shape (joints,), rad or m
    :ivar coefficients: coefficients of s^0 to s^5 with s in [0, 1] in each segment, shape
        (segments, 6, joints)
    :ivar efforts: efforts at the start and at the end of each segment, shape (segments, 2, joints)
    """

    def __init__(
        self, joint_names: tuple[str, ...], start_time: float | None, knots: Knots,
        polynomials: Polynomials | None = None, join: Join | None = None,
    ) -> None:
        self.joint_names = joint_names
        self.start_time = start_time
        self.knots = knots
        self.join = join
        self.duration = float(knots.times[-1])
        self.final_position = knots.positions[-1]
        self.coefficients, self.efforts = _through(knots) if polynomials is None else polynomials
        self.coefficients.setflags(write=False)
        # Bisecting a numpy array is slow, as each access makes a numpy scalar. A list of thousands
        # of floats takes long to make, and the control loop would wait for it.
        self._times = array('d', knots.times.tobytes())
        self._rates = array('d', (1.0 / np.diff(knots.times)).tobytes())

    @property
    def root(self) -> Trajectory:
        """The trajectory in whose time this one is stated: itself unless it was joined."""
        return self if self.join is None else self.join.root

    def as_trajectory(self) -> Trajectory:
        """Return this trajectory; see :meth:`.Setpoint.as_trajectory`."""
        return self

    def state(self, t_since_start: float) -> MotionState:
        """Return the desired state at a time since the start, s, in new arrays."""
        state = MotionState(*np.empty((4, len(self.joint_names))))
        self.sample(t_since_start, *state[:3])
        self.sample_effort(t_since_start, state.effort)
        return state

    def sample(self, t_since_start: float, q_out: Array, qd_out: Array, qdd_out: Array) -> bool:
        """
        Write the desired state at a time into arrays of the caller.

        The first position is held before the start, and the last position from the end on, both
        with velocity and acceleration 0. JTC differs: it moves to a first point at once, even
        with a stamp in the future, and it repeats the last point's velocity and acceleration for
        ever. Inverse dynamics would turn these into torques for a motion that has ended.

        :param t_since_start: time since the start, s
        :param q_out: joint positions, shape (joints,), rad or m
        :param qd_out: joint velocities, shape (joints,), rad/s or m/s
        :param qdd_out: joint accelerations, shape (joints,), rad/s^2 or m/s^2
        :returns: whether the motion has ended
        """
        # Negated, so that NaN holds the first position.
        if not t_since_start >= self._times[0]:
            _hold(self.knots.positions[0], q_out, qd_out, qdd_out)
            return False
        if t_since_start >= self.duration:
            _hold(self.final_position, q_out, qd_out, qdd_out)
            return True
        segment = bisect_right(self._times, t_since_start) - 1
        rate = self._rates[segment]
        s = (t_since_start - self._times[segment]) * rate
        s2 = s * s
        s3 = s2 * s
        s4 = s3 * s
        rate2 = rate * rate
        # Rows: powers of s, and their first and second derivatives with respect to time.
        powers = np.array((
            (1.0, s, s2, s3, s4, s4 * s),
            (0.0, rate, 2.0 * s * rate, 3.0 * s2 * rate, 4.0 * s3 * rate, 5.0 * s4 * rate),
            (0.0, 0.0, 2.0 * rate2, 6.0 * s * rate2, 12.0 * s2 * rate2, 20.0 * s3 * rate2),
        ))
        q_out[:], qd_out[:], qdd_out[:] = np.dot(powers, self.coefficients[segment])
        return False

    def sample_effort(self, t_since_start: float, effort_out: Array) -> None:
        """Write the points' efforts: linear between them, 0 before the start and at the end."""
        efforts = self.efforts
        if efforts is None or not self._times[0] <= t_since_start < self.duration:
            effort_out[:] = 0.0
            return
        segment = bisect_right(self._times, t_since_start) - 1
        s = (t_since_start - self._times[segment]) * self._rates[segment]
        at_start, at_end = efforts[segment]
        effort_out[:] = (1.0 - s) * at_start + s * at_end


def _through(knots: Knots) -> Polynomials:
    """Return the polynomials through the points."""
    efforts = knots.efforts
    if efforts is not None:
        efforts = np.stack((efforts[:-1], efforts[1:]), axis=1)
    return Polynomials(coefficients(knots), efforts)


def _hold(position: Array, q_out: Array, qd_out: Array, qdd_out: Array) -> None:
    q_out[:] = position
    qd_out[:] = 0.0
    qdd_out[:] = 0.0


States: TypeAlias = tuple[Array, Array, Array]


def derivative(trajectory: Trajectory, order: int) -> Array:
    """
    Return the time derivative of each segment's polynomial, as a polynomial in s.

    :param order: order of the derivative; 0 for the positions themselves
    :returns: coefficients of s^0, s^1, ..., shape (segments, powers, joints)
    """
    durations = np.diff(trajectory.knots.times)[:, np.newaxis, np.newaxis]
    polynomials = trajectory.coefficients
    for _ in range(order):
        powers = np.arange(1.0, polynomials.shape[1])[:, np.newaxis]
        polynomials = powers * polynomials[:, 1:] / durations
    return polynomials


def states_in(trajectory: Trajectory, segment: NDArray[np.intp], s: Array) -> States:
    """Return q, qd and qdd, (N, joints) each, at s from 0 to 1 in segments, (N,) each."""
    q, qd, qdd = (_values(derivative(trajectory, order), segment, s) for order in range(3))
    return q, qd, qdd


def _values(polynomials: Array, segment: NDArray[np.intp], s: Array) -> Array:
    by_power = np.moveaxis(polynomials, 1, 0)[:, segment]
    return values_at(by_power, np.broadcast_to(s[:, np.newaxis], by_power.shape[1:]))
