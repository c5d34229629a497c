# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The order of the commanded joints, asked from the controller that takes the commands."""

from __future__ import annotations

from typing import Any

from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters

PATIENCE = 2.0
"""How long something that listens for commands may lack a parameter service, s."""


class ControllerJoints:
    """
    Finds the parameter ``joints`` of the controller behind a command topic.

    Nothing blocks: :meth:`poll` is called now and then by the thread that spins the node.

    :param node: the node to ask from
    :param command_topic: full name; the controller is the node ``<command_topic>/..``
    """

    def __init__(self, node: Any, command_topic: str) -> None:
        self._node = node
        self._topic = command_topic
        self._controller = command_topic.rpartition('/')[0]
        self._client = node.create_client(GetParameters, f'{self._controller}/get_parameters')
        self._future: Any = None
        self._listener_since: float | None = None
        self._joints: tuple[str, ...] | None = None

    @property
    def known(self) -> bool:
        """Whether the question is answered."""
        return self._joints is not None

    @property
    def joints(self) -> tuple[str, ...]:
        """The controller's joints, none where it does not name any."""
        return self._joints or ()

    @property
    def missing(self) -> str:
        """What is waited for."""
        if self._listener_since is None:
            return f'nothing listens on {self._topic}; start the controller or set joints'
        return f'{self._controller} has not answered which joints it commands'

    def forget(self) -> None:
        """Ask again at the next poll."""
        self._joints = None
        self._future = None
        self._listener_since = None

    def poll(self, now: float) -> None:
        """
        Go one step further with the question.

        :param now: monotonic time, s
        """
        if self._joints is not None:
            return
        if self._node.count_subscribers(self._topic) == 0:
            self._listener_since = self._future = None
            return
        if self._listener_since is None:
            self._listener_since = now
        if self._future is None and self._client.service_is_ready():
            self._future = self._client.call_async(GetParameters.Request(names=['joints']))
        if self._future is not None and self._future.done():
            self._joints = _names(self._future.result())
        elif self._future is None and now - self._listener_since > PATIENCE:
            self._joints = ()


def _names(response: Any) -> tuple[str, ...]:
    values = response.values if response is not None else []
    if values and values[0].type == ParameterType.PARAMETER_STRING_ARRAY:
        return tuple(values[0].string_array_value)
    return ()
