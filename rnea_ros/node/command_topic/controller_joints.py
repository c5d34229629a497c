# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The order of the commanded joints, asked from the controller that takes the commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters

from ...ros import EndpointReader, PolledClient

PATIENCE = 2.0
"""How long a controller may lack a parameter service before it counts as one without joints, s."""

RETRY = 0.5
"""When a question is repeated: it may have gone to a controller that was killed, s."""


class ControllerJoints:
    """
    Asks the controller behind a command topic for its parameter ``joints``.

    The controller is known by the name of its node. It is asked when it begins to listen, and
    again whenever another endpoint of this name appears: the controller may have been restarted
    with other joints. Nothing blocks, and no executor is needed: :meth:`poll` is called now and
    then, by one thread at a time.

    :param node: the node to ask from
    :param topic: full name of the command topic; the controller is the node ``<topic>/..``
    :ivar endpoints: the controller's endpoints on the topic, by GID; replaced, not changed
    :ivar joints: as these endpoints take them, empty where the controller names none, None before
        its answer
    :ivar answered: whether the controller itself has said so, not its silence
    """

    def __init__(self, node: Any, topic: str) -> None:
        self._node = node
        self.topic = topic
        self.controller = topic.rpartition('/')[0]
        self._question: PolledClient[Any] = PolledClient(
            node, GetParameters, f'{self.controller}/get_parameters'
        )
        self._graph = EndpointReader()
        self._since = 0.0
        self._sent_at = 0.0
        self.endpoints: frozenset[bytes] = frozenset()
        self.joints: tuple[str, ...] | None = None
        self.answered = False

    @property
    def missing(self) -> str:
        """Return what has to come before commands in its order can be sent."""
        if not self.endpoints:
            return f'{self.controller} does not listen on {self.topic}; start it or set joints'
        if self.joints is None:
            return f'{self.controller} has not answered which joints it commands'
        return '' if self.joints else f'{self.controller} names no joints; set joints'

    def poll(self, now: float) -> None:
        """
        Look for the controller, and go one step further with the question.

        :param now: monotonic time, s
        """
        infos = self._node.get_subscriptions_info_by_topic(self.topic)
        listeners = self._graph.read(infos, now)
        present = frozenset(each.gid for each in listeners if each.node == self.controller)
        if not present or present - self.endpoints:
            self._since = now
            self._question.forget()
            self.joints, self.answered = None, False
        self.endpoints = present
        if present and self.joints is None:
            self._ask(now)

    def _ask(self, now: float) -> None:
        question = self._question
        answer = question.answer() if question.asked else None
        if answer is not None:
            self.answered = True
            self.joints = _names(answer)
        elif question.possible:
            if not question.asked or now - self._sent_at > RETRY:
                question.ask(GetParameters.Request(names=['joints']))
                self._sent_at = now
        elif now - self._since > PATIENCE:
            self.joints = ()


def difference(named: Sequence[str], commanded: Sequence[str]) -> str:
    """
    Return in words how a controller's joints differ from those that would be commanded.

    :param named: by the controller
    :param commanded: in order
    """
    absent = [name for name in commanded if name not in named]
    more = [name for name in named if name not in commanded]
    words = []
    if absent:
        words.append(f'without {", ".join(absent)}')
    if more:
        words.append(f'with {", ".join(more)}')
    if not words:
        words.append(f'in another order: {", ".join(named)}')
    return ' and '.join(words)


def _names(response: Any) -> tuple[str, ...]:
    values = response.values
    if values and values[0].type == ParameterType.PARAMETER_STRING_ARRAY:
        return tuple(values[0].string_array_value)
    return ()
