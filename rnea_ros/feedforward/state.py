# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The state of the control, and what happens when something ends.

Events change the state by :data:`TRANSITIONS`. A fault or a stop leads to ``holding``, where
:class:`Ending` commands the effort that holds the robot, then to ``ramping_down``, then to an end.

A stall is a pause of joint states, or of ticks, of more than ``joint_states_timeout``: a busy
computer stalls for up to some tenths of a second. After a stall the control returns from
``holding`` by itself (:class:`Stalls`); after any other fault, only a new activation starts it
again. After a blocked tick, as at the start, commands start from the effort that acts
(:class:`ActingEffort`).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
import enum
import math
from operator import gt
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from .contact import Contact
from .limiter import EffortLimiter
from .measured import JointStateMonitor
from .reasons import Reason
from .settings import ResolvedSettings, StaleAction


class State(enum.Enum):
    """State of the control."""

    WAITING = 'waiting'            # no valid state of every joint yet; no command
    READY = 'ready'                # joint states are valid, commands not yet permitted; no command
    RAMPING = 'ramping'            # blending from the initial effort to the control law
    ACTIVE = 'active'              # commanding the control law
    DEGRADED = 'degraded'          # as active, with a flag raised
    HOLDING = 'holding'            # commanding gravity at the last valid position
    RAMPING_DOWN = 'ramping_down'  # ramping from gravity to zero
    STOPPED = 'stopped'            # ended on request: zero, or gravity with stale_action hold
    FAULT = 'fault'                # ended by a fault: zero


class Event(enum.Enum):
    """Events that may change the state."""

    STATES_VALID = 'states_valid'      # all joint states are valid
    STATES_STALE = 'states_stale'      # a joint state is too old
    PERMITTED = 'permitted'            # commands are permitted
    BLENDED = 'blended'                # the initial blend has ended
    FLAGGED = 'flagged'                # at least one flag is raised
    CLEARED = 'cleared'                # no flag is raised
    WITHHELD = 'withheld'              # commands are withheld: they will start anew
    FAILED = 'failed'                  # a fault ended the control
    STOP = 'stop'                      # a stop was requested
    RETURNED = 'returned'              # a stall is over: the control returns
    HELD = 'held'                      # hold_duration has passed, or a stop was requested
    HELD_AT_STOP = 'held_at_stop'      # a stop with stale_action hold: gravity is reached
    RAMPED_DOWN = 'ramped_down'        # the command is zero


TRANSITIONS: Mapping[tuple[State, Event], State] = {
    (State.WAITING, Event.STATES_VALID): State.READY,
    (State.WAITING, Event.FAILED): State.FAULT,
    (State.WAITING, Event.STOP): State.STOPPED,
    (State.READY, Event.STATES_STALE): State.WAITING,
    (State.READY, Event.PERMITTED): State.RAMPING,
    (State.READY, Event.FAILED): State.FAULT,
    (State.READY, Event.STOP): State.STOPPED,
    (State.RAMPING, Event.BLENDED): State.ACTIVE,
    (State.RAMPING, Event.FAILED): State.HOLDING,
    (State.RAMPING, Event.STOP): State.HOLDING,
    (State.ACTIVE, Event.FAILED): State.HOLDING,
    (State.ACTIVE, Event.STOP): State.HOLDING,
    (State.ACTIVE, Event.WITHHELD): State.RAMPING,
    (State.ACTIVE, Event.FLAGGED): State.DEGRADED,
    (State.DEGRADED, Event.CLEARED): State.ACTIVE,
    (State.DEGRADED, Event.WITHHELD): State.RAMPING,
    (State.DEGRADED, Event.FAILED): State.HOLDING,
    (State.DEGRADED, Event.STOP): State.HOLDING,
    (State.HOLDING, Event.RETURNED): State.RAMPING,
    (State.HOLDING, Event.HELD): State.RAMPING_DOWN,
    (State.HOLDING, Event.HELD_AT_STOP): State.STOPPED,
    (State.RAMPING_DOWN, Event.RAMPED_DOWN): State.FAULT,
    (State.FAULT, Event.STOP): State.STOPPED,
}
"""All other pairs do not change the state."""


CONTROLLING = (State.RAMPING, State.ACTIVE, State.DEGRADED)
"""States in which the control law is commanded."""

ENDED = (State.STOPPED, State.FAULT)
"""States in which the last command does not change any more."""


class StateMachine:
    """
    Applies :data:`TRANSITIONS`.

    :ivar controlling: whether the control law is commanded; ``since``: monotonic time of the last
        change of state, s
    :ivar reason: why the control was interrupted or ended: the first fault or stop; None if it was
        not, or has returned
    :ivar stop_requested: whether a stop was requested; the control then ends in ``stopped``
    """

    def __init__(self) -> None:
        self.state = State.WAITING
        self.controlling = self.stop_requested = False
        self.reason: Reason | None = None
        self.since = 0.0

    def elapsed(self, now: float) -> float:
        """Return the time in this state, s; it starts again if simulated time was set back."""
        self.since = min(self.since, now)
        return now - self.since

    def handle(self, event: Event, now: float, reason: Reason | None = None) -> None:
        """Change the state after an event; the first reason of a fault or a stop is kept."""
        self.stop_requested |= event is Event.STOP
        state = TRANSITIONS.get((self.state, event), self.state)
        if state is State.FAULT and self.stop_requested:
            state = State.STOPPED
        if event in (Event.FAILED, Event.STOP):
            self.reason = self.reason or reason
        elif event is Event.RETURNED:
            self.reason = None
        if state is not self.state:
            self.state, self.since = state, now
            self.controlling = state in CONTROLLING


SETTLING_TIME = 0.1  # joint states must be fresh for this long before the control returns, s
RETURN_WINDOW = 10.0  # time in which returns are counted, s
MAX_RETURNS = 20
"""
Maximum number of returns within :data:`RETURN_WINDOW`; a further stall forbids a return.

A desktop stalls a few times a minute. An arm that stalls twice a second is not under control.
"""

BUSY = 'run fewer processes, set realtime.priority, or raise joint_states_timeout'
CAUSES = {
    Reason.JOINT_STATES_STALE: ('no joint states', BUSY),
    Reason.TICK_BLOCKED: ('no tick of the loop', BUSY),
    Reason.JOINT_STATES_FROZEN: (
        'joint states repeated while the reference moved',
        'look for lost reads of the driver, or a joint that sticks',
    ),
}
"""What happened, and what to do, by reason."""


@dataclass(frozen=True)
class Stall:
    """A stall after which the control has returned: its duration and the permitted one, s."""

    reason: Reason
    duration: float
    timeout: float

    def __str__(self) -> str:
        cause, advice = CAUSES[self.reason]
        return (
            f'{cause} for {self.duration:.2f} s (limit {self.timeout:g} s): held gravity, '
            f'cancelled the motion, resumed control. If this repeats, {advice}'
        )


class Stalls:
    """
    Decides whether the control returns after a stall.

    It returns once joint states have been fresh for :data:`SETTLING_TIME`, if they are fresh again
    within ``hold_duration``. A further stall before that begins another ``hold_duration``, and
    counts as a return. A position jump, a stop and any other fault forbid a return.

    :ivar newest: the newest stall after which the control returned, None before the first;
        replaced, never changed, because other threads read it
    :ivar counts: number of returns by reason; replaced, never changed
    """

    def __init__(self, settings: ResolvedSettings) -> None:
        self._settings = settings
        self._returns: deque[float] = deque(maxlen=MAX_RETURNS)
        self._reason: Reason | None = None
        self._duration = self._timeout = self._stalled_since = self._held_since = 0.0
        self._fresh_since = math.inf
        self.newest: Stall | None = None
        self.counts: Counter[Reason] = Counter()

    @property
    def may_return(self) -> bool:
        """Whether the control may still return."""
        return self._reason is not None

    def begin(self, reason: Reason, now: float, duration: float, timeout: float) -> None:
        """Begin a stall, with its duration so far and the permitted one, s."""
        self.forbid_return()
        settings = self._settings
        longest_block = settings.joint_states_timeout + settings.hold_duration
        too_long = reason is Reason.TICK_BLOCKED and duration > longest_block
        if not (too_long or self._too_many_returns(now)):
            self._reason, self._duration, self._timeout = reason, duration, timeout
            self._stalled_since, self._held_since = now - duration, now

    def forbid_return(self) -> None:
        """Forbid a return until the next stall."""
        self._reason, self._fresh_since = None, math.inf

    def check_return(self, now: float, *, fresh: bool, jumped: bool) -> bool:
        """
        Judge the stall, once a tick; return whether the control returns now.

        :param fresh: whether joint states are not stale, and the last tick was not blocked
        :param jumped: whether several positions in a row were rejected as jumps
        """
        if not fresh and self._fresh_since < math.inf:
            self._held_since = now
            if self._too_many_returns(now):
                self.forbid_return()
            self._returns.append(now)
        self._held_since = min(self._held_since, now)
        held = now - self._held_since >= self._settings.hold_duration
        if jumped or (held and not fresh):
            self.forbid_return()
        if self._reason is None or not fresh:
            self._fresh_since = math.inf
            return False
        self._fresh_since = min(self._fresh_since, now)
        if now - self._fresh_since < SETTLING_TIME:
            return False
        blocked = self._reason is Reason.TICK_BLOCKED
        duration = self._duration if blocked else self._fresh_since - self._stalled_since
        self.newest = Stall(self._reason, duration, self._timeout)
        self.counts = self.counts + Counter((self._reason,))
        self._returns.append(now)
        self.forbid_return()
        return True

    def _too_many_returns(self, now: float) -> bool:
        """Return whether a stall now is one too many; simulated time can be set back."""
        full = len(self._returns) == MAX_RETURNS
        return full and 0.0 <= now - self._returns[0] < RETURN_WINDOW


# Time after a blocked tick until messages are current, s: a process that was suspended first reads
# old messages, then those of the pause.
BACKLOG_TIME = 0.02
MAX_WAIT = 0.1  # longest wait for a joint state after a blocked tick, s


class ActingEffort:
    """
    Finds the effort from which commands start.

    :ivar known: False while waiting after a blocked tick
    :ivar watchdog_effort: returns what a watchdog commands, shape (m,), N m or N; None for nothing
    """

    def __init__(self, states: JointStateMonitor) -> None:
        self._states = states
        self._unknown_since = 0.0
        self.known = True
        self.watchdog_effort: Callable[[], Array | None] = lambda: None

    def measured(self, settings: ResolvedSettings) -> Array | None:
        """
        Return the commanded joints' measured effort, shape (m,); None if it must not be used.

        With ``hardware_compensates`` it includes the robot's own compensation.
        """
        effort = self._states.effort[settings.joint_indices]
        used = settings.start_from_measured_effort and not settings.hardware_compensates
        return effort if used and np.isfinite(effort).all() else None

    def after_block(
        self, now: float, settings: ResolvedSettings, *, blocked: bool
    ) -> Array | None:
        """
        Return the effort once messages are current: measured since the block, or the watchdog's.

        :param blocked: whether this tick was blocked: a watchdog may have commanded meanwhile
        :return: shape (m,), N m or N; None while waiting or if the effort is known already, or to
            start from the node's last command
        """
        if blocked:
            self.known, self._unknown_since = False, now
        if self.known:
            return None
        self._unknown_since = min(self._unknown_since, now)  # simulated time can be set back
        waited = now - self._unknown_since
        newer = self._states.age(now, settings.joint_indices) < waited
        self.known = waited >= (BACKLOG_TIME if newer else MAX_WAIT)
        if not self.known:
            return None
        effort = self.measured(settings) if newer else None
        return self.watchdog_effort() if effort is None else effort


class Ending:
    """
    Commands after a fault or a stop: to the holding effort at the rate limit, then to zero.

    If the start ramp had not ended, it commands the share of the holding effort that was reached.

    :ivar holding: newest finite effort that holds the robot at its measured position, shape (m,),
        N m or N; zero before the first one; replaced, never changed
    :ivar overloads: whether an effort limit is below the holding effort
    :ivar target: effort towards which the last command moved, shape (m,), N m or N
    """

    def __init__(
        self, machine: StateMachine, limiter: EffortLimiter, settings: ResolvedSettings
    ) -> None:
        self._machine = machine
        self._limiter = limiter
        self._limits = settings.effort_limits
        self.holding = np.zeros(len(settings.joints))
        self.overloads = False
        self.target = limiter.command

    @property
    def overloaded(self) -> tuple[bool, ...]:
        """Joints whose effort limit is below the holding effort, (m,)."""
        if not self.overloads:
            return (False,) * self.holding.size
        return tuple((np.abs(self.holding) > self._limits).tolist())

    def set_holding(self, effort: Array) -> None:
        """Set the holding effort to a new array, if it is finite."""
        efforts = effort.tolist()
        if math.isfinite(sum(efforts)):
            self.holding = effort
            self.overloads = any(map(gt, map(abs, efforts), self._limits))

    def set_holding_or_zero(self, effort: Callable[[], Array]) -> None:
        """Set the holding effort that a function returns; zero if it fails."""
        self.holding = np.zeros_like(self.holding)
        with suppress(Exception):
            self.set_holding(effort())

    def command(
        self, now: float, dt: float, settings: ResolvedSettings
    ) -> tuple[Array, Event | None]:
        """Return the next command, shape (m,), overwritten by the next call; and its event."""
        state, elapsed = self._machine.state, self._machine.elapsed(now)
        share = 1.0
        if state is not State.HOLDING and settings.stale_action is not StaleAction.HOLD:
            self._limiter.end_blend()
            duration = max(settings.ramp_duration, settings.period)
            left = 1.0 - elapsed / duration if state is State.RAMPING_DOWN else 0.0
            share = max(left, 0.0)
        self.target = share * self._limiter.ramped(self.holding)
        command = self._limiter.limit(self.target, now, dt)
        if state is State.HOLDING:
            settled = self._limiter.settled(self.target, dt)
            return command, self._event_while_holding(elapsed, settings, settled=settled)
        at_zero = share == 0.0 and not command.any()
        return command, Event.RAMPED_DOWN if at_zero else None

    def _event_while_holding(
        self, elapsed: float, settings: ResolvedSettings, *, settled: bool
    ) -> Event | None:
        """Return the event once the holding effort is reached, or time enough has passed."""
        stop, hold = self._machine.stop_requested, settings.stale_action is StaleAction.HOLD
        end = 0.0 if stop else settings.hold_duration
        end += 0.0 if settled else settings.greatest_swing
        if (hold and not stop) or elapsed < end:
            return None
        return Event.HELD_AT_STOP if hold else Event.HELD


class Snapshot(NamedTuple):
    """
    The control after a tick: immutable, for any thread.

    :param reason: why the control was interrupted or ended; None if it was not, or has returned
    :param error: the first error that ended the control, or None
    :param flags: raised flags: the control goes on, but something is wrong
    :param flag_counts: number of times that each of the control's own flags was raised
    :param contact: the newest contact, None before the first
    :param stall: the newest stall after which the control has returned, None before the first
    :param returns: number of returns after stalls, by reason
    :param saturated: commands that the effort limits cut, (m,)
    :param overloaded: joints whose effort limit is below the effort that holds the robot, (m,)
    """

    state: State
    reason: Reason | None
    stop_requested: bool
    error: BaseException | None
    flags: frozenset[Reason]
    flag_counts: Counter[Reason]
    contact: Contact | None
    stall: Stall | None
    returns: Counter[Reason]
    saturated: tuple[bool, ...]
    overloaded: tuple[bool, ...]
