# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The control: measured state and reference motion in, effort commands out.

Time is an argument; nothing is read or sent here, so tests check every rule with plain numbers.
The thread of the loop calls :meth:`FeedforwardController.step`. Requests of other threads (a
motion, changed settings, a stop) wait in a queue until the next tick. The snapshot that they read
is replaced by every tick; measured values are read live, and may be one sample apart.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
import math

import numpy as np

from ..arrays import Array
from ..robot import RobotModel
from .base_imu import BaseSensor
from .contact import ContactReaction, ExternalEffortMonitor
from .efforts import AdditionalEffort, JointEfforts
from .laws import ControlLaw, Terms
from .limiter import EffortLimiter
from .loaded_model import PayloadBlend
from .measured import JointStateMonitor, TickMonitor
from .motion import Deceleration, Goal, Motions, Reference, Setpoint, Trajectory, predicted
from .reasons import Reason
from .settings import ResolvedSettings, load_robot, make_law
from .state import ENDED, ActingEffort, Ending, Event, Snapshot, Stalls, State, StateMachine
from .wrench import WrenchInputs


class FeedforwardController:
    """
    Feedforward control of one robot with m commanded joints.

    :ivar permitted: whether commands may be sent; set it in the thread of :meth:`step`. The first
        True starts the commands; a later False withholds them. ``withheld``: it does so now
    :ivar wrenches: the force-torque sensors; feed them before :meth:`step`; likewise ``base``, the
        IMU on the base or None, and ``additional_effort``, the efforts of another program
    :ivar acting_effort: the effort from which commands start; set what a watchdog commands
    :ivar limiter: the limits of commands; tell it after :meth:`step` whether the command was sent
    :ivar outside_flags: flags that the caller of the control has set
    :ivar settings: the settings in force, with the ``law`` and the ``robot`` with its payloads, on
        its base; ``joints``: the commanded joints, in the order of every command
    :ivar snapshot: the control after the last tick; any thread may read it
    :ivar motions: the motions that are followed; any thread may read them, and request another
        ``speed_scaling``
    """

    def __init__(
        self, model: RobotModel, settings: ResolvedSettings, states: JointStateMonitor
    ) -> None:
        n, m = model.nv, len(settings.joints)
        self.settings, self.joints = settings, settings.joints
        self.permitted, self.withheld, self._started = True, False, False
        self.outside_flags: frozenset[Reason] = frozenset()
        self._error: BaseException | None = None
        self._requests: deque[Callable[[float], object]] = deque()
        self._states = states
        self._commanded = settings.joint_indices
        self.robot = load_robot(model, settings)
        self.wrenches = WrenchInputs(model, settings.wrench_inputs)
        self.base = BaseSensor(model, settings.base_sensor) if settings.base_sensor else None
        loaded_bodies = (self.robot.loaded_bodies, *self.wrenches.loaded_bodies)
        self._payloads = PayloadBlend(loaded_bodies, settings.payloads)
        self.additional_effort = AdditionalEffort(settings)
        self._reference = Reference(
            m, settings.reference_timeout, lead=settings.period if settings.predict_state else 0.0
        )
        self._desired = (np.zeros(n), np.zeros(n), np.zeros(n))
        self.motions = Motions(self._reference, settings.reference_timeout)
        self.speed_scaling = self._reference.scaling
        self._machine = StateMachine()
        self._monitor = TickMonitor(states, self._reference, settings)
        self._joint_efforts = JointEfforts(settings.joint_indices)
        self.limiter = EffortLimiter(settings.effort_limits, settings.effort_rate_limit)
        self._ending = Ending(self._machine, self.limiter, settings)
        self._stalls = Stalls(settings)
        self.acting_effort = ActingEffort(states)
        self._contact = ContactReaction(self.robot, states, settings, self.motions)
        self._external: Array | None = None  # of the sensors, at the last command
        self._compensated: Array | None = None  # by the hardware, at the last command
        self._use_law(settings, make_law(settings, self.robot))
        self._take_snapshot()

    # For any thread

    @property
    def state(self) -> State:
        """State of the control."""
        return self.snapshot.state

    @property
    def reason(self) -> Reason | None:
        """Why the control ended; None if it has not ended."""
        return self.snapshot.reason

    @property
    def flags(self) -> frozenset[Reason]:
        """Raised flags: the control goes on, but something is wrong."""
        return self.snapshot.flags

    @property
    def following(self) -> bool:
        """Whether the control is active in a mode that follows motions."""
        return self._machine.controlling and self.law.follows_motions

    @property
    def external_effort(self) -> ExternalEffortMonitor | None:
        """The external efforts; None while nothing needs them, and unless the law is commanded."""
        return self._contact.monitor if self._machine.controlling else None

    def measured(self) -> tuple[Array, Array]:
        """Return positions and velocities of the commanded joints, shapes (m,), rad or m."""
        return self._states.position[self._commanded], self._states.velocity[self._commanded]

    def hold_position(self, time: float) -> Array:
        """Return the reference position at a time, or the measured one without a reference."""
        reference = self.motions.reference_at(time)
        return self.measured()[0] if reference is None else reference.position

    def follow(
        self, motion: Trajectory | Setpoint, start: float | None, goal: Goal | None = None
    ) -> None:
        """Request to follow a motion from a monotonic time on, s; None: from the next tick on."""
        self.motions.newest = motion
        self._requests.append(lambda now: self.motions.follow(
            motion, start, goal, mode_follows=self.law.follows_motions
        ))

    def cancel(self, goal: Goal | None = None, limits: Deceleration | None = None) -> None:
        """Request to hold the reference position, or decelerate; see :meth:`.Motions.cancel`."""
        self.motions.newest = None
        self._requests.append(lambda now: self.motions.cancel(goal, limits))

    def move_to(self, position: Array, orientation: Array) -> None:
        """Request a target pose, as :meth:`.ControlLaw.move_to` takes it."""
        self._requests.append(lambda now: self.law.move_to(position, orientation))

    def change(self, settings: ResolvedSettings) -> None:
        """Request a blended change; new settings may differ in ``while_active`` parameters."""
        law = make_law(settings, self.robot)
        payloads = self._payloads.prepare(settings.payloads)
        self._requests.append(lambda now: self._change(settings, law, payloads))

    def publish_external_effort(self, published: bool) -> None:
        """Request external efforts, or their end unless contact needs them."""
        self._requests.append(lambda now: self._contact.publish(published, self.settings))

    def note_setpoint(self) -> None:
        """Request that a motion which cannot be followed counts as no pause of its stream."""
        self._requests.append(lambda now: self.motions.register(is_setpoint=False))

    def tare(self) -> None:
        """Request a tare of the force-torque sensors."""
        self._requests.append(self.wrenches.tare)

    def request_stop(self) -> None:
        """Request a ramp-down that ends in state ``stopped``."""
        self._requests.append(lambda now: self._end(Event.STOP, Reason.STOP_REQUESTED, now))

    def request_fault(self, reason: Reason, error: BaseException | None = None) -> None:
        """Request a ramp-down that ends in state ``fault``."""
        self._requests.append(lambda now: self.enter_fault(reason, now, error))

    # For the thread of the loop

    def step(self, now: float) -> Array | None:
        """
        Return the command of this tick, shape (m,); the next call overwrites it.

        An error ends the control like any other fault, and is kept in ``snapshot.error``.

        :return: None before the first valid joint states, while commands are not permitted, and
            shortly after a blocked tick
        """
        was_withheld, self.withheld = self.withheld, self._started and not self.permitted
        try:
            if was_withheld and self.permitted:
                self._start_output()
            while self._requests:
                self._requests.popleft()(now)
            command = self._tick(now)
        except Exception as error:
            self.enter_fault(Reason.INTERNAL_ERROR, now, error)
            command = self._ending_command(now)
        self._take_snapshot()
        return None if self.withheld else command

    def command_expired(self, age: float) -> bool:
        """Return whether a command is too old to be sent; ``age``: time since its tick, s."""
        return self._monitor.exceeds_timeout(age)

    def enter_fault(self, reason: Reason, now: float, error: BaseException | None = None) -> None:
        """Hold, then ramp down to ``fault``, from this tick on; the first error is kept."""
        self._error = self._error or error
        self._end(Event.FAILED, reason, now)
        self._take_snapshot()

    def set_reference(self, setpoint: Setpoint) -> None:
        """Take a trajectory controller's set-point; the first one of a stream is blended in."""
        if self.motions.register(is_setpoint=True) or not self.following:
            return
        if not self._reference.from_controller:
            self.limiter.blend(self.settings.ramp_duration)
        self._reference.accept(setpoint, None)

    def terms(self) -> Terms:
        """Return the terms of the last tick's effort, for the commanded joints."""
        m, commanded = len(self.joints), self._commanded
        if not self._machine.controlling:
            return Terms.of(m, gravity=self._ending.target)  # the end has no other term
        values = {name: term[commanded] for name, term in vars(self.law.terms()).items()}
        values['trajectory'] = self._reference.effort.copy()
        if self.additional_effort.acting:
            values['additional'] = self.additional_effort.effort.copy()
        if self._joint_efforts.acting:
            values['feedback'] = values['feedback'] + self._joint_efforts.damping
            values['soft_limits'] = self._joint_efforts.soft_limits.copy()
        return Terms(**values)

    def _tick(self, now: float) -> Array | None:
        """
        Check the inputs, change the state, compute the command.

        In this order: ages, payloads and base, start, contact by the last command, flags, stalls,
        permission; then the law and the limiter, or the end of the control.
        """
        machine, monitor, permitted = self._machine, self._monitor, self.permitted
        commanding = permitted and machine.controlling
        monitor.check(
            now, follows=commanding and self._reference.is_set,
            target_speed=self.law.target_speed if commanding else 0.0,
        )
        self._payloads.advance(monitor.dt)
        if self.base is not None:
            base_motion = self.base.advance(now)
            self.robot.set_base(*base_motion)
            self.wrenches.set_base(*base_motion)
        if self.wrenches.taring and monitor.stale:
            self.wrenches.reject_tare(Reason.JOINT_STATES_STALE)
        elif self.wrenches.taring and not machine.controlling:  # otherwise the law advances it
            self.wrenches.advance(now, self._states.position, self._states.velocity)
        was_started = self._started
        if not was_started and not self._start(now):
            return None
        if was_started and machine.state not in ENDED:
            effort = self.acting_effort.after_block(now, self.settings, blocked=monitor.blocked)
            if effort is not None:
                self.limiter.start(effort)
        if machine.controlling:
            self.motions.count_pause(monitor.dt)
        ramping = machine.state is State.RAMPING or self.limiter.starting > 0.0
        commanding = permitted and was_started and machine.controlling
        self._contact.react(
            self.limiter, self._compensated, self._external, detect_contact=not ramping,
            motor_effort_known=commanding and self.acting_effort.known,
        )
        monitor.set_flags(now, overloaded=self._ending.overloads, cut=self.additional_effort.cut)
        flagged = bool(self._raised_flags())
        if flagged != (machine.state is State.DEGRADED):
            machine.handle(Event.FLAGGED if flagged else Event.CLEARED, now)
        if machine.controlling:
            if monitor.thawed and not self._reference.moving:
                self._hold_here(Reason.JOINT_STATES_FROZEN)  # the position held until now was old
            self._interrupt_after_stall(now, was_started=was_started)
        elif machine.state is State.HOLDING:
            self._return_after_stall(now)
        if not (permitted and machine.controlling):
            self.additional_effort.clear()
        if machine.controlling and not permitted:
            self._withhold(now)
        if not self.acting_effort.known and machine.state not in ENDED:
            return None  # after a block, until the effort that acts is known
        return self._control(now) if machine.controlling else self._ending_command(now)

    def _control(self, now: float) -> Array | None:
        """Return the command of the control law."""
        machine, dt = self._machine, self._monitor.dt
        if self.wrenches.settings:
            self.wrenches.advance(now, self._states.position, self._states.velocity)
        if self.additional_effort.enabled:
            self.additional_effort.advance(now, dt)
        self._reference.advance(now)
        if self.motions.goal is not None:  # a missed goal changes the reference
            self.motions.judge(now, *self.measured())
        effort = self._effort(now, dt)
        if not math.isfinite(sum(effort.tolist())):
            self.enter_fault(Reason.OUTPUT_NOT_FINITE, now)
            return self._ending_command(now)
        self._ending.set_holding(self.law.holding[self._commanded])
        command = self.limiter.limit(effort, now, dt)
        if self.permitted and machine.state is State.RAMPING and not self.limiter.blending:
            machine.handle(Event.BLENDED, now)
        return command

    def _effort(self, now: float, dt: float) -> Array:
        """Return the effort for the present reference, shape (m,); finite if the inputs are."""
        states, reference, wrenches = self._states, self._reference, self.wrenches
        q, qd, commanded = states.position, states.velocity, self._commanded
        self._external = wrenches.efforts(q) if wrenches.settings else None
        motion = None
        if reference.is_set:
            # Uncommanded joints have their measured state.
            motion = q_d, qd_d, qdd_d = self._desired
            q_d[:], qd_d[:] = q, qd
            q_d[commanded], qd_d[commanded] = reference.position, reference.velocity
            qdd_d[commanded] = reference.acceleration
            if reference.ahead:
                h = max(states.age(now, commanded), 0.0) + reference.ahead
                q, qd = predicted(q, qd, qd_d, qdd_d, h)
        effort: Array = self.law.effort(q, qd, motion, self._external, dt)[commanded]
        self._compensated = self.law.compensated
        effort += reference.effort
        if self.additional_effort.acting:
            effort += self.additional_effort.effort
        if self._joint_efforts.acting:
            damped = motion is None or not self.law.follows_motions
            self._joint_efforts.add(effort, states.position, states.velocity, dt, damped=damped)
        return effort

    def _ending_command(self, now: float) -> Array | None:
        """Return the command after a fault or a stop; None if commands have not started."""
        if not self._started:
            return None
        # After an error the same computation may fail again; a last command must not change.
        if self._error is None and self._machine.state not in ENDED:
            self._ending.set_holding(self._holding_effort())
        command, event = self._ending.command(now, self._monitor.dt, self.settings)
        if event is not None and not self._stalls.may_return:  # otherwise it stays in holding
            self._machine.handle(event, now)
        return command

    def _holding_effort(self) -> Array:
        return self.law.holding_effort(self._states.position)[self._commanded]

    # Start and end of the control

    def _start(self, now: float) -> bool:
        """Start commands if joint states are valid and commands permitted; return whether."""
        machine = self._machine
        machine.handle(Event.STATES_STALE if self._monitor.stale else Event.STATES_VALID, now)
        if machine.state is State.READY and self.permitted:
            self._start_output()
            machine.handle(Event.PERMITTED, now)
            self._started = True
        return self._started

    def _start_output(self) -> None:
        """Start commands by a ramp from the measured effort, or from zero."""
        effort = self.acting_effort.measured(self.settings)
        self.limiter.start(np.zeros(len(self.joints)) if effort is None else effort)
        self.limiter.ramp(self.settings.ramp_duration)
        self.law.reset()
        if self._error is not None:  # another controller may have moved the robot since
            self._ending.set_holding_or_zero(self._holding_effort)

    def _end(self, event: Event, reason: Reason, now: float) -> None:
        """Begin the end by a fault or a stop; the first reason stays. A stall may yet return."""
        self.limiter.end_blend()
        self._stalls.forbid_return()
        self._machine.handle(event, now, reason)

    def _interrupt_after_stall(self, now: float, *, was_started: bool) -> None:
        """Interrupt the control if the last tick was too long ago, or joint states are stale."""
        monitor = self._monitor
        if was_started and monitor.blocked:
            reason, duration = Reason.TICK_BLOCKED, monitor.elapsed
            timeout = self.settings.joint_states_timeout
        elif monitor.stale:
            reason, duration, timeout = monitor.overdue(now)
        else:
            return
        contested = self._states.contested
        if contested:
            reason = Reason.JOINT_STATES_CONTRADICT
        self.enter_fault(reason, now)
        self.motions.drop_goal(reason)
        if not contested:
            self._stalls.begin(reason, now, duration, timeout)

    def _return_after_stall(self, now: float) -> None:
        """Resume control once a stall is over."""
        fresh = not (self._monitor.stale or self._monitor.blocked)
        if self._stalls.check_return(now, fresh=fresh, jumped=self._states.jumped):
            self._hold_here(self._machine.reason or Reason.JOINT_STATES_STALE)
            self._machine.handle(Event.RETURNED, now)
            self.law.reset()

    def _hold_here(self, reason: Reason) -> None:
        """Hold the robot where it is, or leave it weightless."""
        if self._reference.is_set:
            self._reference.hold(self._states.position[self._commanded], reason)
        else:
            self._reference.clear(reason)
        self.limiter.blend(self.settings.ramp_duration)

    def _withhold(self, now: float) -> None:
        """Drop the motion, and prepare a new start: another controller may move the robot."""
        self._hold_here(Reason.COMMANDS_WITHHELD)
        self._machine.handle(Event.WITHHELD, now)

    # Parts of a tick

    def _change(self, settings: ResolvedSettings, law: ControlLaw, payloads: list[Array]) -> None:
        before, self.settings = self.settings, settings
        if type(law) is type(self.law):
            law.continue_from(self.law)
        self._use_law(settings, law)
        if settings.payloads != before.payloads:
            self._payloads.change(payloads, settings.payload_blend_duration)
            before = replace(before, payloads=settings.payloads)  # they blend by themselves
        if not law.follows_motions:
            # The arm may be moved by hand now: a later mode must not pull it back.
            self._reference.clear(Reason.MODE_WITHOUT_MOTION)
        if self._machine.controlling and before != settings:
            self.limiter.blend(settings.ramp_duration)
        self._contact.configure(settings)
        self.additional_effort.configure(settings)

    def _use_law(self, settings: ResolvedSettings, law: ControlLaw) -> None:
        self.law = law
        self.robot.set_gravity_factor(settings.gravity_scale)
        self._joint_efforts.configure(np.array([*vars(settings.zones).values(), settings.damping]))

    def _raised_flags(self) -> frozenset[Reason]:
        flags = self._monitor.flags | self.outside_flags
        if self.wrenches.stale:
            flags |= {Reason.WRENCH_STALE}
        if self.base is not None and self.base.stale:
            flags |= {Reason.BASE_STALE}
        return flags | {Reason.CONTACT} if self._contact.lasts else flags

    def _take_snapshot(self) -> None:
        machine, stalls, ending = self._machine, self._stalls, self._ending
        self.snapshot = Snapshot(
            machine.state, machine.reason, machine.stop_requested, self._error,
            self._raised_flags(), self._monitor.flag_counts, self._contact.newest,
            stalls.newest, stalls.counts, tuple(self.limiter.saturated.tolist()),
            ending.overloaded,
        )
