# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A node's state, reasons, flags and timing in plain words."""

import re

import pytest

from rnea_ros.feedforward import Reason, State
from rnea_ros.panel.words import STATES, flags_and_reasons, status

DIAGNOSTICS = {
    'state': 'fault', 'reason': 'joint_states_stale', 'flags': 'contact new_flag',
    'contact': 'elbow <script>', 'joint_states_age': '0.0123', 'achieved_rate': '499.7',
    'compute_p99_us': '84.2', 'lateness_p99_us': '21.0', 'late_ticks': '3', 'cpu_share': '0.24',
}


@pytest.mark.parametrize('reason', Reason, ids=lambda reason: reason.value)
def test_every_reason_has_a_cause_and_a_remedy(reason: Reason) -> None:
    cause, remedy = flags_and_reasons()[reason.value]
    assert cause
    assert remedy
    assert not re.search(r'[`|]|\]\(', cause + remedy)


def test_every_state_has_a_meaning() -> None:
    assert {state.value for state in State} <= STATES.keys()


def test_status_names_state_reason_flags_and_timing() -> None:
    text = status('/feedforward', 'fault', DIAGNOSTICS, [(False, 'mass -1 is refused: <range>')])
    for part in (
        'fault', 'deactivate and activate', 'joint states stopped', 'driver, network',
        'above its threshold', 'new_flag', 'page on troubleshooting', 'elbow &lt;script&gt;',
        '12.3 ms old', '500 Hz', 'tick 84', '21 µs late', '3 late ticks', '24 % of a core',
        'mass -1 is refused: &lt;range&gt;',
    ):
        assert part in text


def test_without_a_control_the_remedy_names_the_node() -> None:
    text = status('/left/feedforward', 'inactive', {}, [])
    assert 'ros2 lifecycle set /left/feedforward activate' in text
