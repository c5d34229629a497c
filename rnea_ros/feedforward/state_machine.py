# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The state machine of the control: which states there are, and what leads from one to another.

A state and the reason for it are always known. What ended the control once (stale joint states, an
error) ends in ``fault``, and only a new activation leads out of it.
"""

from __future__ import annotations

from collections.abc import Mapping
import enum

from .reasons import Reason


class State(enum.Enum):
    """Where the control stands."""

    WAITING = 'waiting'            # for a first valid state of every joint; nothing is commanded
    READY = 'ready'                # states are known; nothing may be commanded yet
    RAMPING = 'ramping'            # from the effort found at the start to the wanted effort
    ACTIVE = 'active'
    DEGRADED = 'degraded'          # as active, while something is flagged
    HOLDING = 'holding'            # gravity at the last valid position, reached at the rate limit
    RAMPING_DOWN = 'ramping_down'  # from there to zero
    STOPPED = 'stopped'            # as requested
    FAULT = 'fault'                # zero effort (or held gravity) until activated anew


class Event(enum.Enum):
    """What can happen to it."""

    STATE_COMPLETE = 'state_complete'
    STATE_LOST = 'state_lost'
    PERMITTED = 'permitted'
    BLENDED = 'blended'
    FLAGGED = 'flagged'
    CLEARED = 'cleared'
    FAILED = 'failed'
    STOP = 'stop'
    HELD = 'held'
    RELEASED = 'released'
    RAMPED_DOWN = 'ramped_down'


TRANSITIONS: Mapping[tuple[State, Event], State] = {
    (State.WAITING, Event.STATE_COMPLETE): State.READY,
    (State.WAITING, Event.FAILED): State.FAULT,
    (State.WAITING, Event.STOP): State.STOPPED,
    (State.READY, Event.STATE_LOST): State.WAITING,
    (State.READY, Event.PERMITTED): State.RAMPING,
    (State.READY, Event.FAILED): State.FAULT,
    (State.READY, Event.STOP): State.STOPPED,
    (State.RAMPING, Event.BLENDED): State.ACTIVE,
    (State.RAMPING, Event.FAILED): State.HOLDING,
    (State.RAMPING, Event.STOP): State.HOLDING,
    (State.ACTIVE, Event.FAILED): State.HOLDING,
    (State.ACTIVE, Event.STOP): State.HOLDING,
    (State.ACTIVE, Event.FLAGGED): State.DEGRADED,
    (State.DEGRADED, Event.CLEARED): State.ACTIVE,
    (State.DEGRADED, Event.FAILED): State.HOLDING,
    (State.DEGRADED, Event.STOP): State.HOLDING,
    (State.HOLDING, Event.HELD): State.RAMPING_DOWN,
    (State.HOLDING, Event.RELEASED): State.STOPPED,
    (State.RAMPING_DOWN, Event.RAMPED_DOWN): State.FAULT,
    (State.FAULT, Event.STOP): State.STOPPED,
}
"""Every pair that is not listed leaves the state as it is."""


CONTROLLING = (State.RAMPING, State.ACTIVE, State.DEGRADED)
"""In which the control law is commanded."""


class StateMachine:
    """Walks through :data:`TRANSITIONS` and remembers why."""

    def __init__(self) -> None:
        self.state = State.WAITING
        self.reason: Reason | None = None
        self.since = 0.0
        self.stop_requested = False

    @property
    def controlling(self) -> bool:
        """Whether the control law is commanded."""
        return self.state in CONTROLLING

    def handle(self, event: Event, now: float, reason: Reason | None = None) -> bool:
        """
        Take an event.

        :param event: what happened
        :param now: monotonic time, s
        :param reason: why it failed or is to stop; the first one is kept until the end
        :return: whether the state changed
        """
        self.stop_requested |= event is Event.STOP
        state = TRANSITIONS.get((self.state, event), self.state)
        if state is State.FAULT and self.stop_requested:
            state = State.STOPPED
        if event in (Event.FAILED, Event.STOP):
            self.reason = self.reason or reason
        changed = state is not self.state
        if changed:
            self.state, self.since = state, now
        return changed
