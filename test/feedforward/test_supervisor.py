# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The state machine, walked exhaustively: what leads where, and what does not."""

from __future__ import annotations

from itertools import product

import pytest

from rnea_ros.feedforward import Reason, State
from rnea_ros.feedforward.state_machine import TRANSITIONS, Event, Supervisor

ALL_PAIRS = list(product(State, Event))

EXPECTED = {
    State.WAITING: {
        Event.STATE_COMPLETE: State.READY,
        Event.FAILED: State.FAULT,  # nothing was commanded yet: there is nothing to ramp down
        Event.STOP: State.STOPPED,
    },
    State.READY: {
        Event.STATE_LOST: State.WAITING,
        Event.PERMITTED: State.RAMPING,
        Event.FAILED: State.FAULT,
        Event.STOP: State.STOPPED,
    },
    State.RAMPING: {
        Event.BLENDED: State.ACTIVE,
        Event.FAILED: State.HOLDING,
        Event.STOP: State.HOLDING,
    },
    State.ACTIVE: {
        Event.FLAGGED: State.DEGRADED,
        Event.FAILED: State.HOLDING,
        Event.STOP: State.HOLDING,
    },
    State.DEGRADED: {
        Event.CLEARED: State.ACTIVE,
        Event.FAILED: State.HOLDING,
        Event.STOP: State.HOLDING,
    },
    State.HOLDING: {Event.HELD: State.RAMPING_DOWN, Event.RELEASED: State.STOPPED},
    State.RAMPING_DOWN: {Event.RAMPED_DOWN: State.FAULT},
    State.FAULT: {Event.STOP: State.STOPPED},
    State.STOPPED: {},
}
"""What docs/control.md says; whatever is not listed changes nothing."""

RUNNING = (State.RAMPING, State.ACTIVE, State.DEGRADED)
WINDING_DOWN = (State.HOLDING, State.RAMPING_DOWN)


def shortest_ways() -> dict[State, tuple[Event, ...]]:
    """Return how each state is reached from the start, as the supervisor itself walks."""
    ways: dict[State, tuple[Event, ...]] = {State.WAITING: ()}
    frontier = [State.WAITING]
    while frontier:
        here = frontier.pop(0)
        for event in Event:
            there = walked(*ways[here], event).state
            if there not in ways:
                ways[there] = (*ways[here], event)
                frontier.append(there)
    return ways


def walked(*events: Event) -> Supervisor:
    supervisor = Supervisor()
    for event in events:
        supervisor.handle(event, 1.0)
    return supervisor


def in_state(state: State) -> Supervisor:
    """Return a supervisor that was led to a state, without a stop where there is such a way."""
    return walked(*shortest_ways()[state])


def test_every_state_can_be_reached() -> None:
    assert set(shortest_ways()) == set(State)


@pytest.mark.parametrize(('state', 'event'), ALL_PAIRS)
def test_every_event_in_every_state_leads_where_it_is_meant_to_or_nowhere(
    state: State, event: Event
) -> None:
    supervisor = in_state(state)
    before = supervisor.since
    expected = EXPECTED[state].get(event, state)
    changed = supervisor.handle(event, 9.0)
    assert supervisor.state is expected
    assert changed == (expected is not state)
    assert supervisor.since == (9.0 if changed else before)
    assert TRANSITIONS.get((state, event), state) is expected


@pytest.mark.parametrize('event', Event)
def test_only_a_stop_leads_out_of_a_fault(event: Event) -> None:
    supervisor = in_state(State.FAULT)
    supervisor.handle(event, 2.0)
    assert supervisor.state is (State.STOPPED if event is Event.STOP else State.FAULT)


@pytest.mark.parametrize('event', Event)
def test_nothing_leads_out_of_stopped(event: Event) -> None:
    supervisor = in_state(State.STOPPED)
    assert not supervisor.handle(event, 2.0)
    assert supervisor.state is State.STOPPED


def test_once_the_control_winds_down_nothing_leads_back_to_it() -> None:
    for state in (*WINDING_DOWN, State.FAULT, State.STOPPED):
        reached, frontier = {state}, [state]
        while frontier:
            here = frontier.pop()
            for (origin, _), target in TRANSITIONS.items():
                if origin is here and target not in reached:
                    reached.add(target)
                    frontier.append(target)
        assert reached.isdisjoint((State.WAITING, State.READY, *RUNNING))


@pytest.mark.parametrize('state', RUNNING)
@pytest.mark.parametrize('event', [Event.FAILED, Event.STOP])
def test_with_torque_on_a_failure_or_a_stop_goes_through_holding(
    state: State, event: Event
) -> None:
    supervisor = in_state(state)
    supervisor.handle(event, 2.0)
    assert supervisor.state is State.HOLDING


@pytest.mark.parametrize('state', State)
def test_a_stop_ends_in_stopped_and_never_in_fault(state: State) -> None:
    supervisor = in_state(state)
    supervisor.handle(Event.STOP, 2.0)
    assert supervisor.stop_requested
    for event in (Event.FAILED, Event.HELD, Event.FAILED, Event.RAMPED_DOWN):
        supervisor.handle(event, 3.0)
        assert supervisor.state is not State.FAULT
    assert supervisor.state is State.STOPPED


def test_a_stop_while_a_fault_winds_down_ends_in_stopped_with_the_fault_as_reason() -> None:
    supervisor = in_state(State.ACTIVE)
    supervisor.handle(Event.FAILED, 2.0, Reason.JOINT_STATES_STALE)
    supervisor.handle(Event.STOP, 2.5, Reason.STOP_REQUESTED)
    assert (supervisor.state, supervisor.since) == (State.HOLDING, 2.0)
    supervisor.handle(Event.HELD, 3.0)
    supervisor.handle(Event.RAMPED_DOWN, 4.0)
    assert supervisor.state is State.STOPPED
    assert supervisor.reason is Reason.JOINT_STATES_STALE


def test_the_first_reason_is_kept_to_the_end() -> None:
    supervisor = in_state(State.ACTIVE)
    assert supervisor.reason is None
    supervisor.handle(Event.FAILED, 2.0, Reason.JOINT_STATES_STALE)
    supervisor.handle(Event.FAILED, 2.1, Reason.INTERNAL_ERROR)
    supervisor.handle(Event.HELD, 3.0)
    supervisor.handle(Event.FAILED, 3.1, Reason.CLOCK_RESET)
    supervisor.handle(Event.RAMPED_DOWN, 4.0)
    supervisor.handle(Event.STOP, 5.0, Reason.STOP_REQUESTED)
    assert supervisor.reason is Reason.JOINT_STATES_STALE


def test_a_stop_gives_its_reason_where_nothing_failed() -> None:
    supervisor = in_state(State.ACTIVE)
    supervisor.handle(Event.STOP, 2.0, Reason.STOP_REQUESTED)
    assert supervisor.reason is Reason.STOP_REQUESTED


def test_what_goes_well_gives_no_reason() -> None:
    for event in set(Event) - {Event.FAILED, Event.STOP}:
        supervisor = Supervisor()
        supervisor.handle(event, 1.0, Reason.INTERNAL_ERROR)
        assert supervisor.reason is None
