# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The least that rclpy can do with a state: wait for it, take it, publish its positions."""

from __future__ import annotations

from collections.abc import Sequence
import math
import sys
import time

import rclpy
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from .inbox import COMMANDS, STATES, Inbox
from .pace import asked_to_end
from .ticks import log_and_others

PATIENCE_NS = 100_000_000
"""How long one wait lasts at most, ns."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until asked to end."""
    log, others = log_and_others(arguments)
    end = asked_to_end()
    rclpy.init(args=others, signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node('feedforward', start_parameter_services=False)
    states = Inbox(node, JointState, 'joint_states', STATES)
    commands = node.create_publisher(Float64MultiArray, 'effort_controller/commands', COMMANDS)
    message = Float64MultiArray()
    wait_set = rclpy_implementation.WaitSet(1, 0, 0, 0, 0, 0, node.context.handle)
    while not end.is_set():
        wait_set.clear_entities()
        wait_set.add_subscription(states.subscription.handle)
        wait_set.wait(PATIENCE_NS)
        began = time.monotonic()
        state = states.newest()
        if state is not None:
            message.data = state.position
            commands.publish(message)
            log.record(began, math.nan, time.monotonic() - began)
    node.destroy_node()
    rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
