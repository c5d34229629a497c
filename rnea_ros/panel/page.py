# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The page of a node: its state, buttons, plot and inputs, and its robot in the scene."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
import math
import re
from typing import Any

import numpy as np
from viser import ViserServer

from ..feedforward.laws import Terms
from ..modes import MODES
from ..resources import share_path
from .node import WatchedNode
from .viewer import Arrow, Scene

ALL = 'all joints'
BUTTONS = (  # service of the node, label, colour
    ('stop', 'stop: rest pose if set, then ramp to zero', 'red'),
    ('rest', 'move to the rest pose', None),
    ('tare', 'tare the force sensors', None),
)
NUMBER = {'initial_value': 0.0, 'step': 0.1}
INPUTS = (  # parameter of the node, kind of the input, options
    ('mode', 'dropdown', {'options': MODES}),
    ('friction.model', 'dropdown', {'options': ('none', 'urdf', 'parameters')}),
    ('gravity_factor', 'slider', {'min': 0.0, 'max': 2.0, 'step': 0.01, 'initial_value': 1.0}),
    ('damping', 'number', NUMBER),
    ('gains.kp', 'number', NUMBER),
    ('gains.kd', 'number', NUMBER),
    ('payload.link', 'dropdown', {'options': ('',)}),
    ('payload.mass', 'number', {**NUMBER, 'hint': 'kg'}),
    ('payload.com', 'vector3', {'initial_value': (0.0, 0.0, 0.0), 'step': 0.01, 'hint': 'm'}),
)
TERMS = ('sum', *Terms.__dataclass_fields__, 'limited')
PERIOD, INTERVAL, WINDOW = 0.05, 0.25, 15.0  # of updates and of the plot; its length, s
EXTERNAL, WEIGHT = (224, 49, 49), (95, 61, 196)  # colours of the arrows
GREEN, ORANGE, RED, GREY = '#2b8a3e', '#e67700', '#c92a2a', '#868e96'
STATES = {  # without a control; the others: meanings()
    'inactive': 'commands nothing, see its log. ros2 lifecycle set {} activate',
    'absent': 'no answer from {}: not started yet, ended, or on another domain',
}
TIMING = 'joint states {joint_states_age} s old, tick {compute_p99_us} µs, {late_ticks} ticks late'
DETAILS = ('contact', 'overloaded_joints', 'saturated_joints', 'stale_joints', 'stale_wrenches',
           'joint_states_rejected', 'other_publishers')  # of flags; shown unless empty


class Page:
    """The page of a node; call :meth:`update` every :data:`PERIOD`."""

    def __init__(self, server: ViserServer, node: WatchedNode, scene: Scene) -> None:
        self._server, self._node, self._scene = server, node, scene
        self._positions: dict[str, float] = {}
        self._history: deque[Any] = deque(maxlen=round(WINDOW / PERIOD))  # times and values
        self._plot_at, gui = -math.inf, server.gui
        self._status = gui.add_html('')
        self._buttons = {key: gui.add_button(label, color=colour, disabled=node.read_only)
                         for key, label, colour in BUTTONS}  # fmt: skip
        self._joint = gui.add_dropdown('joint', (ALL,), hint='of the plot and the inputs below it')
        self._plot = gui.add_uplot(
            (np.array((-WINDOW, 0.0)), np.zeros(2)), ({}, {}), height=220,
            scales={'x': {'time': False, 'range': (-WINDOW, 0.0)}}, axes=({}, {'size': 45}))
        self._force = gui.add_checkbox('external force', False, hint='computed while it is shown')
        self._inputs = {name: getattr(gui, f'add_{kind}')(name, **options)
                        for name, kind, options in INPUTS}  # fmt: skip
        for handle in self._inputs.values():
            handle.precision = 6  # decimals; else as the step
        self._apply = gui.add_button('apply what was entered', disabled=node.read_only)
        self._shown: tuple[Any, ...] = ()  # by the inputs: joint, links, values

    def update(self) -> None:
        """Take the newest messages, send requests of users, and update the page."""
        with self._server.atomic():
            self._node.poll()
            if not self._node.read_only:
                self._act()
            if self._server.get_clients():
                self._show()
            else:  # no browser: neither compute nor receive
                self._node.watch(())

    def _act(self) -> None:
        """Send what users requested."""
        for key, button in self._buttons.items():
            if button.value:
                button.value = False
                self._node.trigger(key)
        if self._apply.value:
            self._apply.value, self._shown = False, self._shown[:1]
            entered = {name: handle.value for name, handle in self._inputs.items()
                       if self._value(name) not in (None, handle.value)}  # fmt: skip
            if entered:
                self._node.change({name: self._changed(name, x) for name, x in entered.items()})

    def _show(self) -> None:
        """Show the newest state of the node and its robot."""
        node, scene, joint = self._node, self._scene, self._joint.value
        terms = [f'terms/{term}' for term in (TERMS if joint != ALL else TERMS[:1])]
        force = ['external_wrench'] if self._force.value else []
        node.watch(('joint_states', 'reference', *force, *terms))
        measured, reference = ({} if x is None else dict(zip(x.name, x.position, strict=False))
                               for x in map(node.newest, ('joint_states', 'reference')))
        self._positions |= measured  # a message may have some joints only
        scene.update(node.urdf, self._positions, reference)
        scene.show_arrows(self._arrows())
        if self._joint.options != (ALL, *node.joints):
            self._joint.options = (ALL, *node.joints)
        self._draw(*self._efforts(joint))
        self._show_values()
        self._status.content = status(node, scene.problem)

    def _show_values(self) -> None:
        """Set the inputs if the joint or the node's values change; a user may be typing."""
        links = ('', *self._scene.model.link_names) if self._scene.model else ('',)
        joint, values = self._joint.value, {name: self._value(name) for name in self._inputs}
        waits = 'set' in self._node.pending and joint in self._shown
        if (joint, links, values) != self._shown and not waits:
            self._shown, self._inputs['payload.link'].options = (joint, links, values), links
            for name, handle in self._inputs.items():
                handle.disabled = values[name] is None or self._node.read_only
                handle.value = handle.value if values[name] is None else values[name]

    def _value(self, name: str) -> Any:
        """Return the value for a parameter's input; None without one value."""
        values, joints, joint = self._node.values.get(name), self._node.joints, self._joint.value
        if values is None or isinstance(values, str):
            return values
        if name == 'payload.com':
            return tuple(values) if len(values) == 3 else None
        if joint in joints and not name.startswith('payload.'):
            values = [np.resize(values, len(joints))[joints.index(joint)]]
        return values[0] if len({*values}) == 1 else None

    def _changed(self, name: str, value: Any) -> Any:
        """Return a parameter with a new value for the chosen joint, or for all."""
        values, joints, joint = self._node.values[name], self._node.joints, self._joint.value
        if isinstance(values, str):
            return value
        if joint not in joints or name.startswith('payload.'):
            return [*value] if isinstance(value, tuple) else [value]
        values = np.resize(values, len(joints))
        values[joints.index(joint)] = value
        return values.tolist()

    def _arrows(self) -> Iterator[Arrow]:
        """Yield the external force, at its link, and the weights of the payloads."""
        values, poses = self._node.values, self._scene.poses
        wrench = self._node.newest('external_wrench')
        if wrench is not None and wrench.header.frame_id in poses:
            force, pose = wrench.wrench.force, poses[wrench.header.frame_id]
            yield pose[:3, 3], pose[:3, :3] @ (force.x, force.y, force.z), EXTERNAL
        for k, link in enumerate(values.get('payload.link', ())):
            if link in poses:
                point = poses[link] @ (*values['payload.com'][3 * k : 3 * k + 3], 1.0)
                yield point[:3], values['payload.mass'][k] * np.array(values['gravity']), WEIGHT

    def _efforts(self, joint: str) -> tuple[str, dict[str, float]]:
        """Return title and values of the plot: terms of a joint, or shares of all limits."""
        newest = {term: dict(zip(message.name, message.effort, strict=False)) for term in TERMS
                  if (message := self._node.newest(f'terms/{term}')) is not None}  # fmt: skip
        if joint != ALL:
            values = {term: efforts.get(joint, 0.0) for term, efforts in newest.items()}
            return f'{joint}: terms of the effort, N m or N', values
        efforts, model = newest.get('sum', {}), self._scene.model
        urdf = dict(zip(model.joint_names, model.effort_limits, strict=False)) if model else {}
        own = np.resize(self._node.values.get('effort_limits', [0.0]), len(efforts))
        return 'share of the effort limits, %', {
            name: 100.0 * effort / (limit or urdf.get(name) or math.inf)
            for (name, effort), limit in zip(efforts.items(), own, strict=True)
        }

    def _draw(self, title: str, values: Mapping[str, float]) -> None:
        """Plot the last seconds every INTERVAL, without lines that are always zero."""
        plot, history, now = self._plot, self._history, self._node.clock()
        if title != plot.title:
            plot.title = title
            history.clear()
        history.append((now, values))
        if now >= self._plot_at and values:
            self._plot_at = now + INTERVAL
            lines = {name: np.array([x.get(name, 0.0) for _, x in history]) for name in values}
            series = ({'label': 's'}, *(
                {'label': name, 'width': 2.0, 'stroke': f'hsl({199 * k % 360}, 70%, 45%)'}
                for k, (name, line) in enumerate(lines.items()) if line.any()
            ))
            if series != plot.series:  # an assignment makes a new chart
                plot.series = series
            plot.data = (np.array([t - now for t, _ in history]), *filter(np.any, lines.values()))


@cache
def meanings() -> Mapping[str, str]:
    """Return the meanings of states, reasons and flags, from tables of the documentation."""
    found: dict[str, str] = {}
    for page, heading in (('control', '## States'), ('troubleshooting', '## By word')):
        text = share_path(f'docs/{page}.md').read_text(encoding='utf-8').partition(heading)[2]
        plain = re.sub(r'\[([^]]*)\]\([^)]*\)|`', r'\1', text)
        for words, cells in re.findall(r'^\| ([\w, ]+) \| (.*) \|$', plain, re.MULTILINE):
            found |= dict.fromkeys(words.split(', '), cells.replace(' | ', ' → '))
    return found


def status(node: WatchedNode, problem: str) -> str:
    """Return state, reason, flags, timing and answers of a node, and a problem, as HTML."""
    state, diagnostics = node.state, node.diagnostics
    meaning = STATES.get(state, f'command: {meanings().get(state)}').replace('{}', node.full_name)
    lines = [(GREEN if state == 'active' else ORANGE, f'● {state}', meaning)]
    for word in f'{diagnostics.get("reason", "")} {diagnostics.get("flags", "")}'.split():
        lines.append((RED, word, meanings().get(word, 'see the page on troubleshooting')))
    lines += [(ORANGE, key, diagnostics[key]) for key in DETAILS if diagnostics.get(key)]
    if diagnostics:
        lines.append((GREY, TIMING.format_map(defaultdict(str, diagnostics)), ''))
    lines += [(GREEN if done else RED, '✓' if done else '✗', text) for done, text in node.notes]
    text = '<br>'.join(f'<span style="color:{colour}">{escape(word)}</span> {escape(text)}'
                       for colour, word, text in [*lines, (RED, problem, '')])  # fmt: skip
    return f'<div style="font-size:0.85em;padding:0 0.8em">{text}</div>'
