# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The service ``~/tare``: zero the force-torque sensors; it answers when they have averaged."""

from __future__ import annotations

from typing import Any

from rclpy.task import Future
from std_srvs.srv import Trigger

from ..feedforward.controller import FeedforwardController
from ..feedforward.supervisor import State


class TareService:
    """
    Serves one activation of the control.

    :param node: the node
    :param controller: the control
    """

    def __init__(self, node: Any, controller: FeedforwardController) -> None:
        self._node = node
        self._controller = controller
        self._waiting: Future | None = None
        self._begun = False
        self._service = node.create_service(Trigger, '~/tare', self._on_tare)

    def close(self) -> None:
        """Take the service down; whoever waits is told that nothing came of it."""
        if self._waiting is not None:
            self._waiting.set_result('the control has ended')
            self._waiting = None
        self._node.destroy_service(self._service)

    def watch(self) -> None:
        """Answer when all sensors are done; called now and then."""
        if self._waiting is None:
            return
        wrenches = self._controller.wrenches
        if not self._begun:
            self._begun = wrenches.taring or bool(wrenches.tare_refusals)
        elif not wrenches.taring:
            refusals = wrenches.tare_refusals.items()
            self._waiting.set_result(', '.join(f'{name}: {why.value}' for name, why in refusals))
            self._waiting = None

    async def _on_tare(self, request: Any, response: Any) -> Any:
        del request
        refusal = self._refusal()
        if not refusal:
            self._begun = False
            self._waiting = Future()
            self._controller.tare()
            refusal = await self._waiting
        response.success = not refusal
        response.message = refusal or 'all sensors are zeroed'
        return response

    def _refusal(self) -> str:
        if not self._controller.wrenches.settings:
            return 'there is no force-torque sensor'
        if self._controller.state not in (State.RAMPING, State.ACTIVE):
            return f'the control is {self._controller.state.value}'
        if self._waiting is not None:
            return 'a tare is under way'
        return ''
