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
    'inactive': (IDLE, 'commands nothing; ros2 lifecycle set {} activate'),
    'unconfigured': (IDLE, 'has not started; its log says what it waits for'),
    'finalized': (IDLE, 'was shut down: start the node again'),
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
    ('tick {:.0f} &micro;s', 'compute_p99_us', 1.0),
    ('late by {:.0f} &micro;s (99 %)', 'lateness_p99_us', 1.0),
    ('{:.0f} late ticks', 'late_ticks', 1.0), ('{:.0f} % of a core', 'cpu_share', 100.0),
)


@cache
def flags_and_reasons() -> Mapping[str, tuple[str, str]]:
    """Return cause and remedy by word, from the tables of the page on troubleshooting."""
    page = share_path('docs/troubleshooting.md').read_text(encoding='utf-8')
    plain = re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', page.partition('## By word')[2])
    rows = re.findall(r'^\| `(\w+)` \| (.*) \| (.*) \|$', plain, re.MULTILINE)
    return {
        word: (cause.replace('`', ''), remedy.replace('`', '')) for word, cause, remedy in rows
    }


def status(
    name: str, state: str, diagnostics: Mapping[str, str], notes: Sequence[tuple[bool, str]]
) -> str:
    """
    Return a node's state, reason, flags and timing as HTML.

    :param state: of the control, or of the node if it is not active
    :param diagnostics: newest values; empty if the node is not active
    :param notes: what was done or refused, with whether it was done
    """
    colour, meaning = STATES.get(state, (BAD, 'a state of another version of the node'))
    lines = [f'{_coloured(colour, f"<b>&#9679; {escape(state)}</b>")} '
             f'{escape(meaning.format(name))}']  # fmt: skip
    for word in f'{diagnostics.get("reason", "")} {diagnostics.get("flags", "")}'.split():
        cause, remedy = flags_and_reasons().get(word, ('see the page on troubleshooting', 'none'))
        more = '' if remedy == 'none' else f' &rarr; <i>{escape(remedy)}</i>'
        lines.append(f'{_coloured(BAD, f"<b>{escape(word)}</b>")}: {escape(cause)}{more}')
    lines += [f'{key}: {escape(diagnostics[key])}' for key in DETAILS if diagnostics.get(key)]
    timing = [text.format(factor * float(diagnostics[key]))
              for text, key, factor in TIMING if key in diagnostics]  # fmt: skip
    lines += [_coloured(IDLE, ' &middot; '.join(timing))] if timing else []
    lines += [_coloured(GOOD, f'&#10003; {escape(text)}') if done
              else _coloured(BAD, f'&#10007; {escape(text)}') for done, text in notes]  # fmt: skip
    return f'<div style="font-size:0.85em;padding:0 0.8em">{"<br>".join(lines)}</div>'


def _coloured(colour: str, html: str) -> str:
    return f'<span style="color:{colour}">{html}</span>'
