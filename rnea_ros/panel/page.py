# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The page: for each node its status, plot and inputs; the robots in the scene."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
import math
from queue import SimpleQueue
import time
from typing import Any

import numpy as np
from viser import GuiApi, ViserServer
from viser.uplot import Series

from ..arrays import Array
from ..modes import MODES
from .node import TERMS, WatchedNode
from .scene import Scene
from .words import status

ALL = 'all joints'
WINDOW, PLOT_INTERVAL = 15.0, 0.25  # of the plot: shown time, time between two pictures, s
APART = 1.0  # distance of the robots of several namespaces, m
EXTERNAL, WEIGHT = (224, 49, 49), (95, 61, 196)  # colours of the arrows
COLOURS = (
    '#1971c2', '#e8590c', '#2f9e44', '#c2255c', '#6741d9', '#0c8599', '#f08c00', '#495057',
    '#a61e4d', '#66a80f', '#3bc9db',
)
TUNED = (
    ('gravity factor', 'gravity_factor'), ('damping', 'damping'), ('gain kp', 'gains.kp'),
    ('gain kd', 'gains.kd'),
)

Values = Mapping[str, Any]
Act = Callable[[Callable[[], None]], None]


class Page:
    """
    Everything on the page of a server; :meth:`update` is to be called 20 times a second.

    What a browser asks for comes in viser's threads, and is done in :meth:`update`.
    """

    def __init__(
        self, server: ViserServer, nodes: Sequence[WatchedNode], *, read_only: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._server, self._clock = server, clock
        self._actions: SimpleQueue[Callable[[], None]] = SimpleQueue()
        scenes: dict[str, Scene] = {}
        for node in nodes:
            k = len(scenes)
            scenes.setdefault(node.namespace, Scene(server, f'robot_{k}', (0.0, APART * k, 0.0)))
        server.gui.configure_theme(show_logo=False, show_share_button=False, control_width='large')
        server.scene.configure_default_lights(cast_shadow=False)  # for browsers without a GPU
        server.scene.add_grid('/floor', width=4.0, height=4.0, position=(0.0, 0.0, -1e-3))
        middle = 0.5 * APART * (len(scenes) - 1)
        server.initial_camera.position = (1.2, middle - 0.9 * len(scenes), 0.8)
        server.initial_camera.look_at = (0.0, middle + 0.2, 0.4)
        tabs = server.gui.add_tab_group() if len(nodes) > 1 else None
        self._parts = []
        for node in nodes:
            with nullcontext() if tabs is None else tabs.add_tab(node.full_name.lstrip('/')):
                act = None if read_only else self._actions.put
                self._parts.append(_Part(server.gui, node, scenes[node.namespace], act))

    def update(self) -> None:
        """Do what was asked for, take the newest messages, and show them to browsers."""
        while not self._actions.empty():
            self._actions.get()()
        with self._server.atomic():
            for part in self._parts:
                part.node.poll()
                if self._server.get_clients():
                    part.show(self._clock())
                else:  # neither the node nor this process works for nobody
                    part.node.watch(())


@dataclass
class _Input:
    """An input of the page; ``value`` is None if it cannot show the node's parameters."""

    handle: Any
    value: Callable[[Values], Any]  # of the input, by the node's parameters
    changes: Callable[[Any], dict[str, Any]]  # of the node's parameters, by the input's value
    shown: Any = None
    asked: bool = False  # the user has changed it: show what the node made of it


class _Part:
    """
    The part of one node.

    :param act: takes what a user asks for; None: read only
    """

    def __init__(self, gui: GuiApi, node: WatchedNode, scene: Scene, act: Act | None) -> None:
        self.node, self._scene, self._act = node, scene, act
        self._inputs: list[_Input] = []
        self._arrows: tuple[str, ...] = ()
        self._status = gui.add_html('')
        if act is not None:
            stop = gui.add_button('stop: ramp down to zero', color='red')
            stop.on_click(lambda _: act(partial(node.trigger, 'stop')))
            others = gui.add_button_group('', ('rest', 'tare'))
            others.on_click(lambda event: act(partial(node.trigger, event.target.value)))
        self._joint = gui.add_dropdown('joint', (ALL,), hint='of the plot and the inputs below it')
        self._plot = _Plot(gui)
        self._force = gui.add_checkbox(
            'external force', False, hint='of external_effort.link; computed only while shown')
        self._add(gui.add_dropdown('control law', MODES), 'mode', lambda values: values['mode'],
                  lambda mode: {'mode': mode})
        for label, name in TUNED:
            slides = name == 'gravity_factor'
            handle: Any = (gui.add_slider(label, 0.0, 2.0, 0.01, 1.0) if slides
                           else gui.add_number(label, 0.0, step=0.1))  # fmt: skip
            self._add(handle, name, partial(self._of_joint, name), partial(self._for_joint, name))
        with gui.add_folder('payload'):
            self._link = gui.add_dropdown('link', ('',))
            self._mass = gui.add_slider('mass, kg', 0.0, 10.0, 0.01, 0.0)
            centre = gui.add_vector3('centre, m', (0.0, 0.0, 0.0), step=0.01)
        first = self._with_first
        self._add(self._link, 'payload.link', self._payload_link, partial(first, 'payload.link'))
        self._add(self._mass, 'payload.mass', self._payload_mass, lambda mass: {
            **first('payload.link', self._link.value), **first('payload.mass', mass)})
        self._add(centre, 'payload.com', lambda values: tuple(values['payload.com'][:3]),
                  lambda com: first('payload.com', *com))

    def show(self, now: float) -> None:
        """Show the newest of the node and its robot."""
        node, scene = self.node, self._scene
        scene.update(node.urdf, node.positions)
        self._joint.options = (ALL, *node.joints)
        self._link.options = scene.model.link_names if scene.model else ('',)
        joint = self._joint.value
        terms = [f'terms/{term}' for term in TERMS if joint != ALL]
        force = ['external_wrench'] if self._force.value else []
        node.watch(('joint_states', 'effort', *terms, *force))
        self._plot.show(now, *(self._shares() if joint == ALL else self._terms(joint)))
        self._show_forces()
        for each in self._inputs:
            self._show_input(each)
        notes = [*node.notes, *([(False, scene.problem)] if scene.problem else [])]
        self._status.content = status(node.full_name, node.state, node.diagnostics, notes)

    def _add(
        self, handle: Any, name: str, value: Callable[[Values], Any],
        changes: Callable[[Any], dict[str, Any]],
    ) -> None:
        """Add an input for a parameter."""
        each, act = _Input(handle, value, changes), self._act
        self._inputs.append(each)
        if act is not None:
            # A change by this process has no client.
            handle.on_update(
                lambda event: None if event.client_id is None else act(partial(self._ask, each)))

    def _ask(self, each: _Input) -> None:
        each.asked = True
        if self.node.values:
            self.node.change(each.changes(each.handle.value))

    def _show_input(self, each: _Input) -> None:
        """Show the node's value once it has changed, or the node has answered the user."""
        if self.node.busy:
            return
        value = each.value(self.node.values) if self.node.values else None
        each.handle.disabled = value is None or self._act is None
        if value is not None and (each.asked or value != each.shown):
            each.shown, each.asked, each.handle.value = value, False, value

    def _of_joint(self, name: str, values: Values) -> float | None:
        """Return a parameter's value for the chosen joint; None if those of all joints differ."""
        numbers, joint, joints = values[name], self._joint.value, self.node.joints
        if joint != ALL and len(numbers) == len(joints):
            return float(numbers[joints.index(joint)])
        return float(numbers[0]) if len(set(numbers)) == 1 else None

    def _for_joint(self, name: str, number: float) -> dict[str, Any]:
        """Return a parameter with another value for the chosen joint, or for all."""
        numbers, joint, joints = [*self.node.values[name]], self._joint.value, self.node.joints
        if joint == ALL:
            return {name: [float(number)]}
        numbers = numbers if len(numbers) == len(joints) else numbers * len(joints)
        numbers[joints.index(joint)] = float(number)
        return {name: numbers}

    def _with_first(self, name: str, *of_first: Any) -> dict[str, Any]:
        """Return a parameter ``payload.*`` with other values of the first payload."""
        return {name: [*of_first, *self.node.values[name][len(of_first) :]]}

    def _payload_link(self, values: Values) -> str | None:
        """Return the payload's link; before there is one, that behind the last joint."""
        model, joints = self._scene.model, self.node.joints
        if model is None or model.description is None:
            return None
        last = model.description.joints.get(joints[-1]) if joints else None
        link = values['payload.link'][0] or (last.child if last else '')
        return link if link in model.link_names else None

    def _payload_mass(self, values: Values) -> float:
        mass = float(values['payload.mass'][0])
        self._mass.max = max(self._mass.max, 2.0 * math.floor(mass))
        return mass

    def _show_forces(self) -> None:
        """Show the external force in its link, and the weights of the payloads."""
        node, scene, zero = self.node, self._scene, np.zeros(3)
        arrows = {}
        if node.external is not None:
            link, force = node.external
            arrows['external'] = link, scene.in_root(link, force), zero, EXTERNAL
        for k, link in enumerate(node.values.get('payload.link', ())):
            weight = node.values['payload.mass'][k] * np.array(node.values['gravity'])
            centre = np.array(node.values['payload.com'][3 * k : 3 * k + 3])
            arrows[f'weight_{k}'] = link, weight, centre, WEIGHT
        hidden = {name: ('', zero, zero, WEIGHT) for name in self._arrows if name not in arrows}
        for name, arrow in (arrows | hidden).items():
            scene.show_force(name, *arrow)
        self._arrows = tuple(arrows)

    def _terms(self, joint: str) -> tuple[str, dict[str, float]]:
        """Return title and newest values of the terms of a joint."""
        node, number = self.node, self.node.joints.index(joint)
        newest = {'effort': node.effort, **node.terms}.items()
        return f'{joint}: terms of the effort, N m or N', {
            name: float(term[number]) for name, term in newest if len(term) == len(node.joints)
        }

    def _shares(self) -> tuple[str, dict[str, float]]:
        """Return title and newest values of the efforts as shares of their limits."""
        node = self.node
        limits = node.values.get('effort_limits', [0.0])
        limits = limits if len(limits) == len(node.effort) else limits[:1] * len(node.effort)
        return 'share of the effort limits, %', {
            name: 100.0 * float(effort) / (limit or self._scene.effort_limit(name))
            for name, effort, limit in zip(node.joints, node.effort, limits, strict=False)
        }


class _Plot:
    """Lines over the last seconds; those that are zero all the time are left out."""

    def __init__(self, gui: GuiApi) -> None:
        self._history: deque[tuple[float, Array]] = deque()
        self._title, self._due = '', -math.inf
        self._names: tuple[str, ...] = ()
        self._shown: tuple[str, ...] = ()
        self._handle = gui.add_uplot(
            (np.array((-WINDOW, 0.0)), np.zeros(2)), self._series(('',)), height=250,
            scales={'x': {'time': False, 'range': (-WINDOW, 0.0)}}, axes=({}, {'size': 45}),
        )

    def show(self, now: float, title: str, values: Mapping[str, float]) -> None:
        """Add the newest values, and show a picture if one is due."""
        if title != self._title or not values.keys() <= set(self._names):
            self._title, self._names = title, tuple(values)
            self._history.clear()
        self._history.append((now, np.array([values.get(x, math.nan) for x in self._names])))
        while self._history[0][0] < now - WINDOW:
            self._history.popleft()
        if now < self._due or not self._names:
            return
        self._due = now + PLOT_INTERVAL
        times = np.array([time for time, _ in self._history]) - now
        lines = np.array([numbers for _, numbers in self._history]).T
        kept = [k for k, line in enumerate(lines) if np.nan_to_num(line).any()] or [0]
        shown = [self._names[k] for k in kept]
        if (title, *shown) != self._shown:  # new series make a new chart
            self._shown = (title, *shown)
            self._handle.title, self._handle.series = title, self._series(shown)
        self._handle.data = (times, *lines[kept])

    def _series(self, names: Sequence[str]) -> tuple[Series, ...]:
        """Return the styles of the lines; each name keeps its colour."""
        order = ('effort', *TERMS) if 'effort' in names else self._names or names
        return (Series(label='s'), *(
            Series(label=name, width=2.0, stroke=COLOURS[order.index(name) % len(COLOURS)])
            for name in names
        ))
