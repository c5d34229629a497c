# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
One tick of the control: check the inputs, change the state, compute the command.

Only this module sends events to the state machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
import math

import numpy as np

from ..arrays import Array
from ..robot import RobotModel
from .active_law import ActiveLaw
from .contact_reaction import ContactReaction
from .effort_limiter import EffortLimiter
from .environment import Environment
from .inputs import AdditionalEffort, JointStateMonitor
from .law import ControlLaw
from .monitoring import TickMonitor
from .motion import Deceleration, Goal, Reference, Setpoint, Trajectory
from .ramp_down import HoldingEffort, RampDown
from .reasons import Reason
from .settings import ResolvedSettings
from .stalls import ActingEffort, StallRecovery
from .state_machine import ENDED, Event, State, StateMachine


class ControlTick:
    """
    The parts of the control, run once a tick.

    :ivar settings: the settings in force
    :ivar started: whether commands have started
    :ivar outside_flags: flags that the caller of the control has set
    :ivar error: the first error that ended the control, or None
    :ivar goal: goal of the present motion, None if it has no goal
    :ivar additional: efforts of another program
    """

    def __init__(
        self, model: RobotModel, settings: ResolvedSettings, states: JointStateMonitor
    ) -> None:
        self.settings = settings
        self.started = False
        self.outside_flags: frozenset[Reason] = frozenset()
        self.error: BaseException | None = None
        self.goal: Goal | None = None
        self.environment = Environment(model, settings)
        given = settings
        self.reference = Reference(
            len(settings.joints), given.reference_timeout,
            lead=given.period if given.predict_state else 0.0,
        )
        self.state_machine = StateMachine()
        self.monitor = TickMonitor(states, self.reference, settings)
        self.additional = AdditionalEffort(settings)
        self.active_law = ActiveLaw(
            settings, states, self.environment, self.reference, self.additional
        )
        self.holding = HoldingEffort(settings)
        self.limiter = EffortLimiter(
            np.array(settings.effort_limits), np.array(settings.effort_rate_limit)
        )
        self.ramp_down = RampDown(self.state_machine, self.limiter)
        self.stalls = StallRecovery(settings)
        self.acting_effort = ActingEffort(states)
        self.contact = ContactReaction(self.environment.robot, states, settings, self.reference)
        self._states = states

    @property
    def flags(self) -> frozenset[Reason]:
        """Raised flags."""
        flags = self.monitor.flags | self.environment.flags | self.contact.flags
        return flags | self.outside_flags

    def stop(self, now: float) -> None:
        """End the control on request."""
        self.limiter.end_blend()
        self.stalls.exclude_return()
        self.state_machine.handle(Event.STOP, now, Reason.STOP_REQUESTED)

    def fail(self, reason: Reason, now: float, error: BaseException | None = None) -> None:
        """End the control by a fault; the first ``error`` is kept."""
        self.limiter.end_blend()
        self.stalls.exclude_return()
        self.error = self.error or error
        self.state_machine.handle(Event.FAILED, now, reason)

    def follow(
        self, motion: Trajectory | Setpoint, start: float | None, goal: Goal | None
    ) -> None:
        """
        Follow a motion from a time on (None: this tick); drop it if the mode follows none.

        The mode may have changed since the request. If a trajectory without a goal is joined to
        the motion of a goal, the goal stays, and is judged by the joined motion, as in
        ros2_control's joint_trajectory_controller.
        """
        if goal is None and self.contact.register_motion(is_setpoint=isinstance(motion, Setpoint)):
            return
        if not self.active_law.active.follows_motions:
            if goal is not None:
                goal.drop(Reason.MODE_GRAVITY)
            return
        if not self.reference.accept(motion, start):
            if goal is not None:
                goal.drop(self.reference.reason)
            return
        if self.goal is not None:
            if goal is None and self.goal.go_on(motion):
                return
            self.goal.drop(Reason.REPLACED)
        self.goal = goal
        if goal is not None:
            goal.begin(self.reference, start)

    def cancel(self, goal: Goal | None, limits: Deceleration | None) -> None:
        """
        Drop every motion, and hold the present reference position or decelerate.

        :param goal: do nothing unless the present motion has this goal; None: any motion
        :param limits: limits of the motion to a stop; None: hold at once
        """
        if goal is not None and goal is not self.goal:
            return
        if limits is None:
            self.reference.stop(Reason.CANCELLED)
        else:
            self.reference.decelerate(limits)

    def change(
        self, settings: ResolvedSettings, law: ControlLaw, payloads: Sequence[Array]
    ) -> None:
        """Change settings, law and prepared payloads; the effort is blended."""
        before, self.settings = self.settings, settings
        self.active_law.configure(settings, law)
        if settings.payloads != before.payloads:
            # The environment blends payloads, not the limiter.
            duration = settings.payload_blend_duration
            self.environment.payloads.change(payloads, duration)
            before = replace(before, payloads=settings.payloads)
        if not law.follows_motions:
            # The arm may be moved by hand now: a later mode must not pull it back.
            self.reference.clear(Reason.MODE_GRAVITY)
        if self.state_machine.controlling and before != settings:
            self.limiter.blend(settings.ramp_duration)
        self.contact.configure(settings)
        self.additional.configure(settings)

    def start_output(self) -> None:
        """Start commands by a ramp from the measured effort, or from zero."""
        effort = self.acting_effort.measured(self.settings)
        self.limiter.start(np.zeros_like(self.holding.effort) if effort is None else effort)
        self.limiter.ramp(self.settings.ramp_duration)

    def run(self, now: float, *, permitted: bool) -> Array | None:
        """
        Return the command of a tick, shape (m,); the next call overwrites it.

        :param permitted: whether commands may start
        :return: None before commands have started, and shortly after a blocked tick
        """
        follows = permitted and self.state_machine.controlling and self.reference.is_set
        self.monitor.check_times(now, follows=follows)
        self.environment.advance(now, self.monitor.dt)
        self._tare_without_control(now)
        was_started = self.started
        if not was_started and not self._start(now, permitted):
            return None
        if was_started and self.state_machine.state not in ENDED:
            # After a blocked tick, start from the effort that acts as soon as it is known.
            effort = self.acting_effort.find(now, self.settings, blocked=self.monitor.blocked)
            if effort is not None:
                self.limiter.start(effort)
        known = permitted and was_started and self.acting_effort.known
        self._react_to_contact(known=known)
        overloaded = self.holding.find_overloaded()
        self.monitor.set_flags(now, overloaded=overloaded, cut=self.additional.cut)
        flagged = bool(self.flags)
        if flagged != (self.state_machine.state is State.DEGRADED):
            self.state_machine.handle(Event.FLAGGED if flagged else Event.CLEARED, now)
        if self.state_machine.controlling:
            if self.monitor.frozen.thawed and not self.reference.moving:
                self._hold_here(Reason.JOINT_STATES_FROZEN)  # the position held until now was old
            self._interrupt_after_stall(now, was_started=was_started)
        elif self.state_machine.state is State.HOLDING:
            self._return_after_stall(now)
        if not (permitted and self.state_machine.controlling):
            self.additional.clear()
        if self.state_machine.controlling and not permitted:
            self._withhold(now)
        if not self.acting_effort.known:
            return None
        if self.state_machine.controlling:
            return self._control(now)
        return self.ramp_down_command(now)

    def ramp_down_command(self, now: float) -> Array | None:
        """Return the command after a fault or a stop; None if commands have not started."""
        if not self.started:
            return None
        # After an error the same computation may fail again; a last command must not change.
        if self.error is None and self.state_machine.state not in ENDED:
            self.holding.replace(self.active_law.holding_effort(compute=True))
        command, event = self.ramp_down.command(
            now, self.monitor.dt, self.holding.effort, self.settings
        )
        if event is not None and not self.stalls.may_return:
            self.state_machine.handle(event, now)
        return command

    def _start(self, now: float, permitted: bool) -> bool:
        """Start commands if joint states are valid and commands permitted; return ``started``."""
        stale = self.monitor.stale
        self.state_machine.handle(Event.STATES_STALE if stale else Event.STATES_VALID, now)
        if self.state_machine.state is State.READY and permitted:
            self.start_output()
            self.state_machine.handle(Event.PERMITTED, now)
            self.started = True
        return self.started

    def _tare_without_control(self, now: float) -> None:
        """Advance a tare while the law is not commanded; stale joint states end every tare."""
        wrenches = self.environment.wrenches
        if not wrenches.taring:
            return
        if self.monitor.stale:
            wrenches.reject_tare(Reason.JOINT_STATES_STALE)
        elif not self.state_machine.controlling:
            wrenches.advance(now, self._states.position, self._states.velocity)

    def _react_to_contact(self, *, known: bool) -> None:
        """Observe external efforts if the efforts of the motors are known."""
        contact, controlling = self.contact, self.state_machine.controlling
        if controlling:
            contact.count_pause(self.monitor.dt)
        if contact.monitor is None:
            return
        if known and controlling:
            ramping = self.state_machine.state is State.RAMPING or self.limiter.starting > 0.0
            contact.react(self.active_law, self.limiter, judged=not ramping)
        else:
            contact.monitor.reset()

    def _interrupt_after_stall(self, now: float, *, was_started: bool) -> None:
        """Interrupt the control if the last tick was too long ago, or joint states are stale."""
        if was_started and self.monitor.blocked:
            reason, duration = Reason.TICK_BLOCKED, self.monitor.elapsed
            timeout = self.settings.joint_states_timeout
        elif self.monitor.stale:
            reason, duration, timeout = self.monitor.overdue(now)
        else:
            return
        contested = self._states.contested
        if contested:
            reason = Reason.JOINT_STATES_CONTRADICT
        self.fail(reason, now)
        if self.goal is not None:
            self.goal.drop(reason)
            self.goal = None
        if not contested:
            self.stalls.begin(reason, now, duration, timeout)

    def _return_after_stall(self, now: float) -> None:
        """Resume control once a stall is over."""
        fresh = not (self.monitor.stale or self.monitor.blocked)
        if not self.stalls.check_return(now, fresh=fresh, jumped=self._states.jumped):
            return
        self._hold_here(self.state_machine.reason or Reason.JOINT_STATES_STALE)
        self.state_machine.handle(Event.RETURNED, now)

    def _hold_here(self, reason: Reason) -> None:
        """Hold the robot where it is, or leave it weightless."""
        if self.reference.is_set:
            self.reference.hold(self._states.position[self.settings.joint_indices], reason)
        else:
            self.reference.clear(reason)
        self.limiter.blend(self.settings.ramp_duration)

    def _withhold(self, now: float) -> None:
        """Drop the motion, and prepare a new start: another controller may move the robot."""
        self.reference.position[:] = self._states.position[self.settings.joint_indices]
        self.reference.stop(Reason.COMMANDS_WITHHELD)
        self.limiter.blend(self.settings.ramp_duration)
        self.state_machine.handle(Event.WITHHELD, now)

    def _control(self, now: float) -> Array | None:
        """Return the command of the control law."""
        if self.environment.wrenches.settings:
            self.environment.wrenches.advance(now, self._states.position, self._states.velocity)
        if self.additional.enabled:
            self.additional.advance(now, self.monitor.dt)
        self.reference.advance(now)
        if self.goal is not None:  # before the effort: a missed goal changes the reference
            self._judge(self.goal, now)
        effort = self.active_law.effort(now, self.monitor.dt)
        if not math.isfinite(effort.sum()):
            self.fail(Reason.OUTPUT_NOT_FINITE, now)
            return self.ramp_down_command(now)
        self.holding.replace(self.active_law.holding_effort(compute=False))
        command = self.limiter.limit(effort, now, self.monitor.dt)
        if self.state_machine.state is State.RAMPING and not self.limiter.blending:
            self.state_machine.handle(Event.BLENDED, now)
        return command

    def _judge(self, goal: Goal, now: float) -> None:
        """Compare the robot with a goal; hold where the robot is if the goal was missed."""
        commanded = self.settings.joint_indices
        position = self._states.position[commanded]
        goal.judge(now, position, self._states.velocity[commanded])
        if goal.missed:
            self.reference.hold(position, goal.missed)
        if goal.result is not None:
            self.goal = None
