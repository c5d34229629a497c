# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What a trajectory controller tells of itself: its joints, and what it commands."""

from __future__ import annotations

from typing import Any

from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters
from rclpy.qos import ReliabilityPolicy

from ..ros import MACHINE_TIME

ASK_AGAIN = 1.0
"""How often it is asked, s: it may have been started again, with other joints."""


class TrajectoryController:
    """
    Asks for the parameters of the controller behind a topic; nothing blocks.

    :param node: the node to ask from
    :param topic: full name; the controller is the node ``<topic>/..``
    :ivar joints: its joints, None until it has told
    :ivar command_interfaces: what it commands, None until it has told
    """

    def __init__(self, node: Any, topic: str) -> None:
        self._node, self._topic = node, topic
        self.name = topic.rpartition('/')[0]
        self._client = node.create_client(GetParameters, f'{self.name}/get_parameters')
        self._future: Any = None
        self.joints: tuple[str, ...] | None = None
        self.command_interfaces: tuple[str, ...] | None = None
        node.create_timer(ASK_AGAIN, self.ask, clock=MACHINE_TIME)

    @property
    def may_lose_messages(self) -> bool:
        """Whether it listens best effort, as JTC does by default: it may lose long messages."""
        listeners = self._node.get_subscriptions_info_by_topic(self._topic)
        return any(
            listener.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT
            for listener in listeners
        )

    def ask(self) -> None:
        """Ask, without waiting; an answer that never came is given up."""
        if self._client.service_is_ready():
            names = ['joints', 'command_interfaces']
            self._future = self._client.call_async(GetParameters.Request(names=names))
            self._future.add_done_callback(self._on_answer)

    def _on_answer(self, future: Any) -> None:
        if future is not self._future or future.exception() is not None:
            return
        told = [
            tuple(value.string_array_value) or None
            for value in future.result().values
            if value.type == ParameterType.PARAMETER_STRING_ARRAY
        ]
        if len(told) == 2:
            self.joints, self.command_interfaces = told
