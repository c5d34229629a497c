# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A node's state, reasons, flags and timing in plain words."""

import re

import pytest

from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('viser', reason='viser is not installed')

from rnea_ros.feedforward import Reason, State
from rnea_ros.panel.page import meanings, status

DIAGNOSTICS = {
    'state': 'fault', 'reason': 'joint_states_stale', 'flags': 'contact new_flag',
    'contact': 'elbow <script>', 'joint_states_age': '0.0123', 'achieved_rate': '499.70',
    'compute_p99_us': '84.2', 'lateness_p99_us': '21.0', 'late_ticks': '3', 'cpu_share': '0.24',
}


@pytest.mark.parametrize('word', (*Reason, *State), ids=lambda word: word.value)
def test_every_state_reason_and_flag_has_a_meaning(word: Reason | State) -> None:
    meaning = meanings()[word.value]
    assert meaning
    assert not re.search(r'[`|]|\]\(', meaning)


def test_status_names_state_reason_flags_and_timing() -> None:
    text = status('/feedforward', 'fault', DIAGNOSTICS, [(False, 'mass -1 is refused: <range>')])
    for part in (
        'fault', 'deactivate and activate', 'joint states stopped', '→ driver, network',
        'above its threshold', 'new_flag', 'page on troubleshooting', 'elbow &lt;script&gt;',
        '0.0123 s old', '499.70 Hz', 'tick 84.2', '21.0 µs late', '3 late ticks',
        'mass -1 is refused: &lt;range&gt;',
    ):
        assert part in text


def test_without_a_control_the_remedy_names_the_node() -> None:
    text = status('/left/feedforward', 'inactive', {}, [])
    assert 'ros2 lifecycle set /left/feedforward activate' in text
