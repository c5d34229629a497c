# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The service ``~/tare``: zero the force-torque sensors; it answers when they have averaged."""

from __future__ import annotations

from collections.abc import Generator
import time
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from std_srvs.srv import Trigger

from ..feedforward.controller import FeedforwardController
from ..feedforward.supervisor import CONTROLLING

POLL = 0.01
"""How long the executor sleeps between two looks at sensors that average, s."""

TO_BEGIN = 1.0
"""How long the control may take to begin with a tare, s."""


class TareService:
    """
    Serves one activation of the control.

    :param node: the node
    :param controller: the control
    """

    def __init__(self, node: Any, controller: FeedforwardController) -> None:
        self._node = node
        self._controller = controller
        self._under_way = False
        # While it waits, the node's other callbacks go on: they are in another group.
        self._service = node.create_service(
            Trigger, '~/tare', self._on_tare, callback_group=ReentrantCallbackGroup()
        )

    def close(self) -> None:
        """Take the service down."""
        self._node.destroy_service(self._service)

    async def _on_tare(self, request: Any, response: Any) -> Any:
        del request
        response.message = self._refusal()
        if not response.message:
            self._under_way = True
            response.message = await self._tare()
            self._under_way = False
        response.success = not response.message
        response.message = response.message or 'all sensors are zeroed'
        return response

    def _refusal(self) -> str:
        if not self._controller.surroundings.wrenches.settings:
            return 'there is no force-torque sensor'
        if self._under_way:
            return 'a tare is under way'
        if not self._goes_on():
            return f'the control is {self._controller.state.value}'
        return ''

    async def _tare(self) -> str:
        """Return why sensors refused, empty where none did."""
        wrenches = self._controller.surroundings.wrenches
        before = wrenches.tares
        self._controller.tare()
        deadline = time.monotonic() + TO_BEGIN
        while wrenches.tares == before or wrenches.taring:
            if not self._goes_on():
                return f'the control is {self._controller.state.value}'
            if wrenches.tares == before and time.monotonic() > deadline:
                return 'the control did not begin with it'
            time.sleep(POLL)
            await _NextTurn()
        refusals = wrenches.tare_refusals.items()
        return ', '.join(f'{name}: {reason.value}' for name, reason in refusals)

    def _goes_on(self) -> bool:
        return self._controller.state in CONTROLLING


class _NextTurn:
    """Awaited, it lets the executor do something else before it comes back."""

    def __await__(self) -> Generator[None, None, None]:
        yield
