# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Deactivates a controller by ros2_control's controller manager."""

from __future__ import annotations

from typing import Any

from ..errors import InputError


class ControllerSwitch:
    """
    Deactivates one controller.

    A deactivated controller leaves its last effort applied: zeros must come first.

    :param node: the node that calls the service
    :param controller_manager: name of the controller manager's node
    :param command_topic: ``.../<controller>/commands``, resolved
    :raises InputError: controller_manager_msgs is not installed, or the topic names no controller
    """

    def __init__(self, node: Any, controller_manager: str, command_topic: str) -> None:
        try:
            from controller_manager_msgs.srv import SwitchController
        except ImportError as error:
            raise InputError(
                'action', f'deactivate_controller needs controller_manager_msgs: {error}'
            ) from error
        self._controller = command_topic.split('/')[-2]
        if not self._controller:
            raise InputError('command_topic', f'{command_topic!r} names no controller')
        self._request_type = SwitchController.Request
        self._logger = node.get_logger()
        self._client = node.create_client(
            SwitchController, f'{controller_manager}/switch_controller'
        )

    def deactivate(self) -> None:
        """Send the request without waiting; the result is logged."""
        if not self._client.service_is_ready():
            self._logger.error(
                f'{self._controller} stays active: no service {self._client.srv_name}'
            )
            return
        request = self._request_type(deactivate_controllers=[self._controller])
        request.strictness = request.STRICT
        request.timeout.sec = 1
        self._client.call_async(request).add_done_callback(self._on_answer)

    def _on_answer(self, future: Any) -> None:
        if future.exception() is None and future.result().ok:
            self._logger.warning(f'{self._controller} was deactivated')
        else:
            self._logger.error(
                f'{self._controller} stays active: {future.exception() or "request rejected"}'
            )
