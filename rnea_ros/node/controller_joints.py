# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The order of the commanded joints, asked from the controller that takes the commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters

from .endpoints import Endpoints

PATIENCE = 2.0
"""How long something that listens for commands may lack a parameter service, s."""

RETRY = 0.5
"""When a question is asked again: it may have gone to a controller that was killed, s."""


class ControllerJoints:
    """
    Finds the parameter ``joints`` of the controller behind a command topic.

    The controller is asked when it begins to listen, and anew whenever somebody begins to listen
    who may be it: it may have been started again, with other joints. Nothing blocks: :meth:`poll`
    is called now and then by the thread that spins the node.

    :param node: the node to ask from
    :param command_topic: full name; the controller is the node ``<command_topic>/..``
    """

    def __init__(self, node: Any, command_topic: str) -> None:
        self._node = node
        self._topic = command_topic
        self.controller = command_topic.rpartition('/')[0]
        self._client = node.create_client(GetParameters, f'{self.controller}/get_parameters')
        self._endpoints = Endpoints()
        self.forget()

    def forget(self) -> None:
        """Ask again at the next poll."""
        self._joints: tuple[str, ...] | None = None
        self._asked: frozenset[bytes] = frozenset()
        self._present: frozenset[bytes] = frozenset()
        self._settled = False
        self._listened_since: float | None = None
        self._future: Any = None
        self._sent_at = 0.0

    @property
    def known(self) -> bool:
        """Whether the question was answered once."""
        return self._joints is not None

    @property
    def joints(self) -> tuple[str, ...]:
        """The controller's joints by its newest answer, none where it does not name any."""
        return self._joints or ()

    @property
    def present(self) -> bool:
        """Whether the controller listens, or somebody without a name yet, who may be it."""
        return bool(self._present)

    @property
    def settled(self) -> bool:
        """Whether the controller gave its answer since the last of those came who may be it."""
        return self._settled or not self._present

    @property
    def asked(self) -> frozenset[bytes]:
        """Those for whom the newest question was, as far as they are there still."""
        return self._asked

    @property
    def missing(self) -> str:
        """What is waited for."""
        if self._listened_since is None:
            return f'nothing listens on {self._topic}; start the controller or set joints'
        return f'{self.controller} has not answered which joints it commands'

    def poll(self, now: float) -> None:
        """
        Look who listens, and go one step further with the question.

        :param now: monotonic time, s
        """
        infos = self._node.get_subscriptions_info_by_topic(self._topic)
        listeners = self._endpoints.read(infos, now)
        # Names come a tenth of a second late, which is too long to withhold commands for: the
        # controller is asked whoever it is. One that was killed, and is there still only because
        # DDS has not noticed, does not answer for the one that took its place.
        self._present = frozenset(
            listener.gid for listener in listeners if listener.node in ('', self.controller)
        )
        if not listeners:
            self._listened_since = None
        elif self._listened_since is None:
            self._listened_since = now
        if self._present - self._asked:
            self._settled = False
            self._future = None
            self._listened_since = now
        self._asked = self._present
        if self._listened_since is None or (self.known and self.settled):
            return
        self._ask(now, now - self._listened_since)

    def _ask(self, now: float, waited: float) -> None:
        if self._future is not None and self._future.done():
            self._answer(_names(self._future.result()))
        elif self._client.service_is_ready():
            if self._future is None or now - self._sent_at > RETRY:
                self._future = self._client.call_async(GetParameters.Request(names=['joints']))
                self._sent_at = now
        elif waited > PATIENCE:
            self._answer(())

    def _answer(self, joints: tuple[str, ...]) -> None:
        self._joints = joints
        self._settled = True
        self._future = None


def difference(told: Sequence[str], commanded: Sequence[str]) -> str:
    """
    Return in words how a controller's joints differ from those that would be commanded.

    :param told: by the controller
    :param commanded: in order
    """
    absent = [name for name in commanded if name not in told]
    more = [name for name in told if name not in commanded]
    words = []
    if absent:
        words.append(f'without {", ".join(absent)}')
    if more:
        words.append(f'with {", ".join(more)}')
    if not words:
        words.append(f'in another order: {", ".join(told)}')
    return ' and '.join(words)


def _names(response: Any) -> tuple[str, ...]:
    values = response.values if response is not None else []
    if values and values[0].type == ParameterType.PARAMETER_STRING_ARRAY:
        return tuple(values[0].string_array_value)
    return ()
