# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The node ``effort_watchdog``: commands zero effort when whoever commanded has fallen silent.

A process of its own, because it must outlive the one that it watches: ros2_control applies the
last command for ever. Its publisher is on the command topic from the start, so it is there beside
the publisher that it watches; it is known by the node's name, and its messages by the label
:data:`rnea_ros.watchdog.command_link.MARK`. It sends nothing as long as commands come.
"""

from __future__ import annotations

import os
import sys
import time

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
import rclpy
from rclpy.node import Node

from ..parameters import described
from ..ros import MACHINE_TIME, NodeProcess, diagnostic_array, without_shared_memory
from . import parameters
from .command_link import CommandLink
from .controller_switch import ControllerSwitch
from .loop import WatchLoop
from .parameters import Action
from .silence import SilenceMonitor, State

LEVELS = {
    State.QUIET: DiagnosticStatus.OK,
    State.WATCHING: DiagnosticStatus.OK,
    State.RAMPING: DiagnosticStatus.ERROR,
    State.ZEROING: DiagnosticStatus.ERROR,
    State.ACTED: DiagnosticStatus.ERROR,
}

ABOUT = """\
The node 'effort_watchdog': commands zero effort when whoever commanded has fallen silent, because
ros2_control applies the last command for ever. It sends nothing as long as commands come."""


class EffortWatchdog(Node):
    """
    The watchdog as a ROS 2 node; it watches in a thread of its own.

    The executor that spins this node logs, publishes diagnostics and switches controllers.

    :raises InputError: a parameter that was given at the start cannot be used
    """

    def __init__(self) -> None:
        super().__init__('effort_watchdog')
        settings = parameters.read(self)
        topic = self.resolve_topic_name(settings.command_topic)
        self._switch: ControllerSwitch | None = None
        if settings.action is Action.DEACTIVATE_CONTROLLER:
            self._switch = ControllerSwitch(self, settings.controller_manager, topic)
        link = CommandLink(self, settings.command_topic)
        self._watch = SilenceMonitor(settings.timeout, settings.ramp_duration, settings.period)
        self._ramp_duration = settings.ramp_duration
        self._told_acted = self._told_handed_back = self._told_refused = 0
        self._switched_acted = 0
        self._diagnostics = self.create_publisher(DiagnosticArray, '/diagnostics', 1)
        self.create_timer(0.1, self._follow_up, clock=MACHINE_TIME)
        self.create_timer(1.0, self._publish_diagnostics, clock=MACHINE_TIME)
        self.loop = WatchLoop(self._watch, link, settings.period)
        self.loop.start()
        self.get_logger().info(
            f'watching {topic}: zero effort after {settings.timeout} s of silence'
        )

    def _follow_up(self) -> None:
        """Log what the thread did, and take the controller away after the zeros."""
        watch, logger = self._watch, self.get_logger()
        if watch.acted > self._told_acted:
            self._told_acted = watch.acted
            efforts = ', '.join(f'{effort:.3g}' for effort in watch.last_command)
            logger.error(
                f'no command for {watch.silence:.3f} s: from [{efforts}] to zero '
                f'in {self._ramp_duration} s'
            )
        if watch.handed_back > self._told_handed_back:
            self._told_handed_back = watch.handed_back
            logger.warning(f'commands came again after {watch.silence:.3f} s: handed back')
        if watch.refused and not self._told_refused:
            self._told_refused = watch.refused
            logger.warning('a command that is empty or not finite was heard, and does not count')
        if watch.state is State.ACTED and watch.acted > self._switched_acted:
            self._switched_acted = watch.acted
            logger.error('zero effort was commanded')
            if self._switch is not None:
                self._switch.deactivate()

    def _publish_diagnostics(self) -> None:
        watch = self._watch
        values: dict[str, object] = {
            'state': watch.state.value,
            'last_command_age': f'{watch.age(time.monotonic()):.3f}',
            'acted': watch.acted,
            'handed_back': watch.handed_back,
            'refused': watch.refused,
        }
        self._diagnostics.publish(
            diagnostic_array(
                self.get_clock().now().to_msg(),
                self.get_fully_qualified_name()[1:],
                LEVELS[watch.state],
                watch.state.value,
                values,
            )
        )


def main(args: list[str] | None = None) -> int:
    """Watch until SIGINT or SIGTERM; return the exit code."""
    os.environ.update(without_shared_memory(os.environ))
    process = NodeProcess('effort_watchdog', ABOUT, described(parameters.PARAMETERS), args)
    node = process.create(EffortWatchdog)
    process.spin(node, running=lambda: node.loop.running)
    node.loop.end()
    if node.loop.failure is not None:
        node.get_logger().fatal(node.loop.failure)
    node.destroy_node()
    rclpy.try_shutdown()
    return 0 if node.loop.failure is None else 1


if __name__ == '__main__':
    sys.exit(main())
