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
from ..feedforward import FeedforwardController, State
from .configuration import Configuration
from .inputs import Control

CHECK_INTERVAL = 0.01  # time between two checks whether the tare has ended, s
START_TIMEOUT = 1.0  # longest time from the request until the tare starts, s


class TareService:
    """
    Tares in the active control, or without a control while the node is inactive.

    A client would wait without end for a service that is destroyed before its answer. So the
    service stays, and rejects while the node is not configured.
    """

    def __init__(
        self, node: Any, configuration: Callable[[], Configuration | None],
        controller: Callable[[], FeedforwardController | None],
    ) -> None:
        self._node, self._configuration, self._controller = node, configuration, controller
        self._taring = False
        # A callback group of its own: other callbacks go on during a tare.
        node.create_service(
            Trigger, '~/tare', self._on_tare, callback_group=ReentrantCallbackGroup()
        )

    async def _on_tare(self, _: Any, response: Any) -> Any:
        configuration = self._configuration()
        if configuration is None:
            response.message = 'the node is not configured'
        elif not configuration.wrenches:
            response.message = 'the node has no force-torque sensor'
        elif self._taring:
            response.message = 'another tare is in progress'
        else:
            self._taring = True
            try:
                response.message = await self._tare(configuration)
            except Exception as error:
                self._node.get_logger().error(traceback.format_exc())
                response.message = f'internal error: {one_line(error)}'
            finally:
                self._taring = False
        response.success = not response.message
        response.message = response.message or 'all sensors are zeroed'
        return response

    async def _tare(self, configuration: Configuration) -> str:
        """Tare all sensors; return why some rejected, empty if none did."""
        active = self._controller()
        idle = Control(configuration) if active is None else None
        controller = active if idle is None else idle.controller
        assert controller is not None
        wrenches = controller.wrenches
        before, requested, deadline = wrenches.tares, False, time.monotonic() + START_TIMEOUT
        while wrenches.tares == before or wrenches.taring:
            if controller.state is State.STOPPED or controller.snapshot.error is not None:
                return f'the control is {controller.state.value}'
            if self._controller() is not active or self._configuration() is not configuration:
                return 'the node was activated or cleaned up'
            late = time.monotonic() > deadline
            ready = idle is None or idle.step_unpermitted()
            if not requested and (ready or late):
                controller.tare()
                requested, deadline = True, time.monotonic() + START_TIMEOUT
            elif wrenches.tares == before and late:
                return 'the control did not start the tare'
            time.sleep(CHECK_INTERVAL)
            await _OtherCallbacks()
        rejections = wrenches.tare_rejections.items()
        return ', '.join(f'{name}: {reason.value}' for name, reason in rejections)


class _OtherCallbacks:
    """Awaited in a callback, it lets the executor run other callbacks first."""

    def __await__(self) -> Generator[None, None, None]:
        yield
