# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The state machine of the control: its states, and the events that lead from one to another.

The reason is that of the first fault or stop. After a stall the control may return from
``holding``; after any other fault, only a new activation starts it again.
"""

from __future__ import annotations

from collections.abc import Mapping
import enum

from .reasons import Reason


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

    :ivar state: the state
    :ivar reason: why the control ended; None if it has not ended, or has returned
    :ivar since: monotonic time of the last change of state, s
    :ivar stop_requested: whether a stop was requested; the control then ends in ``stopped``
    """

    def __init__(self) -> None:
        self.state = State.WAITING
        self.reason: Reason | None = None
        self.since = 0.0
        self.stop_requested = False

    @property
    def controlling(self) -> bool:
        """Whether the control law is commanded."""
        return self.state in CONTROLLING

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
