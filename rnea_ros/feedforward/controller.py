# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The interface of the control: measured state and reference motion in, effort commands out.

Time is an argument; nothing is read or sent here, so tests check every rule with plain numbers.
One thread calls :meth:`FeedforwardController.step`. Requests of other threads (a motion, changed
settings, a stop) wait in a queue until the next tick.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..robot import RobotModel
from .control_tick import ControlTick
from .inputs import JointStateMonitor
from .law import ControlLaw, Terms
from .motion import Deceleration, Goal, Handover, MotionState, Setpoint, Trajectory
from .observers import Contact, ExternalEffortMonitor
from .reasons import Reason
from .settings import ResolvedSettings
from .state_machine import State


class FeedforwardController:
    """
    Feedforward control of one robot with m commanded joints.

    :ivar permitted: whether commands may be sent; set it in the thread of :meth:`step`. The first
        True starts the commands; a later False withholds them
    :ivar withheld: whether started commands are withheld now
    :ivar environment: payloads, force-torque sensors and IMU; feed the sensors before :meth:`step`
    :ivar additional_effort: efforts of another program; feed it before :meth:`step`
    :ivar acting_effort: the effort from which commands start; set what a watchdog commands
    :ivar stalls: the stalls after which the control has returned; for reading
    :ivar speed_scaling: speed scaling of motions; any thread may request a new factor
    """

    def __init__(
        self, model: RobotModel, settings: ResolvedSettings, states: JointStateMonitor
    ) -> None:
        self.permitted = True
        self.withheld = False
        self._states = states
        self._requests: deque[Callable[[float], object]] = deque()
        self._tick = ControlTick(model, settings, states)
        self.environment = self._tick.environment
        self.additional_effort = self._tick.additional
        self.acting_effort = self._tick.acting_effort
        self.stalls = self._tick.stalls
        self.speed_scaling = self._tick.reference.scaling
        self._newest: Trajectory | Setpoint | None = None
        self._external_effort_published = False

    @property
    def state(self) -> State:
        """State of the control."""
        return self._tick.state_machine.state

    @property
    def reason(self) -> Reason | None:
        """Why the control ended; None if it has not ended."""
        return self._tick.state_machine.reason

    @property
    def error(self) -> BaseException | None:
        """The first error that ended the control, or None."""
        return self._tick.error

    @property
    def stop_requested(self) -> bool:
        """Whether a stop was requested."""
        return self._tick.state_machine.stop_requested

    @property
    def flags(self) -> frozenset[Reason]:
        """Raised flags: the control goes on, but something is wrong."""
        return self._tick.flags

    @property
    def flag_counts(self) -> Counter[Reason]:
        """Number of times that each of the control's own flags was raised."""
        return self._tick.monitor.flag_counts

    @property
    def outside_flags(self) -> frozenset[Reason]:
        """Flags that the caller of the control has set."""
        return self._tick.outside_flags

    @outside_flags.setter
    def outside_flags(self, flags: frozenset[Reason]) -> None:
        self._tick.outside_flags = flags

    @property
    def settings(self) -> ResolvedSettings:
        """The settings in force."""
        return self._tick.settings

    @property
    def law(self) -> ControlLaw:
        """The control law in force."""
        return self._tick.active_law.active

    @property
    def joints(self) -> tuple[str, ...]:
        """The commanded joints, in the order of every command."""
        return self.settings.joints

    @property
    def saturated(self) -> NDArray[np.bool_]:
        """Commands that the effort limits cut at the last tick, shape (m,)."""
        return self._tick.limiter.saturated

    @property
    def overloaded(self) -> NDArray[np.bool_]:
        """Joints whose effort limit is below the effort that holds the robot, shape (m,)."""
        return self._tick.holding.overloaded

    @property
    def external_effort(self) -> ExternalEffortMonitor | None:
        """The external efforts; None while nothing needs them, and unless the law is commanded."""
        return self._tick.contact.monitor if self._tick.state_machine.controlling else None

    @property
    def contact(self) -> Contact | None:
        """The newest contact; None before the first. A new object for each contact."""
        return self._tick.contact.newest

    @property
    def following(self) -> bool:
        """Whether the control is active in a mode that follows motions."""
        return self._tick.state_machine.controlling and self.law.follows_motions

    def measured(self) -> tuple[Array, Array]:
        """Return positions and velocities of the commanded joints, shapes (m,), rad or m."""
        commanded = self.settings.joint_indices
        return self._states.position[commanded], self._states.velocity[commanded]

    def reference_at(self, time: float) -> MotionState | None:
        """Return the reference at a time; see :meth:`.Reference.state_at`."""
        return self._tick.reference.state_at(time)

    def handover(self, time: float) -> Handover | None:
        """
        Return where a new trajectory can take over from the one that was requested last.

        :param time: monotonic time of the handover, s; at the next tick or later
        :return: None if no trajectory is active then
        """
        return self._tick.reference.handover(time, self._newest)

    def hold_position(self, time: float) -> Array:
        """Return the reference position at a time, or the measured one without a reference."""
        reference = self.reference_at(time)
        return self.measured()[0] if reference is None else reference.position

    def command_expired(self, age: float) -> bool:
        """Return whether a command is too old to be sent; ``age``: time since its tick, s."""
        return self._tick.monitor.exceeds_timeout(age)

    def terms(self) -> Terms:
        """Return the terms of the last tick's effort, for the commanded joints."""
        if self._tick.state_machine.controlling:
            return self._tick.active_law.terms()
        gravity = self._tick.ramp_down.target
        return Terms(gravity, *(np.zeros_like(gravity) for _ in fields(Terms)[1:]))

    def follow(
        self, motion: Trajectory | Setpoint, start: float | None, goal: Goal | None = None
    ) -> None:
        """
        Request to follow a motion.

        :param motion: motion of the commanded joints, in their order
        :param start: monotonic time, s; None for the next tick
        :param goal: goal of the motion, judged at each tick; None for a motion without one
        """
        self._newest = motion
        self._requests.append(lambda now: self._tick.follow(motion, start, goal))

    def cancel(self, goal: Goal | None = None, limits: Deceleration | None = None) -> None:
        """
        Request to drop every motion, and to hold the current reference position or decelerate.

        :param goal: do so only if the motion of this goal is followed; None: whatever is followed
        :param limits: limits of the motion to a stop; None: hold at once
        """
        self._newest = None
        self._requests.append(lambda now: self._tick.cancel(goal, limits))

    def change(self, settings: ResolvedSettings) -> None:
        """Request a blended change; new settings may differ in ``while_active`` parameters."""
        law = self._tick.active_law.make_law(settings)
        payloads = self.environment.payloads.prepare(settings.payloads)
        self._requests.append(lambda now: self._tick.change(settings, law, payloads))

    def publish_external_effort(self, published: bool) -> None:
        """Request external efforts, or their end unless contact needs them."""
        if published != self._external_effort_published:
            self._external_effort_published = published
            tick = self._tick
            self._requests.append(lambda now: tick.contact.publish(published, tick.settings))

    def tare(self) -> None:
        """Request a tare of the force-torque sensors."""
        self._requests.append(self.environment.wrenches.tare)

    def request_stop(self) -> None:
        """Request a ramp-down that ends in state ``stopped``."""
        self._requests.append(self._tick.stop)

    def request_fault(self, reason: Reason) -> None:
        """Request a ramp-down that ends in state ``fault``."""
        self._requests.append(lambda now: self._tick.fail(reason, now))

    def enter_fault(self, reason: Reason, now: float, error: BaseException | None = None) -> None:
        """Ramp down to ``fault`` at once, in :meth:`step`'s thread; the first error is kept."""
        self._tick.fail(reason, now, error)

    def note_setpoint(self) -> None:
        """Request that a motion which cannot be followed counts as no pause of its stream."""
        self._requests.append(lambda now: self._tick.contact.register_motion(is_setpoint=False))

    def set_reference(self, setpoint: Setpoint) -> None:
        """
        Take a trajectory controller's set-point, in the thread of :meth:`step`.

        The first set-point of a stream is blended in.
        """
        if self._tick.contact.register_motion(is_setpoint=True) or not self.following:
            return
        if not self._tick.reference.from_controller:
            self._tick.limiter.blend(self.settings.ramp_duration)
        self._tick.reference.accept(setpoint, None)

    def step(self, now: float) -> Array | None:
        """
        Return the command of this tick, shape (m,); the next call overwrites it.

        An error ends the control like any other fault, and is kept in ``error``.

        :return: None before the first valid joint states, while commands are not permitted, and
            shortly after a blocked tick
        """
        if self.withheld and self.permitted:
            self._tick.start_output()
        self.withheld = self._tick.started and not self.permitted
        try:
            while self._requests:
                self._requests.popleft()(now)
            command = self._tick.run(now, permitted=self.permitted)
        except Exception as error:
            self.enter_fault(Reason.INTERNAL_ERROR, now, error)
            command = self._tick.ramp_down_command(now)
        return None if self.withheld else command

    def command_sent(self, now: float) -> None:
        """Set the time right after sending; without it, the time of the tick counts."""
        self._tick.limiter.sent(now)

    def withdraw_command(self) -> None:
        """Take the last command back: it was not sent. The next one starts from the one before."""
        self._tick.limiter.withdraw()
