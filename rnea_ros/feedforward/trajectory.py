# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The desired motion: what was asked for, as plain data, and its compiled form, which is sampled.

Between two points the motion is the polynomial of lowest degree that meets what both of them
give, as in ros2_control's joint_trajectory_controller (JTC): linear for positions, cubic for
positions and velocities, quintic for positions, velocities and accelerations.

Nothing is checked here: :mod:`.trajectory_check` refuses what must not be followed, and compiles
the rest.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Values: TypeAlias = Sequence[float] | NDArray[np.float64]

# Degree of the polynomial that a point's fields determine together with those of another point.
LINEAR, CUBIC, QUINTIC = 1, 3, 5

# Rows: coefficients of s^0 to s^5 for s in [0, 1]. Columns: q0, h v0, h^2 a0, q1 - q0, h v1,
# h^2 a1 for a segment of h seconds. The displacement stands in place of q1 so that a joint that
# is many turns from zero loses no digits, and one that rests gives exact zeros.
_FROM_ENDS = {
    LINEAR: (
        (1.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 1.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    ),
    CUBIC: (
        (1.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, 1.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, -2.0, 0.0, 3.0, -1.0, 0.0),
        (0.0, 1.0, 0.0, -2.0, 1.0, 0.0),
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    ),
    QUINTIC: (
        (1.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, 1.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.5, 0.0, 0.0, 0.0),
        (0.0, -6.0, -1.5, 10.0, -4.0, 0.5),
        (0.0, 8.0, 1.5, -15.0, 7.0, -1.0),
        (0.0, -3.0, -0.5, 6.0, -3.0, 0.5),
    ),
}


@dataclass(frozen=True)
class TrajectoryPoint:
    """
    One point of a request, the fields as in ``trajectory_msgs/JointTrajectoryPoint``.

    An empty field is absent. The others have one value for each of the request's joints.

    :param time: seconds from the start of the trajectory
    :param positions: rad or m
    :param velocities: rad/s or m/s
    :param accelerations: rad/s^2 or m/s^2
    :param efforts: N m or N, a feedforward of the user's own
    """

    time: float
    positions: Values
    velocities: Values = ()
    accelerations: Values = ()
    efforts: Values = ()


@dataclass(frozen=True)
class TrajectoryRequest:
    """
    A desired motion as it was asked for, not yet checked.

    :param joint_names: the joints of every point's values, in any order
    :param points: the points, in order of time; none at all cancels the motion in force
    :param start_time: seconds in the clock of whoever compiles it, or ``None`` (a stamp of 0):
        the trajectory starts when it is first sampled
    """

    joint_names: tuple[str, ...]
    points: Sequence[TrajectoryPoint]
    start_time: float | None = None

    @property
    def is_cancel(self) -> bool:
        """
        Whether this asks to drop the motion in force and hold, rather than for a motion.

        JTC refuses a trajectory without points from its topic.
        """
        return len(self.points) == 0

    @property
    def is_setpoint(self) -> bool:
        """Whether this is one point at time 0, as streamed by who has no trajectory to send."""
        return len(self.points) == 1 and self.points[0].time == 0.0


@dataclass(frozen=True, eq=False)
class Knots:
    """
    The points of a motion as read-only arrays, joints in the controller's order.

    :param times: strictly increasing, shape (points,), s from the start
    :param positions: shape (points, joints), rad or m
    :param velocities: shape (points, joints), rad/s or m/s; 0 where a point has none
    :param accelerations: shape (points, joints), rad/s^2 or m/s^2; 0 where a point has none
    :param degrees: shape (points,): :data:`LINEAR`, :data:`CUBIC` or :data:`QUINTIC` by what
        each point gives
    """

    times: NDArray[np.float64]
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]
    accelerations: NDArray[np.float64]
    degrees: NDArray[np.int64]

    def __post_init__(self) -> None:
        for array in vars(self).values():
            array.setflags(write=False)


@dataclass(frozen=True, eq=False)
class Setpoint:
    """
    A streamed set-point: one point at time 0, to be kept as it is until another replaces it.

    Its velocity may be other than 0. When it is too old to be followed is the caller's to say.

    :param start_time: seconds in the clock that it was compiled by, or ``None`` for at once
    :param joint_names: the joints, in the controller's order
    :param q: joint positions, shape (joints,), rad or m
    :param qd: joint velocities, shape (joints,), rad/s or m/s; 0 where none were given
    :param qdd: joint accelerations, shape (joints,), rad/s^2 or m/s^2; 0 where none were given
    """

    start_time: float | None
    joint_names: tuple[str, ...]
    q: NDArray[np.float64]
    qd: NDArray[np.float64]
    qdd: NDArray[np.float64]


class Trajectory:
    """
    A desired motion of all joints, sampled at the control rate.

    One thread samples: the matrix of powers is shared by all calls of :meth:`sample`. Its
    attributes are not to be changed: ``joint_names``, ``start_time`` and ``knots`` as given;
    ``duration``, the time of the last point, s; ``final_position``, where the motion ends and is
    held, shape (joints,), rad or m; ``coefficients`` of s^0 to s^5 with s in [0, 1] within each
    segment, shape (segments, 6, joints).

    :param joint_names: the joints, in the controller's order
    :param start_time: seconds in the clock that it was compiled by, or ``None``: it starts when
        it is first sampled
    :param knots: at least one point
    """

    def __init__(
        self, joint_names: tuple[str, ...], start_time: float | None, knots: Knots
    ) -> None:
        self.joint_names = joint_names
        self.start_time = start_time
        self.knots = knots
        self.duration = float(knots.times[-1])
        self.final_position = knots.positions[-1]
        self.coefficients = _coefficients(knots)
        self.coefficients.setflags(write=False)
        # Lists: bisecting an array, or indexing one, makes a numpy scalar at every access.
        self._times: list[float] = knots.times.tolist()
        self._rates: list[float] = (1.0 / np.diff(knots.times)).tolist()
        self._powers = np.zeros((3, 6))
        self._flat_powers = self._powers.reshape(-1)
        self._state = np.empty((3, len(joint_names)))

    def sample(
        self,
        t_since_start: float,
        q_out: NDArray[np.float64],
        qd_out: NDArray[np.float64],
        qdd_out: NDArray[np.float64],
    ) -> bool:
        """
        Write the desired state at a time into arrays of the caller.

        Before the motion begins its first position is held, and from its end on its last one,
        both with velocity and acceleration 0. JTC starts to move towards a first point at once,
        even if its start lies ahead, and repeats the last point's velocity and acceleration
        for ever, which inverse dynamics would turn into a torque for a motion that is over.

        :param t_since_start: seconds since the start: the clock less :attr:`start_time`, or less
            the time of the first sample where that is ``None``
        :param q_out: joint positions, shape (joints,), rad or m
        :param qd_out: joint velocities, shape (joints,), rad/s or m/s
        :param qdd_out: joint accelerations, shape (joints,), rad/s^2 or m/s^2
        :returns: whether the motion is over
        """
        # Negated, so that a time that is not a number holds the start and moves nothing.
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
        # Rows: the powers of s, then their first and second derivatives with respect to time.
        self._flat_powers[:] = (
            1.0, s, s2, s3, s4, s4 * s,
            0.0, rate, 2.0 * s * rate, 3.0 * s2 * rate, 4.0 * s3 * rate, 5.0 * s4 * rate,
            0.0, 0.0, 2.0 * rate2, 6.0 * s * rate2, 12.0 * s2 * rate2, 20.0 * s3 * rate2,
        )
        np.dot(self._powers, self.coefficients[segment], out=self._state)
        q_out[:], qd_out[:], qdd_out[:] = self._state
        return False


def _hold(
    position: NDArray[np.float64],
    q_out: NDArray[np.float64],
    qd_out: NDArray[np.float64],
    qdd_out: NDArray[np.float64],
) -> None:
    q_out[:] = position
    qd_out[:] = 0.0
    qdd_out[:] = 0.0


def _coefficients(knots: Knots) -> NDArray[np.float64]:
    """
    Return the segments' polynomials in their own time s in [0, 1].

    :returns: coefficients of s^0 to s^5, shape (segments, 6, joints)
    """
    h = np.diff(knots.times)[:, np.newaxis]
    ends = np.stack(
        (
            knots.positions[:-1],
            h * knots.velocities[:-1],
            h * h * knots.accelerations[:-1],
            np.diff(knots.positions, axis=0),
            h * knots.velocities[1:],
            h * h * knots.accelerations[1:],
        ),
        axis=1,
    )
    coefficients = np.empty_like(ends)
    degrees = np.minimum(knots.degrees[:-1], knots.degrees[1:])
    for degree, from_ends in _FROM_ENDS.items():
        chosen = degrees == degree
        coefficients[chosen] = np.array(from_ends) @ ends[chosen]
    return coefficients
