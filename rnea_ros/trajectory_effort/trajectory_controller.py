# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The trajectory controller behind a topic: its joints and command interfaces."""

from __future__ import annotations

from typing import Any

from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters
from rclpy.qos import ReliabilityPolicy

from ..ros import MACHINE_TIME

REQUEST_PERIOD = 1.0  # time between requests, s: the controller may restart with other joints


class TrajectoryController:
    """Requests the parameters of the node ``<topic>/..``, the controller, without waiting."""

    def __init__(self, node: Any, topic: str) -> None:
        self._node, self._topic = node, topic
        self.name = topic.rpartition('/')[0]
        self._client = node.create_client(GetParameters, f'{self.name}/get_parameters')
        self._future: Any = None
        # Unknown before the first answer.
        self.joints: tuple[str, ...] | None = None
        self.command_interfaces: tuple[str, ...] | None = None
        node.create_timer(REQUEST_PERIOD, self._send_request, clock=MACHINE_TIME)

    @property
    def may_lose_messages(self) -> bool:
        """Whether a best-effort subscription may lose long messages; JTC has one by default."""
        subscriptions = self._node.get_subscriptions_info_by_topic(self._topic)
        return any(
            subscription.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT
            for subscription in subscriptions
        )

    def _send_request(self) -> None:
        """Send a request. It replaces one without an answer."""
        if self._client.service_is_ready():
            names = ['joints', 'command_interfaces']
            self._future = self._client.call_async(GetParameters.Request(names=names))
            self._future.add_done_callback(self._on_answer)

    def _on_answer(self, future: Any) -> None:
        if future is not self._future or future.exception() is not None:
            return
        values = [
            tuple(value.string_array_value) or None
            for value in future.result().values
            if value.type == ParameterType.PARAMETER_STRING_ARRAY
        ]
        if len(values) == 2:
            self.joints, self.command_interfaces = values
