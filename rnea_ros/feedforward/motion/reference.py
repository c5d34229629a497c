# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The reference: the desired state at each tick.

Input: trajectories and set-points with their start times, and speed scaling. Output: desired
position, velocity, acceleration and effort. There is one active motion, or a held position, or
neither; one more motion may wait for its start time.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ..reasons import Reason
from .deceleration import Deceleration, stop_motion
from .join import Handover
from .speed_scaling import SpeedScaling
from .trajectory import MotionState, Setpoint, Trajectory


class _ActiveMotion(NamedTuple):
    """The motion that is followed, also after its end; its start, and delay of its time, s."""

    motion: Trajectory | Setpoint
    start: float
    delay: float


class _WaitingMotion(NamedTuple):
    """The motion that is followed next, from a time in s; ``None`` for the next sample."""

    motion: Trajectory | Setpoint
    start: float | None


class Reference:
    """
    Samples the active motion, and replaces it when the next one starts.

    Start times are monotonic times. The arrays have shape (m,), in the controller's order.

    :param m: number of joints
    :param setpoint_timeout: age from which the position of a set-point is held at rest, s
    :param lead: time by which trajectories are sampled ahead, s
    :ivar scaling: pace of trajectory time
    :ivar changes: number of times that a motion was set or dropped; the end of a motion is none
    :ivar reason: why the motion before the last change was dropped
    :ivar stale: whether a stream of set-points ended in motion, or the set-points of a trajectory
        controller stopped arriving
    :ivar time: time of the trajectory that is followed, s from its start, without the lead
    :ivar ahead: time of the desired state after the sample's, s; 0 for set-points and without
        a lead
    :ivar position: desired position, rad or m
    :ivar velocity: desired velocity, rad/s or m/s
    :ivar acceleration: desired acceleration, rad/s^2 or m/s^2
    :ivar effort: effort added to the output, N m or N
    """

    def __init__(self, m: int, setpoint_timeout: float, lead: float = 0.0) -> None:
        self._timeout = setpoint_timeout
        self._lead = lead
        self._sampled_at = 0.0
        # A held state, or a motion. Other threads read it: replace it, never change its content.
        self._active: MotionState | _ActiveMotion | None = None
        self._next: _WaitingMotion | None = None
        self.scaling = SpeedScaling()
        self.changes = 0
        self.reason = Reason.REPLACED
        self.stale = False
        self.time = 0.0
        self.ahead = 0.0
        self.position = np.zeros(m)
        self.velocity = np.zeros(m)
        self.acceleration = np.zeros(m)
        self.effort = np.zeros(m)

    @property
    def is_set(self) -> bool:
        """Whether a motion is followed or a position is held."""
        return self._active is not None

    @property
    def waiting(self) -> bool:
        """Whether a motion waits for its start time."""
        return self._next is not None

    @property
    def moving(self) -> bool:
        """Whether the desired velocity is nonzero."""
        return isinstance(self._active, _ActiveMotion) and bool(self.velocity.any())

    @property
    def from_controller(self) -> bool:
        """Whether the set-points of a trajectory controller are followed."""
        active = self._active
        return (
            isinstance(active, _ActiveMotion)
            and isinstance(active.motion, Setpoint)
            and active.motion.from_controller
        )

    def accept(self, motion: Trajectory | Setpoint, start: float | None) -> bool:
        """
        Set the next motion. It replaces the active one at its start, s; ``None``: next sample.

        A joined trajectory contains the active one up to its start, and replaces it at once.

        :return: False if the trajectory that a joined one continues is no longer followed
        """
        active, waiting = self._active, self._next
        if not isinstance(motion, Trajectory) or motion.join is None:
            self._next = _WaitingMotion(motion, start)
        elif isinstance(active, _ActiveMotion) and _has_root(active.motion, motion.root):
            self._active, self._next = active._replace(motion=motion), None
        elif waiting is not None and _has_root(waiting.motion, motion.root):
            self._next = waiting._replace(motion=motion)
        else:
            return False
        self._count_change(Reason.REPLACED)
        return True

    def hold(self, position: Array, reason: Reason = Reason.CANCELLED) -> None:
        """Hold a position, shape (m,), and drop every motion."""
        self.clear(reason)
        self.position[:] = position
        self._hold_position()

    def stop(self, reason: Reason) -> None:
        """Drop every motion, and hold the present desired position if there is one."""
        if self.is_set:
            self.hold(self.position.copy(), reason)
        else:
            self.clear(reason)

    def decelerate(self, limits: Deceleration, reason: Reason = Reason.CANCELLED) -> None:
        """
        Drop every motion, and follow the motion to a stop; hold at once if nothing moves.

        :param limits: limits of the motion to a stop; at a speed factor below 1 it takes longer
        """
        active, ahead = self._active, self._lead * self.scaling.factor
        if not (isinstance(active, _ActiveMotion) and self.moving):
            self.stop(reason)
            return
        dropped = active.motion
        state = (
            dropped.state if isinstance(dropped, Setpoint) else dropped.state(self.time + ahead)
        )
        motion = stop_motion(dropped.joint_names, state, limits)
        self._count_change(reason)
        self._next = None
        # Its begin is the last sample, which was ahead of time.
        self._active = _ActiveMotion(motion, self._sampled_at + ahead, self.scaling.delay)

    def clear(self, reason: Reason = Reason.CANCELLED) -> None:
        """Drop every motion and hold nothing."""
        self._count_change(reason)
        self._active = self._next = None
        self.stale = False
        self._stop()

    def advance(self, now: float) -> bool:
        """Advance the desired state; return whether there is one."""
        self.scaling.advance(now)
        self._sampled_at = now
        waiting = self._next
        if waiting is not None and (waiting.start is None or waiting.start <= now):
            start = now if waiting.start is None else waiting.start
            self.time = now - start  # first, as other threads read it for the active motion
            self._active = _ActiveMotion(waiting.motion, start, self.scaling.delay)
            self._next = None
            self.stale = False
        if isinstance(self._active, _ActiveMotion):
            motion, start, delay = self._active
            if isinstance(motion, Setpoint):
                self.ahead = 0.0
                self._sample_setpoint(motion, now - start)
            else:
                self.ahead = self._lead
                self.time = now - start - (self.scaling.delay - delay)
                self._sample_trajectory(motion, self.time + self._lead * self.scaling.factor)
        return self.is_set

    def state_at(self, time: float) -> MotionState | None:
        """
        Return the state that the active motion reaches at a time, at its present pace.

        Velocities and accelerations are those at full speed. Any thread may call this.

        :param time: monotonic time, s, not before the last sample
        :return: ``None`` without a desired state
        """
        active = self._active
        if not isinstance(active, _ActiveMotion):
            return active
        motion, start, delay = active
        if isinstance(motion, Setpoint):
            has_ended = time - start > self._timeout
            return MotionState.at_rest(motion.q) if has_ended else motion.state
        return motion.state(time - start - (self.scaling.delay_at(time) - delay))

    def handover(self, time: float, newest: Trajectory | Setpoint | None) -> Handover | None:
        """
        Return where a new trajectory takes over from the newest one. Any thread may call this.

        :param time: monotonic time of the handover, s, not before the last sample
        :param newest: the motion that was requested last, perhaps not accepted yet
        :return: ``None`` if this is not a trajectory, has ended, or starts after the handover
        """
        active, waiting, past = self._active, self._next, self.time
        if not isinstance(newest, Trajectory):
            return None
        if isinstance(active, _ActiveMotion) and _has_root(active.motion, newest.root):
            _, start, delay = active
            if past >= newest.duration:
                return None
        elif waiting is not None and _has_root(waiting.motion, newest.root):
            if waiting.start is None or waiting.start >= time:
                return None
            start, delay, past = waiting.start, self.scaling.delay_at(waiting.start), -math.inf
        else:
            return None
        at = time - start - (self.scaling.delay_at(time) - delay)
        return Handover(newest, min(past, at), at)

    def _count_change(self, reason: Reason) -> None:
        self.changes += 1
        self.reason = reason

    def _hold_position(self) -> None:
        """Hold the present desired position; the next motion stays."""
        self._active = MotionState.at_rest(self.position.copy())
        self._stop()

    def _stop(self) -> None:
        """Set desired velocity, acceleration and effort to zero."""
        self.velocity[:] = 0.0
        self.acceleration[:] = 0.0
        self.effort[:] = 0.0

    def _sample_trajectory(self, trajectory: Trajectory, t_since_start: float) -> None:
        has_ended = trajectory.sample(
            t_since_start, self.position, self.velocity, self.acceleration
        )
        trajectory.sample_effort(t_since_start, self.effort)
        if not has_ended:
            self._apply_scaling()

    def _sample_setpoint(self, setpoint: Setpoint, age: float) -> None:
        self.position[:], self.velocity[:], self.acceleration[:], self.effort[:] = setpoint.state
        if age > self._timeout:
            # A stream may end with a set-point at rest, but not in motion. The set-points of a
            # trajectory controller must not end at all.
            in_motion = self.moving or bool(self.acceleration.any())
            self.stale = in_motion or setpoint.from_controller
            self._hold_position()
        elif not setpoint.from_controller:
            self._apply_scaling()

    def _apply_scaling(self) -> None:
        """Convert derivatives with respect to trajectory time into those to real time."""
        factor = self.scaling.factor
        self.acceleration *= factor * factor
        self.acceleration += self.scaling.change * self.velocity
        self.velocity *= factor


def _has_root(motion: Trajectory | Setpoint, root: Trajectory) -> bool:
    return isinstance(motion, Trajectory) and motion.root is root
