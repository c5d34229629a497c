# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The control loop lives through random events in virtual time, and keeps every rule."""

from collections import Counter

import pytest

from rnea_ros.feedforward import Reason, State
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from support.control.random_driver import run_plan
from support.control.random_plan import WILD, Event, Plan, plan_of_seed
from support.control.random_rules import RULES, RULES_OF_RUNS

RUNS = 12
EVERYTHING = {*State, *Reason} - {Reason.SPEED_OUT_OF_RANGE, Reason.OUTPUT_NOT_FINITE}
"""A trajectory controller's speed is no input here; measured values that pass are bounded."""

SENSORS = {'robot': 1, 'sensors': 1, 'base_sensor': 1, 'additional_effort': 1, 'mode': 1}
BAD_MESSAGES: tuple[tuple[str, int, int], ...] = (
    ('bad_joint_states', 1, 0), ('bad_wrenches', 1, 0), ('bad_wrenches', 1, 1),
    ('bad_imus', 1, 0), ('bad_efforts', 1, 0), ('silent', 0, 0),
    ('flags', 0, 0), ('clock_step', 0, 0), ('wild_effort', 1, 0), ('other_silent', 2, 0),
    ('add', 1, 0),
)
GOALS = (
    ('trajectory', 0, 1), ('trajectory', 3, 1), ('cancel', 0, 0), ('trajectory', 1, 1),
    ('trajectory', 3, 1), ('mode', 1, 0), ('mode', 0, 1), ('trajectory', 2, 1), ('flags', 0, 0),
    ('flags', 0, 0), ('stream', 1, 0), ('push', 1, 0),
)
TOUR: tuple[tuple[dict[str, int], tuple[tuple[str, int, int], ...]], ...] = (
    (SENSORS | {'permitted_after': 2}, BAD_MESSAGES),
    ({'robot': 1, 'mode': 1, 'arm_friction': 1, 'measures_effort': 1, 'contact': 3}, GOALS),
    ({'robot': 1, 'mode': 1}, (('trajectory', 3, 1), ('lost', 2, 0), ('blocked', 2, 0))),
    ({'robot': 1, 'mode': 1}, (('trajectory', 3, 1), ('frozen', 2, 0))),
    ({'effort_limits': 7}, (('fault', 1, 0),)), ({'first': 5}, (('fault', 0, 0),)),
    (SENSORS, (('tare', 1, 0),)), ({}, (('nonsense', 0, 0),)),
    ({'ramp_duration': 1, 'hold_duration': 1}, (('jump', 1, 0), ('false_publisher', 0, 0))),
    ({'hold_duration': 1}, (('lost', 2, 0),)), ({'hold_duration': 1}, (('blocked', 2, 0),)),
    ({'mode': 1}, (('trajectory', 3, 1), ('withhold', 2, 0))), ({}, (('too_fast', 0, 0),)),
    ({'robot': 1, 'mode': 1}, (('policy', 0, 0), ('trajectory', 3, 1), ('policy', 2, 1))),
)
"""Runs on which every state and reason is met: options, and kind, size and joint of events."""


@pytest.mark.timeout(900)
def test_random_events_break_no_rule_and_every_state_and_reason_is_seen() -> None:
    seen: set[State | Reason] = set()
    judged: Counter[str] = Counter({'commands': 1})
    tour = [
        Plan(0, choices, tuple(Event(kind, 120, size, joint) for kind, size, joint in events))
        for choices, events in TOUR
    ]
    for plan in [*tour, *map(plan_of_seed, range(RUNS))]:
        assert run_plan(plan, judged, seen) == {}, plan
    assert EVERYTHING - seen == set()
    assert {*RULES, *RULES_OF_RUNS} - set(+judged) == set()


@pytest.mark.parametrize(('longest_stall', 'timeout'), [(0.02, 0), (0.15, 1), (0.5, 0)])
def test_stalls_between_statements_break_no_rate_limit(longest_stall: float, timeout: int) -> None:
    choices = {
        'robot': 5, 'longest_stall': (0.02, 0.15, 0.5).index(longest_stall) + 4, 'mode': 1,
        'joint_states_timeout': timeout, 'effort_rate_limit': 2, 'measures_effort': timeout,
    }
    events = tuple(Event(WILD[1 + k % 2], 40, k, k % 7) for k in range(6))
    assert run_plan(Plan(7, choices, events)) == {}
