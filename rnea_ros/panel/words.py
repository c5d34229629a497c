# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""State, reason, flags and timing of a node in plain words, as HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
import re

from ..resources import share_path

GOOD, BUSY, BAD, IDLE = '#2b8a3e', '#e67700', '#c92a2a', '#868e96'

STATES = {
    'waiting': (BUSY, 'no valid joint states yet: nothing is commanded'),
    'ready': (BUSY, "the controller's joints are not confirmed: nothing is commanded"),
    'ramping': (BUSY, 'ramps to the control law'),
    'active': (GOOD, 'commands the control law'),
    'degraded': (BUSY, 'commands the control law, with a warning'),
    'holding': (BAD, 'holds gravity at the last valid position'),
    'ramping_down': (BAD, 'ramps to zero'),
    'stopped': (IDLE, 'has ended on request'),
    'fault': (BAD, 'commands zero; to restart, deactivate and activate the node'),
    'inactive': (IDLE, 'commands nothing; its log says why. ros2 lifecycle set {} activate'),
    'absent': (BAD, 'no answer from {}: not started yet, ended, or on another domain'),
}
"""Colour and meaning of each state of the control, and of a node without a control."""

DETAILS = (
    'contact', 'overloaded_joints', 'saturated_joints', 'stale_joints', 'stale_wrenches',
    'joint_states_rejected', 'other_publishers',
)
"""Diagnostics that are shown unless they are empty."""

TIMING = (
    ('joint states {:.1f} ms old', 'joint_states_age', 1e3), ('{:.0f} Hz', 'achieved_rate', 1.0),
    ('tick {:.0f} µs', 'compute_p99_us', 1.0), ('{:.0f} µs late (99 %)', 'lateness_p99_us', 1.0),
    ('{:.0f} late ticks', 'late_ticks', 1.0), ('{:.0f} % of a core', 'cpu_share', 100.0),
)


@cache
def flags_and_reasons() -> Mapping[str, tuple[str, str]]:
    """Return cause and remedy by word, from the tables of the page on troubleshooting."""
    page = share_path('docs/troubleshooting.md').read_text(encoding='utf-8')
    plain = re.sub(r'\[([^]]*)\]\([^)]*\)|`', r'\1', page.partition('## By word')[2])
    rows = re.findall(r'^\| (\w+) \| (.*) \| (.*) \|$', plain, re.MULTILINE)
    return {word: (cause, remedy) for word, cause, remedy in rows}


def status(
    name: str, state: str, diagnostics: Mapping[str, str], notes: Sequence[tuple[bool, str]]
) -> str:
    """
    Return a node's state, reason, flags and timing as HTML.

    :param diagnostics: newest values; empty if the node is not active
    :param notes: what was done or refused, with whether it was done
    """
    colour, meaning = STATES.get(state, (BAD, 'a state of another version of the node'))
    lines = [(colour, f'● {state}', meaning.format(name))]
    for word in f'{diagnostics.get("reason", "")} {diagnostics.get("flags", "")}'.split():
        cause, remedy = flags_and_reasons().get(word, ('see the page on troubleshooting', 'none'))
        lines.append((BAD, word, cause if remedy == 'none' else f'{cause} → {remedy}'))
    lines += [(BUSY, key, diagnostics[key]) for key in DETAILS if diagnostics.get(key)]
    timing = [text.format(max(factor * float(diagnostics[key]), 0.0))
              for text, key, factor in TIMING if key in diagnostics]  # fmt: skip
    lines.append((IDLE, ' · '.join(timing), ''))
    lines += [(GOOD, f'✓ {text}', '') if done else (BAD, f'✗ {text}', '') for done, text in notes]
    return '<div style="font-size:0.85em;padding:0 0.8em">{}</div>'.format(''.join(
        f'<div><span style="color:{colour}">{escape(word)}</span> {escape(text)}</div>'
        for colour, word, text in lines
    ))
