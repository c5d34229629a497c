# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The service ``~/tare``: zero the force-torque sensors; it answers when they have averaged."""

from __future__ import annotations

from collections.abc import Callable, Generator
import time
import traceback
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from std_srvs.srv import Trigger

from ..errors import one_line
from ..feedforward import CONTROLLING, FeedforwardController

POLL = 0.01
"""How long the executor sleeps between two looks at sensors that average, s."""

TO_BEGIN = 1.0
"""How long the control may take to begin with a tare, s."""


class TareService:
    """
    Serves the control that is active, for as long as its node lives.

    A service that ends before it has answered leaves its client waiting, and the answer without a
    way out. So it stays, and refuses while nothing is active.

    :param node: the node
    :param controller: returns the control, None while there is none
    """

    def __init__(
        self, node: Any, controller: Callable[[], FeedforwardController | None]
    ) -> None:
        self._node = node
        self._controller = controller
        self._under_way = False
        # While it waits, the node's other callbacks go on: they are in another group.
        node.create_service(
            Trigger, '~/tare', self._on_tare, callback_group=ReentrantCallbackGroup()
        )

    async def _on_tare(self, request: Any, response: Any) -> Any:
        del request
        controller = self._controller()
        response.message = self._refusal(controller)
        if controller is not None and not response.message:
            self._under_way = True
            try:
                response.message = await self._tare(controller)
            except Exception as error:
                self._node.get_logger().error(traceback.format_exc())
                response.message = f'internal error: {one_line(error)}'
            finally:
                self._under_way = False
        response.success = not response.message
        response.message = response.message or 'all sensors are zeroed'
        return response

    def _refusal(self, controller: FeedforwardController | None) -> str:
        if controller is None:
            return 'the node is not active'
        if not controller.environment.wrenches.settings:
            return 'there is no force-torque sensor'
        if self._under_way:
            return 'a tare is under way'
        return _ended(controller)

    async def _tare(self, controller: FeedforwardController) -> str:
        """Return why sensors refused, empty where none did."""
        wrenches = controller.environment.wrenches
        before = wrenches.tares
        controller.tare()
        deadline = time.monotonic() + TO_BEGIN
        while wrenches.tares == before or wrenches.taring:
            if _ended(controller):
                return _ended(controller)
            if wrenches.tares == before and time.monotonic() > deadline:
                return 'the control did not begin with it'
            time.sleep(POLL)
            await _NextTurn()
        refusals = wrenches.tare_refusals.items()
        return ', '.join(f'{name}: {reason.value}' for name, reason in refusals)


def _ended(controller: FeedforwardController) -> str:
    """Return the state of a control that is not, or no longer, in force; else empty."""
    state = controller.state
    return '' if state in CONTROLLING else f'the control is {state.value}'


class _NextTurn:
    """Awaited, it lets the executor do something else before it comes back."""

    def __await__(self) -> Generator[None, None, None]:
        yield
