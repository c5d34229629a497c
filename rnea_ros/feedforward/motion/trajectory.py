# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Motions that can be followed: set-points, trajectories (splines through points), and their joins.

A segment is the polynomial of lowest degree through the fields that both its points have, as in
ros2_control's joint_trajectory_controller (JTC): linear for positions, cubic for positions and
velocities, quintic for positions, velocities and accelerations.

A new trajectory that is joined to the active one makes one trajectory in the active one's time. It
can replace the active one at any moment before the handover without a step, at any speed factor.
No polynomial is fitted again: each segment is a part of a segment of one of the two. Joints that
the new one leaves out follow the active one to its end; in JTC they are sampled at the new points.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from math import comb
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, Indices

States: TypeAlias = tuple[Array, Array, Array]

# Degree of the polynomial between two points with the same fields.
LINEAR, CUBIC, QUINTIC = 1, 3, 5

# Rows: coefficients of s^0 to s^5 for s in [0, 1]. Columns: q0, h v0, h^2 a0, q1 - q0, h v1,
# h^2 a1 for a segment of h seconds. With q1 - q0 instead of q1, a joint many turns from zero
# keeps its digits, and a joint at rest gives exact zeros.
FROM_ENDS = {degree: np.zeros((6, 6)) for degree in (LINEAR, CUBIC, QUINTIC)}
FROM_ENDS[LINEAR][:2] = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0, 0.0, 0.0)
FROM_ENDS[CUBIC][:4] = (
    (1.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    (0.0, 1.0, 0.0, 0.0, 0.0, 0.0),
    (0.0, -2.0, 0.0, 3.0, -1.0, 0.0),
    (0.0, 1.0, 0.0, -2.0, 1.0, 0.0),
)
FROM_ENDS[QUINTIC][:] = (
    (1.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    (0.0, 1.0, 0.0, 0.0, 0.0, 0.0),
    (0.0, 0.0, 0.5, 0.0, 0.0, 0.0),
    (0.0, -6.0, -1.5, 10.0, -4.0, 0.5),
    (0.0, 8.0, 1.5, -15.0, 7.0, -1.0),
    (0.0, -3.0, -0.5, 6.0, -3.0, 0.5),
)

OVERSHOOT = 1e-3
"""
Accepted distance beyond a position limit, rad or m.

A spline overshoots a little at a turning point, and less than the tracking error does no harm.
"""

_BISECTIONS = 40  # steps for a zero of a slope: 2^-40, or 1e-12 of a segment

# Row j, column k: k over j.
_BINOMIALS = np.array([[float(comb(k, j)) for k in range(6)] for j in range(6)])
_POWERS = np.arange(6)
_EXPONENTS = np.maximum(_POWERS - _POWERS[:, np.newaxis], 0)  # k - j


class MotionState(NamedTuple):
    """The desired state at one time, (joints,) each; the effort is added to the output."""

    position: Array
    velocity: Array
    acceleration: Array
    effort: Array

    @classmethod
    def at_rest(cls, position: Array) -> MotionState:
        """Return a state at rest, without effort."""
        return cls(position, *np.zeros((3, position.size)))


@dataclass(frozen=True, eq=False)
class Knots:
    """
    The points of a motion: read-only copies of arrays, (points, joints); 0 for absent fields.

    :param times: strictly increasing times, shape (points,), s from the start
    :param degrees: :data:`LINEAR`, :data:`CUBIC` or :data:`QUINTIC` by the fields of each point
    """

    times: Array
    positions: Array
    velocities: Array
    accelerations: Array
    degrees: NDArray[np.int64]
    efforts: Array | None = None

    def __post_init__(self) -> None:
        for name, given in vars(self).items():
            if given is not None:
                copy = given.copy()
                copy.setflags(write=False)
                object.__setattr__(self, name, copy)

    @classmethod
    def quintic(cls, times: Array, states: Iterable[Array]) -> Knots:
        """Return points with positions, velocities and accelerations."""
        q, qd, qdd = states
        return cls(times, q, qd, qdd, np.full(times.size, QUINTIC))

    def coefficients(self) -> Array:
        """Return the polynomials for s in [0, 1] in each segment, shape (segments, 6, joints)."""
        q, qd, qdd = self.positions, self.velocities, self.accelerations
        h = np.diff(self.times)[:, np.newaxis]
        at_start = q[:-1], h * qd[:-1], h * h * qdd[:-1]
        at_end = np.diff(q, axis=0), h * qd[1:], h * h * qdd[1:]
        ends = np.stack((*at_start, *at_end), axis=1)
        polynomials = np.empty_like(ends)
        degrees = np.minimum(self.degrees[:-1], self.degrees[1:])
        for degree in set(degrees.tolist()):
            polynomials[degrees == degree] = FROM_ENDS[degree] @ ends[degrees == degree]
        return polynomials

    def from_point(self, first: int) -> Knots:
        """Return the points without those before one of them."""
        given: dict[str, Any] = {k: v[first:] for k, v in vars(self).items() if v is not None}
        return Knots(**given)


@dataclass(frozen=True, eq=False)
class Setpoint:
    """
    A streamed set-point: one state, followed until the next one comes, at most for a timeout.

    Of a trajectory controller, speed scaling is already applied, and a missing next one is a
    fault, even at rest. ``start_time`` is that of :class:`Trajectory`.
    """

    start_time: float | None
    joint_names: tuple[str, ...]
    q: Array
    qd: Array
    qdd: Array
    effort: Array | None = None
    from_controller: bool = False
    streamed: ClassVar[bool] = True

    # As of a trajectory that continues none.
    root: ClassVar[None] = None
    join: ClassVar[None] = None
    duration: ClassVar[float] = 0.0

    def state(self, t_since_start: float = 0.0) -> MotionState:
        """Return the desired state, the same at any time."""
        effort = np.zeros_like(self.q) if self.effort is None else self.effort
        return MotionState(self.q, self.qd, self.qdd, effort)

    def as_trajectory(self) -> Trajectory:
        """Return a trajectory of one point with the same state, without effort."""
        degree = QUINTIC if self.qdd.any() else CUBIC if self.qd.any() else LINEAR
        q, qd, qdd = (values[np.newaxis] for values in (self.q, self.qd, self.qdd))
        knots = Knots(np.zeros(1), q, qd, qdd, np.array([degree]))
        return Trajectory(self.joint_names, self.start_time, knots)


class Join(NamedTuple):
    """How a trajectory continues an earlier one, in whose time it is stated."""

    root: Trajectory  # the one that the first was joined to; its time is that of all
    begin: float  # time at which the request takes over, s
    zero: float  # time 0 of the request, s
    sources: tuple[tuple[Trajectory, Indices], ...]  # followed from then on, each by its joints


class Trajectory:
    """
    A desired motion of all joints, in the controller's order. Any thread may sample it.

    :param start_time: in the clock of the request's stamp, s; ``None``: when it is first sampled
    :param knots: at least one point; the motion ends at the last one, and holds its position
    :param coefficients: of s^0 to s^5 with s in [0, 1] in each segment, shape
        (segments, 6, joints), for which knots need positions only; ``None`` for the polynomials
        and the efforts of the knots
    :param efforts: at the start and at the end of each segment, linear between them, shape
        (segments, 2, joints); ``None`` for none
    :param join: how it continues an earlier trajectory, if it does
    :ivar streamed: whether it is of one message of a stream
    """

    from_controller: ClassVar[bool] = False
    streamed = False

    def __init__(
        self, joint_names: tuple[str, ...], start_time: float | None, knots: Knots,
        coefficients: Array | None = None, efforts: Array | None = None, join: Join | None = None,
    ) -> None:
        if coefficients is None:
            coefficients = knots.coefficients()
            if knots.efforts is not None:
                efforts = np.stack((knots.efforts[:-1], knots.efforts[1:]), axis=1)
        coefficients.setflags(write=False)
        self.joint_names, self.start_time = joint_names, start_time
        self.knots, self.coefficients, self.efforts = knots, coefficients, efforts
        self.join = join
        self.duration = float(knots.times[-1])
        self.final_position = knots.positions[-1]
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
        self.sample(t_since_start, state)
        return state

    def sample(self, t_since_start: float, out: MotionState) -> bool:
        """
        Write the desired state at a time since the start, s; return whether the motion has ended.

        The first position is held before the start, and the last one from the end on. JTC moves
        to a first point at once, even with a stamp in the future, and repeats the last point's
        velocity and acceleration: inverse dynamics would make torques of these after the end.
        """
        begun = t_since_start >= self._times[0]  # False for NaN
        if not begun or t_since_start >= self.duration:
            out.position[:] = self.final_position if begun else self.knots.positions[0]
            for values in out[1:]:
                values[:] = 0.0
            return begun
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
        out.position[:], out.velocity[:], out.acceleration[:] = np.dot(
            powers, self.coefficients[segment]
        )
        if self.efforts is None:
            out.effort[:] = 0.0
        else:
            at_start, at_end = self.efforts[segment]
            out.effort[:] = (1.0 - s) * at_start + s * at_end
        return False


def derivative(trajectory: Trajectory, order: int) -> Array:
    """Return a time derivative in each segment by powers of s: (segments, powers, joints)."""
    durations = np.diff(trajectory.knots.times)[:, np.newaxis, np.newaxis]
    polynomials = trajectory.coefficients
    for _ in range(order):
        powers = np.arange(1.0, polynomials.shape[1])[:, np.newaxis]
        polynomials = powers * polynomials[:, 1:] / durations
    return polynomials


def states_in(trajectory: Trajectory, segment: NDArray[np.intp], s: Array) -> States:
    """Return q, qd and qdd, (N, joints) each, at s from 0 to 1 in segments, (N,) each."""
    s_of_joints = np.broadcast_to(s[:, np.newaxis], (s.size, len(trajectory.joint_names)))
    q, qd, qdd = (
        values_at(np.moveaxis(derivative(trajectory, order), 1, 0)[:, segment], s_of_joints)
        for order in range(3)
    )
    return q, qd, qdd


def turning_points(polynomials: Array) -> Array:
    """
    Return 0, 1, and every s in between where polynomials, (powers, k), turn; perhaps others too.

    Between two of its own turning points a slope is monotone and has one zero at most. So the
    zeros of a slope are found by bisection between the turning points of the slope (recursion).
    The values of s increase, shape (powers, k).
    """
    ends = np.zeros((2, polynomials.shape[1]))
    ends[1] = 1.0
    if len(polynomials) <= 2:
        return ends
    # Scaling leaves the turning points in place and avoids overflow of the slopes.
    size = np.maximum(np.abs(polynomials).max(axis=0), np.finfo(np.float64).tiny)
    slope = np.arange(1.0, len(polynomials))[:, np.newaxis] * (polynomials[1:] / size)
    between = turning_points(slope)
    low, high = between[:-1], between[1:]
    rises = values_at(slope, low) > 0.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        passed = (values_at(slope, middle) > 0.0) != rises
        low, high = np.where(passed, low, middle), np.where(passed, middle, high)
    return np.concatenate((ends[:1], high, ends[1:]))


def values_at(polynomials: Array, s: Array) -> Array:
    """Return polynomials, shape (powers, k), at arguments, shape (points, k): (points, k)."""
    values = np.broadcast_to(polynomials[-1], s.shape)
    for coefficient in polynomials[-2::-1]:
        values = values * s + coefficient
    return values


class Handover(NamedTuple):
    """Where a new trajectory takes over, in the active one's state and time, s."""

    active: Trajectory
    past: float  # time from which on the result is needed
    time: float  # time of the handover, not before ``past``


def join(
    handover: Handover, points: Knots, columns: Indices, start_time: float | None = None
) -> Trajectory:
    """Return the active trajectory, and from the handover on a motion through points of joints."""
    active, begin, n = handover.active, handover.time, len(handover.active.joint_names)
    zero = begin - float(points.times[0])
    times = zero + points.times
    times[0] = begin
    new = Trajectory(active.joint_names, None, replace(points, times=times))
    if active.join is not None and active.join.begin <= begin:
        followed = active.join.sources
    else:  # without the trajectories that the active one was joined to
        source = copy(active)
        source.join = None
        followed = ((source, np.arange(n)),)
    taken = set(columns.tolist())
    sources = [
        (source, np.array(others))
        for source, joints in followed
        if (others := [joint for joint in joints.tolist() if joint not in taken])
    ]
    sources.append((new, columns))

    needed = np.searchsorted(active.knots.times, handover.past, side='right') - 1
    before = active.knots.times[max(int(needed), 0) :]
    before = before[before < begin]
    after = [source.knots.times[source.knots.times > begin] for source, _ in sources]
    times = np.unique(np.concatenate((before, [begin], *after)))
    split = before.size  # segments of the active trajectory alone
    coefficients, efforts = (np.empty((times.size - 1, rows, n)) for rows in (6, 2))
    q, absent = np.zeros((2, times.size, n))
    coefficients[:split], efforts[:split] = _cut(active, times[: split + 1])
    for source, joints in sources:
        of_positions, of_efforts = _cut(source, times[split:])
        coefficients[split:, :, joints] = of_positions[:, :, joints]
        efforts[split:, :, joints] = of_efforts[:, :, joints]
        q[-1, joints] = source.final_position[joints]
    q[:-1] = coefficients[:, 0]
    knots = Knots(times, q, absent, absent, np.full(times.size, LINEAR))
    return Trajectory(
        active.joint_names, start_time, knots, coefficients,
        efforts if efforts.any() else None, Join(active.root, begin, zero, tuple(sources)),
    )


def _cut(trajectory: Trajectory, times: Array) -> tuple[Array, Array]:
    """
    Return coefficients and efforts of a trajectory between given times; at rest outside of it.

    With t = s h + t_k in a segment of h seconds from t_k, and s = s_0 + r s' in its part from
    s_0 of length r, sum_k c_k s^k is sum_j c'_j s'^j with
    c'_j = r^j sum_k (k over j) s_0^(k - j) c_k. The times contain all knots between them.
    """
    knots, joints = trajectory.knots.times, len(trajectory.joint_names)
    efforts = np.zeros((times.size - 1, 2, joints))
    if np.array_equal(knots, times):
        given = trajectory.efforts
        return trajectory.coefficients, efforts if given is None else given
    segments = np.searchsorted(knots, times[:-1], side='right') - 1
    inside = (segments >= 0) & (segments < knots.size - 1)
    positions = np.zeros((segments.size, 6, joints))
    positions[:, 0] = trajectory.knots.positions[np.maximum(segments, 0)]
    k = segments[inside]
    h = np.diff(knots)[k]
    s0 = (times[:-1][inside] - knots[k]) / h
    r = np.diff(times)[inside] / h
    shift = _BINOMIALS * (s0[:, np.newaxis] ** _POWERS)[:, _EXPONENTS]
    shift *= (r[:, np.newaxis] ** _POWERS)[:, :, np.newaxis]
    positions[inside] = shift @ trajectory.coefficients[k]
    if trajectory.efforts is not None:
        share = np.stack((s0, s0 + r), axis=1)[:, :, np.newaxis]
        at_start, at_end = trajectory.efforts[k][:, :1], trajectory.efforts[k][:, 1:]
        efforts[inside] = (1.0 - share) * at_start + share * at_end
    return positions, efforts
