# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The node ``effort_watchdog``: commands zero effort when the commanding node falls silent.

ros2_control applies the last command without end, also after its publisher has died. So the
watchdog runs in a process of its own. It sends nothing while commands come. Its publisher is on
the command topic all the time; other nodes know it by the name of the node, and its messages by
the label :data:`rnea_ros.watchdog.loop.MARK`.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node

from ..errors import InputError
from ..parameters import described
from ..ros import (
    MACHINE_TIME,
    DiagnosticsPublisher,
    NodeProcess,
    check_topic,
    finish,
    read_settings,
)
from ..shared_memory import without_shared_memory
from .loop import CommandLink, WatchLoop
from .silence import PARAMETERS, Action, SilenceMonitor, WatchdogSettings, WatchState

ABOUT = """\
The node 'effort_watchdog': commands zero effort when the commanding node falls silent, because
ros2_control applies the last command without end. It sends nothing while commands come."""


class EffortWatchdog(Node):
    """
    The watchdog as a ROS 2 node; the commands are monitored in a thread of its own.

    The executor that spins this node logs, publishes diagnostics and deactivates the controller.
    """

    def __init__(self) -> None:
        super().__init__('effort_watchdog')
        settings = read_settings(self, WatchdogSettings)
        for name in ('command_topic', 'controller_manager'):
            check_topic(self, name, getattr(settings, name))
        topic = self.resolve_topic_name(settings.command_topic)
        self._switch: ControllerSwitch | None = None
        if settings.action is Action.DEACTIVATE_CONTROLLER:
            self._switch = ControllerSwitch(self, settings.controller_manager, topic)
        link = CommandLink(self, settings.command_topic)
        self._monitor = SilenceMonitor(settings.timeout, settings.ramp_duration, settings.period)
        self._ramp_duration = settings.ramp_duration
        self._logged_acted = self._logged_handed_back = self._logged_rejected = 0
        self._switched_acted = 0
        self._diagnostics = DiagnosticsPublisher(self)
        self.create_timer(0.1, self._follow_up, clock=MACHINE_TIME)
        self.create_timer(1.0, self._publish_diagnostics, clock=MACHINE_TIME)
        self.loop = WatchLoop(self._monitor, link, settings.period)
        self.loop.start()
        self.get_logger().info(
            f'watching {topic}: zero effort after {settings.timeout} s of silence'
        )

    def _follow_up(self) -> None:
        """Log the thread's actions, and deactivate the controller after the zeros."""
        monitor, logger = self._monitor, self.get_logger()
        if monitor.acted > self._logged_acted:
            self._logged_acted = monitor.acted
            efforts = ', '.join(f'{effort:.3g}' for effort in monitor.last_command)
            logger.error(
                f'no command for {monitor.silence:.3f} s: ramping from [{efforts}] to zero '
                f'in {self._ramp_duration} s'
            )
        if monitor.handed_back > self._logged_handed_back:
            self._logged_handed_back = monitor.handed_back
            logger.warning(f'commands came again after {monitor.silence:.3f} s: handed back')
        if monitor.rejected and not self._logged_rejected:
            self._logged_rejected = monitor.rejected
            logger.warning('rejected a command that is empty or not finite')
        if monitor.state is WatchState.ACTED and monitor.acted > self._switched_acted:
            self._switched_acted = monitor.acted
            logger.error('zero effort was commanded')
            if self._switch is not None:
                self._switch.deactivate()

    def _publish_diagnostics(self) -> None:
        monitor = self._monitor
        values: dict[str, object] = {
            'state': monitor.state.value,
            'last_command_age': f'{monitor.age(time.monotonic()):.3f}',
            'acted': monitor.acted,
            'handed_back': monitor.handed_back,
            'rejected': monitor.rejected,
        }
        calm = monitor.state in (WatchState.QUIET, WatchState.WATCHING)
        level = DiagnosticStatus.OK if calm else DiagnosticStatus.ERROR
        self._diagnostics.publish(level, monitor.state.value, values)


def main(args: list[str] | None = None) -> int:
    """Run until a signal; return the exit code."""
    os.environ.update(without_shared_memory(os.environ))
    process = NodeProcess('effort_watchdog', ABOUT, described(PARAMETERS), args)
    node = process.create(EffortWatchdog)
    process.spin(node, running=lambda: node.loop.running)
    return finish(node.loop, node)


class ControllerSwitch:
    """
    Deactivates the controller of a command topic, ``.../<controller>/commands``.

    A deactivated controller leaves its last effort applied: zeros must come first.
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


if __name__ == '__main__':
    sys.exit(main())
