# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A node's state, reasons, flags and timing in plain words."""

import re
from types import SimpleNamespace
from typing import Any

import pytest

from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('viser', reason='viser is not installed')

from rnea_ros.feedforward import Reason, State
from rnea_ros.panel.page import meanings, status

DIAGNOSTICS = {
    'state': 'fault', 'reason': 'joint_states_stale', 'flags': 'contact new_flag',
    'contact': 'elbow <script>', 'joint_states_age': '0.0123', 'compute_p99_us': '84.2',
    'late_ticks': '3',
}


def shown(state: str, diagnostics: dict[str, str], *notes: tuple[bool, str]) -> str:
    node: Any = SimpleNamespace(
        full_name='/left/feedforward', state=state, diagnostics=diagnostics, notes=notes)
    return status(node, 'lost.stl is not found')


@pytest.mark.parametrize('word', [*Reason, *State], ids=lambda word: word.value)
def test_every_state_reason_and_flag_has_a_meaning(word: Reason | State) -> None:
    meaning = meanings()[word.value]
    assert meaning
    assert not re.search(r'[`|]|\]\(', meaning)


def test_status_names_state_reason_flags_and_timing() -> None:
    text = shown('fault', DIAGNOSTICS, (False, 'mass -1: <range>'))
    for part in (
        'fault', 'command: zero; to restart', 'joint states stopped', '→ driver, network',
        'above its threshold', 'new_flag', 'page on troubleshooting', 'elbow &lt;script&gt;',
        '0.0123 s old', 'tick 84.2', '3 ticks late', 'mass -1: &lt;range&gt;', 'lost.stl',
    ):
        assert part in text
    assert 'tick' in shown('active', {'state': 'active'})  # of another version of the node


def test_without_a_control_the_remedy_names_the_node() -> None:
    assert 'ros2 lifecycle set /left/feedforward activate' in shown('inactive', {})
