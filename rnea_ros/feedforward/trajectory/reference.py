# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The motion that is wanted now: one in force, the next one that waits for its start, or none."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Array
from .speed_scaling import SpeedScaling
from .trajectory import MotionState, Setpoint, Trajectory


class _Begun(NamedTuple):
    """
    A motion that is in force.

    :param motion: the motion
    :param started: monotonic time, s
    :param delay: of scaled time, when it came into force, s
    """

    motion: Trajectory | Setpoint
    started: float
    delay: float


class Reference:
    """
    Samples the motion in force, and replaces it when the next one starts.

    Start times are monotonic here. Positions, velocities, accelerations and efforts have shape
    (m,), in the order of the controller's joints.

    :param m: the number of joints
    :param setpoint_timeout: how long a streamed set-point counts, s; then its position is held
    :ivar scaling: how fast the motions' own time runs
    """

    def __init__(self, m: int, setpoint_timeout: float) -> None:
        self._timeout = setpoint_timeout
        # A position that is held, or a motion. Replaced, never changed: other threads read it.
        self._in_force: MotionState | _Begun | None = None
        self._next: Trajectory | Setpoint | None = None
        self._next_start: float | None = None
        self.scaling = SpeedScaling()
        self.stale = False
        self.position = np.zeros(m)
        self.velocity = np.zeros(m)
        self.acceleration = np.zeros(m)
        self.effort = np.zeros(m)

    @property
    def given(self) -> bool:
        """Whether there is a motion to follow or a position to hold."""
        return self._in_force is not None

    @property
    def moving(self) -> bool:
        """Whether the wanted velocity is other than zero."""
        return isinstance(self._in_force, _Begun) and bool(self.velocity.any())

    @property
    def streamed(self) -> bool:
        """Whether the set-points of a trajectory controller are followed."""
        in_force = self._in_force
        return (
            isinstance(in_force, _Begun)
            and isinstance(in_force.motion, Setpoint)
            and in_force.motion.from_controller
        )

    def accept(self, motion: Trajectory | Setpoint, start: float | None) -> None:
        """
        Let a motion replace the one in force from its start on.

        :param motion: the motion
        :param start: monotonic time, s; None for the next sample
        """
        self._next, self._next_start = motion, start

    def hold(self, position: Array) -> None:
        """
        Hold a position and drop every motion.

        :param position: shape (m,), rad or m
        """
        self.clear()
        self.position[:] = position
        self.hold_reached()

    def clear(self) -> None:
        """Want nothing: neither a motion nor a position."""
        self._in_force = self._next = None
        self.stale = False
        self._rest()

    def sample(self, now: float) -> bool:
        """
        Write what is wanted into position, velocity, acceleration and effort.

        :param now: monotonic time, s
        :return: whether anything is wanted
        """
        self.scaling.advance(now)
        if self._next is not None and (self._next_start is None or self._next_start <= now):
            start = now if self._next_start is None else self._next_start
            self._in_force = _Begun(self._next, start, self.scaling.delay)
            self._next = None
            self.stale = False
        if isinstance(self._in_force, _Begun):
            motion, started, delay = self._in_force
            if isinstance(motion, Setpoint):
                self._sample_setpoint(motion, now - started)
            else:
                self._sample_trajectory(motion, now - started - (self.scaling.delay - delay))
        return self.given

    def expected(self, time: float) -> MotionState | None:
        """
        Return what the motion in force will want at a time if it goes on, in its own time.

        Velocities and accelerations are those at full speed. Any thread may ask.

        :param time: monotonic time, s, not before the last sample
        :return: None where nothing is wanted
        """
        in_force = self._in_force
        if not isinstance(in_force, _Begun):
            return in_force
        motion, started, delay = in_force
        if isinstance(motion, Setpoint):
            over = time - started > self._timeout
            return MotionState.at_rest(motion.q) if over else motion.state
        return motion.state(time - started - (self.scaling.delay_at(time) - delay))

    def hold_reached(self) -> None:
        """Hold the position that is wanted now, and keep what waits for its start."""
        self._in_force = MotionState.at_rest(self.position.copy())
        self._rest()

    def _rest(self) -> None:
        self.velocity[:] = 0.0
        self.acceleration[:] = 0.0
        self.effort[:] = 0.0

    def _sample_trajectory(self, trajectory: Trajectory, own_time: float) -> None:
        over = trajectory.sample(own_time, self.position, self.velocity, self.acceleration)
        trajectory.sample_effort(own_time, self.effort)
        if over:
            self.hold_reached()
        else:
            self._scale()

    def _sample_setpoint(self, setpoint: Setpoint, age: float) -> None:
        self.position[:], self.velocity[:], self.acceleration[:], self.effort[:] = setpoint.state
        if age > self._timeout:
            # It commands velocity or acceleration still, or it is done with: only the first is
            # stale. A controller is never done.
            moves = self.moving or bool(self.acceleration.any())
            self.stale = moves or setpoint.from_controller
            self.hold_reached()
        elif not setpoint.from_controller:
            self._scale()

    def _scale(self) -> None:
        """Turn derivatives with respect to a motion's own time into those of real time."""
        factor = self.scaling.factor
        self.acceleration *= factor * factor
        self.acceleration += self.scaling.change * self.velocity
        self.velocity *= factor
