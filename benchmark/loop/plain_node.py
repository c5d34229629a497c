# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The same job as a plain rclpy node: subscriptions, a timer, an executor; written with care."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from contextlib import suppress
import math
import sys
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import WrenchStamped
import numpy as np
import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from rnea_ros import RobotModel

from .inbox import COMMANDS, STATES, WRENCHES
from .motion import JOINTS, LINK
from .pace import end_with_parent
from .ticks import TickLog, log_and_others


class PlainNode(Node):
    """
    Gravity and a contact wrench, from the newest messages, at a rate.

    :param log: of its ticks
    """

    def __init__(self, log: TickLog) -> None:
        super().__init__('feedforward', automatically_declare_parameters_from_overrides=True)
        model = RobotModel.from_urdf(self.get_parameter('robot_description').value)
        self._body = model.tree.frames[LINK].body
        self._workspace = model.workspace()
        self._log = log
        self._state: Any = None
        self._wrench: Any = None
        self._trajectory: Any = None
        self._names: list[str] = []
        self._order: list[int] = []
        self._ticks = 0
        self._q = np.zeros(model.nq)
        self._force, self._moment = np.zeros(3), np.zeros(3)
        self._message = Float64MultiArray(data=array('d', bytes(8 * model.nv)))
        self._efforts = np.frombuffer(self._message.data)
        self._commands = self.create_publisher(
            Float64MultiArray, 'effort_controller/commands', COMMANDS
        )
        self._diagnostics = self.create_publisher(DiagnosticArray, '/diagnostics', 1)
        self.create_subscription(JointState, 'joint_states', self._on_state, STATES)
        self.create_subscription(WrenchStamped, 'wrench', self._on_wrench, WRENCHES)
        self.create_subscription(
            JointTrajectory, '~/joint_trajectory', self._on_trajectory, 10
        )
        period = 1.0 / self.get_parameter('rate').value
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(period, self._tick, clock=steady)
        self.create_timer(1.0, self._diagnose)

    def _on_state(self, message: Any) -> None:
        self._state = message

    def _on_wrench(self, message: Any) -> None:
        self._wrench = message.wrench

    def _on_trajectory(self, message: Any) -> None:
        self._trajectory = message

    def _tick(self) -> None:
        began = time.monotonic()
        state, wrench = self._state, self._wrench
        if state is None or wrench is None:
            return
        if state.name != self._names:
            self._names, self._order = state.name, [state.name.index(name) for name in JOINTS]
        self._q[:] = np.asarray(state.position)[self._order]
        force, torque = wrench.force, wrench.torque
        self._force[:] = force.x, force.y, force.z
        self._moment[:] = torque.x, torque.y, torque.z
        workspace = self._workspace
        workspace.clear_external_forces()
        workspace.add_external_force(self._body, self._moment, self._force)
        self._efforts[:] = workspace.gravity_torques(self._q)
        self._commands.publish(self._message)
        self._ticks += 1
        self._log.record(began, math.nan, time.monotonic() - began)

    def _diagnose(self) -> None:
        status = DiagnosticStatus(
            level=DiagnosticStatus.OK,
            name='feedforward',
            values=[KeyValue(key='ticks', value=str(self._ticks))],
        )
        message = DiagnosticArray(status=[status])
        message.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(message)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until asked to end."""
    log, others = log_and_others(arguments)
    end_with_parent()
    rclpy.init(args=others)
    executor = SingleThreadedExecutor()
    node = PlainNode(log)
    executor.add_node(node)
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        executor.spin()
    node.destroy_node()
    rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
