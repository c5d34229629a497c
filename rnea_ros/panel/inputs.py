# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What can be changed of a node: inputs that show its parameters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from viser import GuiApi

from ..modes import MODES
from .node import WatchedNode
from .scene import Scene

ALL = 'all joints'
STILL = 0.7  # time without a change until a value is sent: typing takes several, s


@dataclass
class Input:
    """An input and what it means for the parameters of the node."""

    handle: Any
    value: Callable[[], Any]  # of the input, by the parameters; None: it cannot show them
    changes: Callable[[], dict[str, Any]]  # of the parameters, by the input
    shown: Any = None  # value that the node has, or was asked for

    @property
    def entered(self) -> bool:
        """Whether a user has entered a value that was not sent."""
        return self.shown not in (None, self.handle.value)

    def update(self, node: WatchedNode, still: bool, read_only: bool) -> None:
        """Ask the node for what a user has entered; else show what the node has."""
        handle, value = self.handle, self.value() if node.values else None
        handle.disabled = value is None or read_only
        if value is None:
            self.shown = None
        elif not node.busy and (not self.entered or read_only):
            handle.value = value
            self.shown = handle.value
        elif not node.busy and still:
            self.shown = handle.value
            node.change(self.changes())


class Inputs:
    """
    The inputs of a node; those of joints are for all or the chosen one.

    :param joint: input of the chosen joint, or :data:`ALL`
    """

    def __init__(self, gui: GuiApi, node: WatchedNode, scene: Scene, joint: Any) -> None:
        self._node, self._scene, self._joint = node, scene, joint
        self._chosen = ALL  # joint of what is shown
        self._names: tuple[Any, ...] = ()  # of joints and links
        self._entered: list[Any] = []
        self._entered_at = 0.0
        self._inputs: list[Input] = []
        for name, choices in (
            ('mode', MODES), ('friction.model', ('none', 'urdf', 'parameters')),
        ):
            self._add(gui.add_dropdown(name, choices), name, str, lambda word, _: word)
        numbers = {'gravity_factor': gui.add_slider('gravity_factor', 0.0, 2.0, 0.01, 1.0)} | {
            name: gui.add_number(name, 0.0, step=0.1)
            for name in ('damping', 'gains.kp', 'gains.kd')
        }
        for name, handle in numbers.items():
            self._add(_fine(handle), name, self._of_joint, self._for_joint)
        with gui.add_folder('payload'):
            self._link = gui.add_dropdown('link', ('',))
            mass = _fine(gui.add_number('mass, kg', 0.0, step=0.1))
            centre = _fine(gui.add_vector3('centre, m', (0.0, 0.0, 0.0), step=0.01))

        def payload() -> dict[str, Any]:
            for each in self._inputs[-3:]:  # they are sent together
                each.shown = each.handle.value
            return {'payload.link': [self._link.value], 'payload.mass': [mass.value],
                    'payload.com': [*centre.value]}

        for k, handle in enumerate((self._link, mass, centre)):
            self._inputs.append(Input(handle, partial(self._of_payload, k), payload))

    def update(self, now: float, read_only: bool) -> None:
        """Send what users have entered, and show what the node has."""
        model = self._scene.model
        names = self._node.joints, ('', *model.link_names) if model else ('',)
        if self._names != names:
            self._names, self._link.options = names, names[1]
            for each in self._inputs:
                each.shown = None  # viser replaces a link that the new robot lacks
        entered = [each.handle.value for each in self._inputs if each.entered]
        if entered != self._entered:
            self._entered, self._entered_at = entered, now
        if not entered:  # else it is for the joint that was chosen before
            self._chosen = self._joint.value
        for each in self._inputs:
            each.update(self._node, now - self._entered_at >= STILL, read_only)

    def _add(
        self, handle: Any, name: str, read: Callable[[Any], Any], write: Callable[[Any, Any], Any]
    ) -> None:
        """Add an input for a parameter: how to show its value, and another one by the old."""
        self._inputs.append(Input(
            handle, lambda: read(self._node.values[name]),
            lambda: {name: write(handle.value, self._node.values[name])},
        ))

    def _of_joint(self, numbers: Sequence[float]) -> Any:
        """Return the chosen joint's value of a parameter; None if those of all joints differ."""
        joint, joints = self._chosen, self._node.joints
        if joint != ALL and len(numbers) == len(joints):
            return numbers[joints.index(joint)]
        return _only(set(numbers))

    def _for_joint(self, number: float, numbers: Sequence[float]) -> list[float]:
        """Return a parameter with another value for the chosen joint, or for all."""
        joint, joints = self._chosen, self._node.joints
        if joint == ALL:
            return [number]
        numbers = [*numbers] if len(numbers) == len(joints) else len(joints) * [*numbers]
        numbers[joints.index(joint)] = number
        return numbers

    def _of_payload(self, k: int) -> Any:
        """Return link, mass or centre of the only payload; None if there are several."""
        return payload[k] if (payload := _only(self._node.payloads)) else None


def _only(values: Collection[Any]) -> Any:
    """Return the only value of a collection; None if there are others."""
    return next(iter(values)) if len(values) == 1 else None


def _fine(handle: Any) -> Any:
    """Return an input that keeps six decimals; viser rounds to those of its step."""
    handle.precision = 6
    return handle
