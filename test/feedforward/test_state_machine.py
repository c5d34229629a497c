# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Every event in every state of the state machine."""

from itertools import product

import pytest

from rnea_ros.feedforward import Reason, State
from rnea_ros.feedforward.state import TRANSITIONS, Event, StateMachine

EXPECTED = {
    State.WAITING: {
        Event.STATES_VALID: State.READY,
        Event.FAILED: State.FAULT,  # nothing was commanded yet: there is nothing to ramp down
        Event.STOP: State.STOPPED,
    },
    State.READY: {
        Event.STATES_STALE: State.WAITING, Event.PERMITTED: State.RAMPING,
        Event.FAILED: State.FAULT, Event.STOP: State.STOPPED,
    },
    State.RAMPING: {
        Event.BLENDED: State.ACTIVE, Event.FAILED: State.HOLDING, Event.STOP: State.HOLDING,
    },
    State.ACTIVE: {
        Event.FLAGGED: State.DEGRADED, Event.WITHHELD: State.RAMPING,
        Event.FAILED: State.HOLDING, Event.STOP: State.HOLDING,
    },
    State.DEGRADED: {
        Event.CLEARED: State.ACTIVE, Event.WITHHELD: State.RAMPING,
        Event.FAILED: State.HOLDING, Event.STOP: State.HOLDING,
    },
    State.HOLDING: {
        Event.RETURNED: State.RAMPING, Event.HELD: State.RAMPING_DOWN,
        Event.HELD_AT_STOP: State.STOPPED,
    },
    State.RAMPING_DOWN: {Event.RAMPED_DOWN: State.FAULT},
    State.FAULT: {Event.STOP: State.STOPPED},
    State.STOPPED: {},
}
"""What docs/control.md says; whatever is not listed changes nothing."""


def in_state(state: State) -> StateMachine:
    state_machine = StateMachine()
    state_machine.state, state_machine.since = state, 1.0
    return state_machine


@pytest.mark.parametrize(('state', 'event'), list(product(State, Event)))
def test_every_event_leads_where_it_is_meant_to_or_nowhere(state: State, event: Event) -> None:
    state_machine = in_state(state)
    before = state_machine.since
    expected = EXPECTED[state].get(event, state)
    state_machine.handle(event, 9.0, Reason.INTERNAL_ERROR)
    assert state_machine.state is expected
    assert state_machine.since == (before if expected is state else 9.0)
    assert TRANSITIONS.get((state, event), state) is expected
    ends = event in (Event.FAILED, Event.STOP)
    assert (state_machine.reason is not None) == ends
