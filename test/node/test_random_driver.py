# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The control loop lives through random events in virtual time, and keeps every rule."""

from collections import Counter
from itertools import count

import pytest

from rnea_ros.feedforward import Reason, State
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from support.control.random_driver import run_plan
from support.control.random_plan import WILD, Event, Plan, plan_of_seed
from support.control.random_rules import RULES, RULES_OF_RUNS

FIRST, RUNS, MAX_RUNS = 0, 40, 200

EVERYTHING = {*State, *Reason} - {Reason.SPEED_OUT_OF_RANGE, Reason.OUTPUT_NOT_FINITE}
"""A trajectory controller's speed is no input here; measured values that pass are bounded."""


@pytest.mark.timeout(900)
def test_random_events_break_no_rule_and_every_state_and_reason_is_seen() -> None:
    seen: set[State | Reason] = set()
    judged: Counter[str] = Counter({'commands': 1})
    rules = {*RULES, *RULES_OF_RUNS}
    for seed in count(FIRST):
        assert run_plan(plan_of_seed(seed), judged, seen) == {}, f'seed {seed}'
        complete = seen == EVERYTHING and not rules - set(+judged)
        if (complete and seed >= FIRST + RUNS) or seed > FIRST + MAX_RUNS:
            break
    assert seen == EVERYTHING
    assert not rules - set(+judged)


@pytest.mark.parametrize(('longest_stall', 'timeout'), [(0.02, 0), (0.15, 1), (0.5, 0)])
def test_stalls_between_statements_break_no_rate_limit(longest_stall: float, timeout: int) -> None:
    choices = {
        'robot': 5, 'longest_stall': (0.02, 0.15, 0.5).index(longest_stall) + 4, 'mode': 1,
        'joint_states_timeout': timeout, 'effort_rate_limit': 2, 'measures_effort': timeout,
    }
    events = tuple(Event(WILD[1 + k % 2], 40, k, k % 7) for k in range(12))
    assert run_plan(Plan(7, choices, events)) == {}
