# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The control, one tick at a time: measured state and wanted motion in, efforts out.

Time is passed in, nothing is read and nothing is sent here, so that every rule can be tested with
plain numbers. One thread calls :meth:`FeedforwardController.step`; requests from others (a
motion, a mode, a stop) are left in a queue and taken at the next tick.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import fields, replace
import math

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..robot import RobotModel
from .active_law import ActiveLaw
from .effort_limiter import EffortLimiter
from .environment import Environment
from .initial_effort import acting_effort
from .inputs import JointStateMonitor
from .law import ControlLaw, Mode, Terms
from .monitoring import Flags, Freshness
from .ramp_down import HoldingEffort, RampDown
from .reasons import Reason
from .settings import ResolvedSettings
from .state_machine import Event, State, StateMachine
from .trajectory import MotionState, Reference, Setpoint, SpeedScaling, Trajectory


class FeedforwardController:
    """
    Feedforward control of one robot.

    :param model: the robot
    :param settings: checked settings
    :param states: the measured joint state of all joints of the model
    :ivar environment: payloads, force-torque sensors, IMU; whoever calls :meth:`step` gives
        the sensors their readings
    :ivar permitted: whether commands may be sent, set in the thread of :meth:`step`. The control
        begins once they may; later, commands are withheld while they may not, and start again
        from the measured effort or from zero
    :ivar outside_flags: what is wrong outside of the control, while it goes on
    """

    def __init__(
        self, model: RobotModel, settings: ResolvedSettings, states: JointStateMonitor
    ) -> None:
        self._states = states
        self.environment = Environment(model, settings.settings)
        self.permitted = True
        self.outside_flags: frozenset[Reason] = frozenset()
        self._state_machine = StateMachine()
        self._requests: deque[Callable[[float], object]] = deque()
        self._settings = settings
        self._commanded = settings.in_model
        self._freshness = Freshness(states, settings)
        self._output = EffortLimiter(settings.effort_limits, settings.effort_rate_limit)
        self._reference = Reference(len(settings.joints), settings.settings.reference_timeout)
        self._law = ActiveLaw(settings, states, self.environment, self._reference)
        self._began = False
        self._withheld = False
        self._holding = HoldingEffort(settings)
        self._ramp_down = RampDown(self._state_machine, self._output)
        self.error: BaseException | None = None
        self._flags = Flags(states, self._reference, self._commanded, settings.settings.period)

    @property
    def state(self) -> State:
        """Where the control stands."""
        return self._state_machine.state

    @property
    def reason(self) -> Reason | None:
        """Why the control ended, None while it has not."""
        return self._state_machine.reason

    @property
    def flags(self) -> frozenset[Reason]:
        """What is wrong while the control goes on."""
        return self._flags.raised | self.environment.flags | self.outside_flags

    @property
    def withheld(self) -> bool:
        """Whether commands are withheld, after the first one was permitted."""
        return self._withheld

    @property
    def flag_counts(self) -> Counter[Reason]:
        """How often each flag was raised."""
        return self._flags.counts

    @property
    def mode(self) -> Mode:
        """The control law in force."""
        return self._law.mode

    @property
    def joints(self) -> tuple[str, ...]:
        """The commanded joints, in the order of every command."""
        return self._settings.joints

    @property
    def stop_requested(self) -> bool:
        """Whether somebody wants the control to end."""
        return self._state_machine.stop_requested

    @property
    def settings(self) -> ResolvedSettings:
        """The settings in force."""
        return self._settings

    @property
    def saturated(self) -> NDArray[np.bool_]:
        """Which commands the effort limits cut at the last tick, shape (m,)."""
        return self._output.saturated

    @property
    def overloaded(self) -> NDArray[np.bool_]:
        """Which effort limits are below what holds the robot where it is, shape (m,)."""
        return self._holding.overloaded

    def measured(self) -> tuple[Array, Array]:
        """Return position and velocity of the commanded joints, shapes (m,), rad or m."""
        commanded = self._commanded
        return self._states.position[commanded], self._states.velocity[commanded]

    def wanted(self, time: float) -> MotionState | None:
        """Return what will be wanted of the commanded joints; see :meth:`.Reference.expected`."""
        return self._reference.state_at(time)

    def held(self, time: float) -> Array:
        """Return the positions that commanded joints hold: those wanted, or else measured."""
        wanted = self.wanted(time)
        return self.measured()[0] if wanted is None else wanted.position

    @property
    def speed_scaling(self) -> SpeedScaling:
        """How fast the time of motions runs; any thread may ask it for another speed."""
        return self._reference.scaling

    def follow(self, motion: Trajectory | Setpoint, start: float | None) -> None:
        """
        Follow a motion from its start on.

        :param motion: of the commanded joints, in their order
        :param start: monotonic time, s; None for the next tick
        """
        self._requests.append(lambda now: self._follow(motion, start))

    @property
    def following(self) -> bool:
        """Whether motions are followed now."""
        return self._state_machine.controlling and self._law.mode is not Mode.GRAVITY

    def want(self, setpoint: Setpoint) -> None:
        """
        Want what a trajectory controller wants now; for the thread that calls :meth:`step`.

        The first of a stream is blended in.

        :param setpoint: of the commanded joints, in their order
        """
        if not self.following:
            return
        if not self._reference.from_controller:
            self._output.blend(self._settings.settings.ramp_duration)
        self._reference.accept(setpoint, None)

    def cancel(self) -> None:
        """Drop every motion and hold the position that is wanted now."""
        self._requests.append(lambda now: self._cancel())

    def change(self, settings: ResolvedSettings) -> None:
        """
        Change what may be changed while running, blended.

        :param settings: settings that differ from those in force in mode, gains,
            compensate_coriolis, losses or payloads only
        """
        law = self._law.law_of(settings)
        self._requests.append(lambda now: self._change(settings, law))

    def tare(self) -> None:
        """Let the force-torque sensors take for their offsets what they read from now on."""
        wrenches = self.environment.wrenches
        self._requests.append(lambda now: wrenches.tare(now, self._states.position))

    def stop(self) -> None:
        """Ramp to gravity, then to zero, as stale_action says; then the state is stopped."""
        self._requests.append(
            lambda now: self._state_machine.handle(Event.STOP, now, Reason.STOP_REQUESTED)
        )

    def end(self, reason: Reason) -> None:
        """
        End the control because of what was seen outside of it.

        :param reason: what happened
        """
        self._requests.append(lambda now: self._state_machine.handle(Event.FAILED, now, reason))

    def fail(self, reason: Reason, now: float, error: BaseException | None = None) -> None:
        """
        End the control because of an error.

        :param reason: what happened
        :param now: monotonic time, s
        :param error: what was raised; the first one is kept in ``error``
        """
        self.error = self.error or error
        self._state_machine.handle(Event.FAILED, now, reason)

    def step(self, now: float) -> Array | None:
        """
        Return the command for this tick, shape (m,); overwritten by the next call.

        Whatever is raised on the way ends the control as any other fault does, and is kept in
        ``error``.

        :param now: monotonic time, s
        :return: None before the first valid joint state, and while commands are not permitted
        """
        if self._withheld and self.permitted:
            self._start_output()
        self._withheld = self._began and not self.permitted
        try:
            command = self._step(now)
        except Exception as error:
            self.fail(Reason.INTERNAL_ERROR, now, error)
            command = self._end(now)
        return None if self._withheld else command

    def outdated(self, age: float) -> bool:
        """
        Return whether a command counts no more: a watchdog may have taken the effort away.

        :param age: since the tick that it was made for, s
        """
        return self._freshness.outlasts(age)

    def terms(self) -> Terms:
        """Return the parts of the effort wanted at the last tick, commanded joints only."""
        if self._state_machine.controlling:
            return self._law.terms()
        gravity = self._ramp_down.share * self._holding.effort
        return Terms(gravity, *(np.zeros_like(gravity) for _ in fields(Terms)[1:]))

    def _follow(self, motion: Trajectory | Setpoint, start: float | None) -> None:
        # The mode may have changed since the motion was asked for.
        if self._law.mode is not Mode.GRAVITY:
            self._reference.accept(motion, start)

    def _cancel(self) -> None:
        if self._reference.is_set:
            self._reference.hold(self._reference.position.copy())
        else:
            self._reference.clear()

    def _change(self, settings: ResolvedSettings, law: ControlLaw) -> None:
        before, self._settings = self._settings.settings, settings
        self._law.enact(settings, law)
        if settings.settings.payloads != before.payloads:
            self.environment.change_payloads(settings.settings)
            before = replace(before, payloads=settings.settings.payloads)
        if self._law.mode is Mode.GRAVITY:
            # The arm may be moved by hand now: no old position may pull it back afterwards.
            self._reference.clear()
        if self._state_machine.controlling and before != settings.settings:
            self._output.blend(settings.settings.ramp_duration)

    def _step(self, now: float) -> Array | None:
        while self._requests:
            self._requests.popleft()(now)
        times, began = self._freshness, self._began
        times.tick(now)
        if not began:
            event = Event.STATE_LOST if times.stale else Event.STATE_COMPLETE
            self._state_machine.handle(event, now)
            if self._state_machine.state is State.READY and self.permitted:
                self._begin(now)
            if not self._began:
                return None
        self.environment.step(now, times.dt)
        self._flags.update(now, overloaded=self._holding.exceeds_limits())
        flagged = bool(self.flags)
        if flagged != (self._state_machine.state is State.DEGRADED):
            self._state_machine.handle(Event.FLAGGED if flagged else Event.CLEARED, now)
        if self._state_machine.controlling:
            blocked = times.blocked and began
            if not (times.stale or blocked):
                return self._control(now)
            acting = acting_effort(self._states, self._settings)
            if blocked and not times.stale and acting is not None:
                self._output.start(acting)  # a watchdog may have taken the effort away
            reason = Reason.TICK_BLOCKED if blocked else Reason.JOINT_STATES_STALE
            self._state_machine.handle(Event.FAILED, now, reason)
        return self._end(now)

    def _begin(self, now: float) -> None:
        """Take over from the effort that acts now, as far as it is known."""
        self._start_output()
        self._output.blend(self._settings.settings.ramp_duration)
        self._state_machine.handle(Event.PERMITTED, now)
        self._began = True

    def _start_output(self) -> None:
        """Start from the measured effort, or from zero."""
        acting = acting_effort(self._states, self._settings)
        self._output.start(np.zeros_like(self._holding.effort) if acting is None else acting)

    def _control(self, now: float) -> Array | None:
        effort = self._law.effort(now)
        if not math.isfinite(effort.sum()):
            self._state_machine.handle(Event.FAILED, now, Reason.OUTPUT_NOT_FINITE)
            return self._end(now)
        self._note_holding_effort()
        command = self._output.step(effort, self._freshness.dt)
        if self._state_machine.state is State.RAMPING and not self._output.blending:
            self._state_machine.handle(Event.BLENDED, now)
        return command

    def _note_holding_effort(self) -> None:
        self._holding.note(self._law.control_law, self._states.position)

    def _end(self, now: float) -> Array | None:
        """Return the command after a fault or a stop: gravity, then down to zero."""
        if not self._began:
            return None
        if self.error is None:  # what raised an error may raise it again
            self._note_holding_effort()
        return self._ramp_down.step(
            now, self._freshness.dt, self._holding.effort, self._settings.settings
        )
