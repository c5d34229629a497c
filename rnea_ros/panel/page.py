# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The page: for each node its status, buttons, plot and inputs; the robots in the scene."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
import math
import time

import numpy as np
from viser import GuiApi, ViserServer

from ..feedforward.laws import Terms
from .inputs import ALL, Inputs
from .node import WatchedNode
from .plot import Plot
from .scene import Arrow, Scene
from .words import status

TERMS = ('sum', *Terms.__dataclass_fields__, 'limited')
APART = 1.0  # distance of the robots of several namespaces, m
EXTERNAL, WEIGHT = (224, 49, 49), (95, 61, 196)  # colours of the arrows
MIN_FORCE = 0.5  # that is shown, N
STOP, REST_STOP = 'stop: ramp down to zero', 'deactivate: rest pose, then zero'
STOP_HINT = (
    'Moves to the rest pose if one is set, then ramps to zero. An arm without brakes sinks. No '
    'emergency stop: only Ctrl-C at the node ends the motion.'
)
NEEDS = {'rest': ('rest_pose', [0.0]), 'tare': ('wrench_inputs.names', [''])}
"""Parameters that buttons need, and their values if they are not set."""


class Page:
    """Everything on the page of a server; :meth:`update` is to be called 20 times a second."""

    def __init__(
        self, server: ViserServer, nodes: Sequence[WatchedNode], *, read_only: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._server, self._clock = server, clock
        names = [*dict.fromkeys(node.namespace for node in nodes)]
        scenes = {name: Scene(server, f'robot_{k}', (0.0, APART * k, 0.0))
                  for k, name in enumerate(names)}  # fmt: skip
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
                self._parts.append(_Part(server.gui, node, scenes[node.namespace], read_only))

    def update(self) -> None:
        """Take the newest messages, do what was asked for, and show it to browsers."""
        with self._server.atomic():
            for part in self._parts:
                part.node.poll()
                part.act()
                if self._server.get_clients():
                    part.show(self._clock())
                else:  # neither the node nor this process works for nobody
                    part.node.watch(())


class _Part:
    """The part of one node."""

    def __init__(self, gui: GuiApi, node: WatchedNode, scene: Scene, read_only: bool) -> None:
        self.node, self._scene, self._read_only = node, scene, read_only
        self._positions: dict[str, float] = {}
        self._status, self._buttons = gui.add_html(''), {}
        if not read_only:
            self._buttons = {
                'stop': gui.add_button(STOP, color='red', hint=STOP_HINT),
                'rest': gui.add_button('move to the rest pose'),
                'tare': gui.add_button('tare the force sensors'),
            }
        self._joint = gui.add_dropdown('joint', (ALL,), hint='of the plot and the inputs below it')
        self._plot = Plot(gui)
        self._force = gui.add_checkbox(
            'external force', False, hint='of external_effort.link; computed only while shown')
        self._inputs = Inputs(gui, node, scene, self._joint)

    def act(self) -> None:
        """Do what users have asked for by buttons."""
        for key, button in self._buttons.items():
            if button.value:
                button.value = False
                self.node.trigger(key)

    def show(self, now: float) -> None:
        """Show the newest of the node and its robot, and send what users have entered."""
        node, scene, joint = self.node, self._scene, self._joint.value
        for key in NEEDS.keys() & self._buttons.keys():
            name, unset = NEEDS[key]
            self._buttons[key].disabled = node.values.get(name, unset) == unset
        if node.values and self._buttons:
            rests = not self._buttons['rest'].disabled
            self._buttons['stop'].label = REST_STOP if rests else STOP
        terms = [f'terms/{term}' for term in (TERMS if joint != ALL else TERMS[:1])]
        force = ['external_wrench'] if self._force.value else []
        node.watch(('joint_states', 'reference', *terms, *force))
        measured, reference = ({} if x is None else dict(zip(x.name, x.position, strict=False))
                               for x in map(node.newest, ('joint_states', 'reference')))
        self._positions |= measured  # of several publishers
        scene.update(node.urdf, self._positions, reference)
        scene.show_arrows(self._arrows())
        if self._joint.options != (ALL, *node.joints):
            self._joint.options = (ALL, *node.joints)
        self._plot.show(now, *(self._shares() if joint == ALL else self._terms(joint)))
        self._inputs.update(now, self._read_only)
        notes = [*node.notes, *([(False, scene.problem)] if scene.problem else [])]
        self._status.content = status(node.full_name, node.state, node.diagnostics, notes)

    def _arrows(self) -> dict[str, Arrow]:
        """Return the external force, at its link, and the weights of the payloads."""
        poses, arrows, gravity = self._scene.poses, {}, self.node.values.get('gravity', ())
        if wrench := self.node.newest('external_wrench'):
            force, pose = wrench.wrench.force, poses.get(wrench.header.frame_id, np.zeros((4, 4)))
            arrows['external'] = pose[:3, 3], pose[:3, :3] @ (force.x, force.y, force.z), EXTERNAL
        for k, (link, mass, centre) in enumerate(self.node.payloads):
            if link in poses:
                point = poses[link] @ (*centre, 1.0)
                arrows[f'weight_{k}'] = point[:3], mass * np.array(gravity), WEIGHT
        return {k: arrow for k, arrow in arrows.items() if np.linalg.norm(arrow[1]) > MIN_FORCE}

    def _terms(self, joint: str) -> tuple[str, dict[str, float]]:
        """Return title and newest values of the terms of a joint."""
        newest = {term: self.node.newest(f'terms/{term}') for term in TERMS}
        return f'{joint}: terms of the effort, N m or N', {
            term: dict(zip(message.name, message.effort, strict=True)).get(joint, math.nan)
            for term, message in newest.items() if message is not None
        }

    def _shares(self) -> tuple[str, dict[str, float]]:
        """Return title and newest values of the efforts as shares of their limits."""
        node, model, message = self.node, self._scene.model, self.node.newest('terms/sum')
        shares: dict[str, float] = {}
        limits = node.values.get('effort_limits', [0.0])
        if message is not None and model is not None and len(limits) in (1, len(message.name)):
            limits = np.array(limits) * np.ones(len(message.name))
            of_urdf = dict(zip(model.joint_names, model.effort_limits, strict=False))
            for name, effort, limit in zip(message.name, message.effort, limits, strict=True):
                shares[name] = 100.0 * effort / (limit or of_urdf.get(name) or math.inf)
        return 'share of the effort limits, %', shares
