# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Calls the node's parameter services fifty times a second, and subscribes to all its topics."""

from __future__ import annotations

from collections.abc import Sequence
import sys
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.srv import GetParameters, SetParameters
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from rnea_ros.node.publishers import NAMES

from .pace import asked_to_end
from .parameters import HARMLESS

CALL_RATE = 50.0
"""Hz; every other call sets, the others get."""

PATIENCE = 50
"""After so many calls a question without an answer is given up."""


class Disturber:
    """
    Parameter calls and subscriptions beside a running control.

    :param node: a node of this process
    """

    def __init__(self, node: Any) -> None:
        self._getting = node.create_client(GetParameters, 'feedforward/get_parameters')
        self._setting = node.create_client(SetParameters, 'feedforward/set_parameters')
        self._pending: Any = None
        self._calls = 0
        self._waited = 0
        self.answers = 0
        node.create_subscription(DiagnosticArray, '/diagnostics', lambda _: None, 10)
        for term in NAMES:
            node.create_subscription(
                JointState, f'feedforward/terms/{term}', lambda _: None, 10
            )
        node.create_timer(1.0 / CALL_RATE, self._call)

    def _call(self) -> None:
        if self._pending is not None:
            self._waited += 1
            if not self._pending.done() and self._waited < PATIENCE:
                return
            self.answers += self._pending.done()
            self._pending = None
        if not (self._getting.service_is_ready() and self._setting.service_is_ready()):
            return
        self._calls += 1
        self._waited = 0
        if self._calls % 2:
            self._pending = self._getting.call_async(GetParameters.Request(names=[HARMLESS]))
        else:
            value = [0.05 + 0.01 * (self._calls % 4)]
            request = SetParameters.Request(
                parameters=[Parameter(HARMLESS, value=value).to_parameter_msg()]
            )
            self._pending = self._setting.call_async(request)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until asked to end."""
    end = asked_to_end()
    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node('disturber', start_parameter_services=False)
    disturber = Disturber(node)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    print('ready', flush=True)
    while not end.is_set():
        executor.spin_once(timeout_sec=0.1)
    print(f'answers {disturber.answers}', flush=True)
    node.destroy_node()
    rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
