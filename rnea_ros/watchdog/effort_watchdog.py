# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The node ``effort_watchdog``: commands zero effort when the commanding node falls silent.

ros2_control applies the last command without end, also after its publisher has died. So the
watchdog runs in a process of its own. It sends nothing while commands come. Its publisher is on
the command topic all the time; other nodes know it by the name of the node, and its messages by
the label :data:`MARK`.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from ..errors import InputError
from ..parameters import described
from ..ros import (
    MACHINE_TIME,
    DiagnosticsPublisher,
    LoopThread,
    NodeProcess,
    PeriodicSchedule,
    PolledSubscription,
    check_topic,
    finish,
    read_settings,
    watchdog_topic,
)
from ..shared_memory import without_shared_memory
from .silence import (
    ACTING,
    MAX_JOINTS,
    PARAMETERS,
    Action,
    SilenceMonitor,
    WatchdogSettings,
    WatchState,
)

ABOUT = """\
The node 'effort_watchdog': commands zero effort when the commanding node falls silent, because
ros2_control applies the last command without end. It sends nothing while commands come."""

# Label of the dimension in a watchdog's commands; controllers ignore it. A node receives its own
# messages too; rclpy gives the sender of a message only from Kilted on.
MARK = 'effort_watchdog'

# Best effort, so that the monitored publisher never waits for the watchdog. A history of 2, so
# that a message of the watchdog does not replace one of the publisher.
RECEIVED = QoSProfile(depth=2, reliability=ReliabilityPolicy.BEST_EFFORT)

SENT = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)

# Time between the last command and the end of the publisher, s. With the publisher, a busy
# subscriber loses the messages that it has not taken yet.
LINGER = 0.5


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
        self._logged, self._switched_acted = self._monitor.counts, 0
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
        logged, self._logged = self._logged, monitor.counts
        if self._logged['acted'] > logged['acted']:
            efforts = ', '.join(f'{effort:.3g}' for effort in monitor.last_command)
            logger.error(
                f'no command for {monitor.silence:.3f} s: ramping from [{efforts}] to zero '
                f'in {self._ramp_duration} s'
            )
        if self._logged['handed_back'] > logged['handed_back']:
            logger.warning(f'commands came again after {monitor.silence:.3f} s: handed back')
        if self._logged['rejected'] and not logged['rejected']:
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
            'last_command_age': f'{monitor.age(time.monotonic()):.3f}', **monitor.counts,
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


class CommandLink:
    """
    A subscription and a publisher on the command topic.

    The publisher exists from the start: discovery takes longer than a robot may go without zeros.
    """

    def __init__(self, node: Any, topic: str) -> None:
        self._commands: PolledSubscription[Float64MultiArray] = PolledSubscription(
            node, Float64MultiArray, topic, RECEIVED
        )
        self._publishers = [
            node.create_publisher(Float64MultiArray, name, SENT)
            for name in (topic, watchdog_topic(topic))
        ]
        self._message = Float64MultiArray()

    def take(self) -> list[float] | None:
        """Return the newest untaken command of another node; None if there is none."""
        newest = None
        for message in self._commands.take_all():
            if not any(dimension.label == MARK for dimension in message.layout.dim):
                newest = message
        return None if newest is None else newest.data[: MAX_JOINTS + 1].tolist()

    def send(self, command: list[float]) -> None:
        """Publish a marked command, and a copy for the monitored node."""
        size = len(command)
        self._message.layout.dim = [MultiArrayDimension(label=MARK, size=size, stride=size)]
        self._message.data = command
        for publisher in self._publishers:
            publisher.publish(self._message)


class WatchLoop(LoopThread):
    """Takes commands, and sends its own after a silence; ticks are a period apart, s."""

    def __init__(self, monitor: SilenceMonitor, link: CommandLink, period: float) -> None:
        super().__init__('watch_loop')
        self._monitor, self._link = monitor, link
        self._schedule = PeriodicSchedule(period)

    def stop(self) -> None:
        """End the thread; a ramp in progress ends in zeros at once."""
        self._quit = True
        self._schedule.cancel()
        super().stop()

    def _loop(self) -> None:
        self._schedule.start()
        while not self._quit:
            self._schedule.wait()
            now = time.monotonic()
            received = self._link.take()
            if received is not None:
                self._monitor.receive(received, now)
            command = self._monitor.command_at(now)
            if command is not None:
                self._link.send(command)
        if self._monitor.state in ACTING:
            self._link.send(self._monitor.zeros())
            time.sleep(LINGER)


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
        self._request_type, self._logger = SwitchController.Request, node.get_logger()
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
