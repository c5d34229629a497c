# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A loop that only receives and sends: states and wrench in, positions out, at a rate."""

from __future__ import annotations

from collections.abc import Sequence
import sys
import time

from geometry_msgs.msg import WrenchStamped
import rclpy
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from .inbox import COMMANDS, STATES, WRENCHES, Inbox
from .pace import asked_to_end, pace
from .ticks import log_and_others


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until asked to end."""
    log, others = log_and_others(arguments)
    end = asked_to_end()
    rclpy.init(args=others, signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node(
        'feedforward',
        automatically_declare_parameters_from_overrides=True,
        start_parameter_services=False,
    )
    states = Inbox(node, JointState, 'joint_states', STATES)
    wrenches = Inbox(node, WrenchStamped, 'wrench', WRENCHES)
    commands = node.create_publisher(Float64MultiArray, 'effort_controller/commands', COMMANDS)
    message = Float64MultiArray()
    for began, lateness in pace(1.0 / node.get_parameter('rate').value, end):
        state = states.newest()
        wrenches.newest()
        if state is not None:
            message.data = state.position
        if message.data:
            commands.publish(message)
        log.record(began, lateness, time.monotonic() - began)
    node.destroy_node()
    rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
