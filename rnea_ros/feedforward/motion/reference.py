# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The reference: the desired state at each tick.

In: trajectories and set-points with their start times, speed scaling and cancels. Out: desired
position, velocity, acceleration and effort. There is one active motion, or a held position, or
neither; one more motion may wait for its start time.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ..reasons import Reason
from .online import Deceleration, stop_motion
from .trajectory import Handover, MotionState, Setpoint, Trajectory

RATE = 2.0  # of change of the speed factor, 1/s: from full speed to a stop in half a second
ROUNDING = 1e-6  # accepted excess over the range of the factor, for single precision


class SpeedScaling:
    """
    The pace of trajectory time; the active factor follows the requested one at a bounded rate.

    A motion q(t') whose time advances at the rate s has velocity s q' and acceleration
    s^2 q'' + (ds/dt) q'.

    :ivar factor: active factor s, from 0 (motions stand still) to 1
    :ivar change: its rate of change, 1/s
    :ivar delay: delay of trajectory time behind real time, s; it only grows
    """

    def __init__(self) -> None:
        self._target = self.factor = 1.0
        self._last_time: float | None = None
        self.change = self.delay = 0.0

    def set_target(self, speed: float, scale: float = 1.0) -> None:
        """Request a speed, times a scale (0.01 for percent), as factor; for any thread."""
        factor = scale * speed
        if not -ROUNDING <= factor <= 1.0 + ROUNDING:
            raise InputError(
                'speed scaling',
                f'{speed} times {scale} is not between 0 (stop) and 1 (full speed)',
            )
        self._target = min(max(factor, 0.0), 1.0)

    def delay_at(self, time: float) -> float:
        """Return the delay at a time after the last :meth:`advance`, with the present factor."""
        ahead = 0.0 if self._last_time is None else time - self._last_time
        return self.delay + (1.0 - self.factor) * ahead

    def advance(self, now: float) -> None:
        """Advance factor and delay to the present. A time that runs backwards changes nothing."""
        elapsed = 0.0 if self._last_time is None else max(now - self._last_time, 0.0)
        self._last_time = now
        if elapsed == 0.0:
            return
        before, step = self.factor, RATE * elapsed
        self.factor = min(max(self._target, before - step), before + step)
        self.change = (self.factor - before) / elapsed
        self.delay += elapsed * (1.0 - 0.5 * (before + self.factor))


class _ActiveMotion(NamedTuple):
    """The motion that is followed, also after its end; its start, and the delay then."""

    motion: Trajectory | Setpoint
    start: float
    delay: float

    def time_at(self, now: float, delay: float) -> float:
        """Return the motion's time for a delay of trajectory time."""
        return now - self.start - (delay - self.delay)


class _WaitingMotion(NamedTuple):
    """The motion that is followed next, from a time on; ``None`` for the next sample."""

    motion: Trajectory | Setpoint
    start: float | None


class Reference:
    """
    Samples the active motion, and replaces it when the next one starts; times are monotonic, in s.

    :param m: number of joints, the size of ``position`` to ``effort``
    :param setpoint_timeout: age from which the position of a set-point is held at rest
    :param lead: time by which trajectories are sampled ahead
    :ivar changes: number of times that a motion was set or dropped; the end of a motion is none
    :ivar reason: why the motion before the last change was dropped
    :ivar stale: whether a stream ended in motion, or that of a trajectory controller at all
    :ivar time: time of the trajectory that is followed, from its start, without the lead
    :ivar ahead: time of the desired state after the sample's; 0 for set-points
    """

    def __init__(self, m: int, setpoint_timeout: float, lead: float = 0.0) -> None:
        self._timeout, self._lead = setpoint_timeout, lead
        self._sampled_at = 0.0
        # A held state, or a motion. Other threads read it: replace it, never change its content.
        self._active: MotionState | _ActiveMotion | None = None
        self._next: _WaitingMotion | None = None
        self.scaling = SpeedScaling()
        self.changes = 0
        self.reason = Reason.REPLACED
        self.stale = False
        self.time = self.ahead = 0.0
        self._desired = MotionState(*np.zeros((4, m)))
        self.position, self.velocity, self.acceleration, self.effort = self._desired

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
        return isinstance(self._active, _ActiveMotion) and any(self.velocity.tolist())

    @property
    def from_controller(self) -> bool:
        """Whether the set-points of a trajectory controller are followed."""
        active = self._active
        return isinstance(active, _ActiveMotion) and active.motion.from_controller

    def accept(self, motion: Trajectory | Setpoint, start: float | None) -> bool:
        """
        Set the motion that replaces the active one at its start; ``None``: next sample.

        A joined trajectory contains the active one up to its start, and replaces it at once; False
        if the trajectory that it continues is no longer followed.
        """
        active, waiting = self._active, self._next
        if motion.join is None:
            self._next = _WaitingMotion(motion, start)
        elif isinstance(active, _ActiveMotion) and active.motion.root is motion.root:
            self._active, self._next = active._replace(motion=motion), None
        elif waiting is not None and waiting.motion.root is motion.root:
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
            self.hold(self.position, reason)
        else:
            self.clear(reason)

    def clear(self, reason: Reason = Reason.CANCELLED) -> None:
        """Drop every motion and hold nothing."""
        self._count_change(reason)
        self._active = self._next = None
        self.stale = False
        self._stand_still()

    def decelerate(self, limits: Deceleration, reason: Reason = Reason.CANCELLED) -> None:
        """Drop every motion, and follow the motion to a stop; hold at once if nothing moves."""
        active, ahead = self._active, self._lead * self.scaling.factor
        if not (isinstance(active, _ActiveMotion) and self.moving):
            self.stop(reason)
            return
        dropped = active.motion
        knots = stop_motion(dropped.state(self.time + ahead), limits)
        motion = Trajectory(dropped.joint_names, None, knots)
        self._count_change(reason)
        self._next = None
        # It begins at the last sample, which was ahead of time.
        self._active = _ActiveMotion(motion, self._sampled_at + ahead, self.scaling.delay)

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
        active, factor = self._active, self.scaling.factor
        if not isinstance(active, _ActiveMotion):
            return self.is_set
        motion = active.motion
        if isinstance(motion, Setpoint):
            self.ahead = 0.0
            for out, value in zip(self._desired, motion.state(), strict=True):
                out[:] = value
            rests = now - active.start > self._timeout
            if rests:
                # A stream may end with a set-point at rest, but not in motion. The set-points of a
                # trajectory controller must not end at all.
                in_motion = self.moving or bool(self.acceleration.any())
                self.stale = in_motion or motion.from_controller
                self._hold_position()
        else:
            self.ahead = self._lead
            self.time = active.time_at(now, self.scaling.delay)
            rests = motion.sample(self.time + self._lead * factor, self._desired)
        if not (rests or motion.from_controller):  # to derivatives with respect to real time
            self.acceleration *= factor * factor
            self.acceleration += self.scaling.change * self.velocity
            self.velocity *= factor
        return True

    def state_at(self, time: float) -> MotionState | None:
        """
        Return the state that the active motion reaches at a time, at its present pace, if any.

        Derivatives are those at full speed. For any thread, and times from the last sample on.
        """
        active = self._active
        if not isinstance(active, _ActiveMotion):
            return active
        motion = active.motion
        if isinstance(motion, Setpoint) and time - active.start > self._timeout:
            return MotionState.at_rest(motion.q)
        return motion.state(active.time_at(time, self.scaling.delay_at(time)))

    def handover(self, time: float, newest: Trajectory | Setpoint | None) -> Handover | None:
        """
        Return where a new trajectory takes over from the newest, perhaps not accepted yet.

        ``None`` if this is not a trajectory, has ended, or starts later. As :meth:`state_at`.
        """
        active, waiting, past = self._active, self._next, self.time
        if not isinstance(newest, Trajectory):
            return None
        if isinstance(active, _ActiveMotion) and active.motion.root is newest.root:
            if past >= newest.duration:
                return None
        elif waiting is not None and waiting.motion.root is newest.root:
            start = waiting.start
            if start is None or start >= time:
                return None
            active, past = _ActiveMotion(newest, start, self.scaling.delay_at(start)), -math.inf
        else:
            return None
        at = active.time_at(time, self.scaling.delay_at(time))
        return Handover(newest, min(past, at), at)

    def _count_change(self, reason: Reason) -> None:
        self.changes, self.reason = self.changes + 1, reason

    def _hold_position(self) -> None:
        """Hold the present desired position; the next motion stays."""
        self._active = MotionState.at_rest(self.position.copy())
        self._stand_still()

    def _stand_still(self) -> None:
        """Set desired velocity, acceleration and effort to zero."""
        for values in self._desired[1:]:
            values[:] = 0.0


def predicted(q: Array, qd: Array, qd_d: Array, qdd_d: Array, h: float) -> tuple[Array, Array]:
    """
    Return a measured state of age a, predicted to the time t + r of the reference; h = a + r.

    It moves as the reference does, to second order: q + q_d(t + r) - q_d(t - a), qd + h qdd_d. So
    errors are those at the time of measurement, and gains, delay and noise of the loop stay as
    they are; the measured velocity would add its noise.
    """
    return q + h * qd_d - 0.5 * h * (h * qdd_d), qd + h * qdd_d
