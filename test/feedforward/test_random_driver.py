# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A control that lives through random events keeps every rule at every tick."""

from hypothesis import given, settings

from support.control.random_driver import run_plan
from support.control.random_plan import PLANS, Plan


@settings(max_examples=40)
@given(plan=PLANS)
def test_random_events_break_no_rule(plan: Plan) -> None:
    assert run_plan(plan) == {}
