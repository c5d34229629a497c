# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The service ``~/tare``: zeroes the force-torque sensors, and answers after the tare."""

from __future__ import annotations

from collections.abc import Callable, Generator
import time
import traceback
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from std_srvs.srv import Trigger

from ..errors import one_line
from ..feedforward import CONTROLLING, FeedforwardController

CHECK_INTERVAL = 0.01  # time between two checks whether the tare has ended, s
START_TIMEOUT = 1.0  # longest time from the request until the control starts the tare, s


class TareService:
    """
    Serves the active control; it exists as long as the node.

    A client would wait without end for a service that is destroyed before its answer. So the
    service stays, and rejects while the node is not active.
    """

    def __init__(self, node: Any, controller: Callable[[], FeedforwardController | None]) -> None:
        self._node = node
        self._controller = controller
        self._taring = False
        # A callback group of its own: other callbacks go on during a tare.
        node.create_service(
            Trigger, '~/tare', self._on_tare, callback_group=ReentrantCallbackGroup()
        )

    async def _on_tare(self, _: Any, response: Any) -> Any:
        controller = self._controller()
        response.message = self._rejection(controller)
        if controller is not None and not response.message:
            self._taring = True
            try:
                response.message = await self._tare(controller)
            except Exception as error:
                self._node.get_logger().error(traceback.format_exc())
                response.message = f'internal error: {one_line(error)}'
            finally:
                self._taring = False
        response.success = not response.message
        response.message = response.message or 'all sensors are zeroed'
        return response

    def _rejection(self, controller: FeedforwardController | None) -> str:
        if controller is None:
            return 'the node is not active'
        if not controller.environment.wrenches.settings:
            return 'the node has no force-torque sensor'
        if self._taring:
            return 'another tare is in progress'
        return _not_controlling(controller)

    async def _tare(self, controller: FeedforwardController) -> str:
        """Tare all sensors; return why some rejected, empty if none did."""
        wrenches = controller.environment.wrenches
        before = wrenches.tares
        controller.tare()
        deadline = time.monotonic() + START_TIMEOUT
        while wrenches.tares == before or wrenches.taring:
            if reason := _not_controlling(controller):
                return reason
            if wrenches.tares == before and time.monotonic() > deadline:
                return 'the control did not start the tare'
            time.sleep(CHECK_INTERVAL)
            await _OtherCallbacks()
        rejections = wrenches.tare_rejections.items()
        return ', '.join(f'{name}: {reason.value}' for name, reason in rejections)


def _not_controlling(controller: FeedforwardController) -> str:
    """Return in words why the control cannot tare: its state; empty if it can."""
    state = controller.state
    return '' if state in CONTROLLING else f'the control is {state.value}'


class _OtherCallbacks:
    """Awaited in a callback, it lets the executor run other callbacks first."""

    def __await__(self) -> Generator[None, None, None]:
        yield
