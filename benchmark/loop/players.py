# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The loops that are measured: this node, a plain rclpy node, a loop that only receives and sends.

``python -m benchmark.loop.players NAME LOG CAPACITY --ros-args ...`` runs one until SIGTERM.
"""

from __future__ import annotations

from array import array
from contextlib import suppress
from functools import partial
from pathlib import Path
import signal
import sys
import threading
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import WrenchStamped
import numpy as np
import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from .ticks import TickLog, pace, take

# Each subscribes and publishes as the node does.
STATES = QoSProfile(depth=16, reliability=ReliabilityPolicy.BEST_EFFORT)
WRENCHES = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
COMMANDS = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
TOPIC = 'effort_controller/commands'


def this_node(log: TickLog, arguments: list[str]) -> None:
    """Run the node ``feedforward`` as it is; the ticks that it records go to the log too."""
    from rnea_ros.node import feedforward_node
    from rnea_ros.node.timing import LoopStatistics

    record = LoopStatistics.record

    def record_both(statistics: LoopStatistics, lateness: float, compute: float) -> None:
        record(statistics, lateness, compute)
        log.record(time.monotonic() - compute, lateness, compute)

    LoopStatistics.record = record_both  # type: ignore[method-assign, assignment]
    feedforward_node.main(arguments)


def bare_loop(log: TickLog, arguments: list[str]) -> None:
    """Receive states and wrench, send positions; without messages it only sleeps."""
    end = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: end.set())
    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node('feedforward', automatically_declare_parameters_from_overrides=True)
    states = node.create_subscription(JointState, 'joint_states', print, STATES)
    wrenches = node.create_subscription(WrenchStamped, 'wrench', print, WRENCHES)
    commands = node.create_publisher(Float64MultiArray, TOPIC, COMMANDS)
    message = Float64MultiArray()
    for began, lateness in pace(1.0 / node.get_parameter('rate').value):
        if end.is_set():
            break
        for state, _ in take(states, JointState):
            message.data = state.position
        for _ in take(wrenches, WrenchStamped):
            pass
        if message.data:
            commands.publish(message)
        log.record(began, lateness, time.monotonic() - began)
    node.destroy_node()


class PlainNode(Node):
    """Gravity and a contact wrench, from the newest messages, by a timer on an executor."""

    def __init__(self, log: TickLog) -> None:
        super().__init__('feedforward', automatically_declare_parameters_from_overrides=True)
        from rnea_ros import RobotModel

        model = RobotModel.from_urdf(self.get_parameter('robot_description').value)
        link = self.get_parameter('wrench_inputs.hand.link').value
        self._joints = self.get_parameter('joints').value
        self._body = model.tree.frames[link].body
        self._workspace = model.workspace()
        self._log = log
        self._newest: dict[Any, Any] = {}
        self._names: list[str] = []
        self._order: list[int] = []
        self._ticks = 0
        self._q = np.zeros(model.nq)
        self._force, self._moment = np.zeros(3), np.zeros(3)
        self._message = Float64MultiArray(data=array('d', bytes(8 * model.nv)))
        self._efforts = np.frombuffer(self._message.data)
        self._commands = self.create_publisher(Float64MultiArray, TOPIC, COMMANDS)
        self._diagnostics = self.create_publisher(DiagnosticArray, '/diagnostics', 1)
        for kind, topic, qos in (
            (JointState, 'joint_states', STATES), (WrenchStamped, 'wrench', WRENCHES),
            (JointTrajectory, '~/joint_trajectory', 10),
        ):
            self.create_subscription(kind, topic, partial(self._newest.__setitem__, kind), qos)
        self._timer = self.create_timer(
            1.0 / self.get_parameter('rate').value, self._tick,
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )
        self._due = time.monotonic()
        self.create_timer(1.0, self._diagnose)

    def _tick(self) -> None:
        began = time.monotonic()
        lateness, self._due = began - self._due, began + 1e-9 * self._timer.time_until_next_call()
        state, wrench = map(self._newest.get, (JointState, WrenchStamped))
        if state is None or wrench is None:
            return
        if state.name != self._names:
            self._names = state.name
            self._order = [state.name.index(name) for name in self._joints]
        self._q[:] = np.asarray(state.position)[self._order]
        force, torque = wrench.wrench.force, wrench.wrench.torque
        self._force[:] = force.x, force.y, force.z
        self._moment[:] = torque.x, torque.y, torque.z
        workspace = self._workspace
        workspace.clear_external_forces()
        workspace.add_external_force(self._body, self._moment, self._force)
        self._efforts[:] = workspace.gravity_torques(self._q)
        self._commands.publish(self._message)
        self._ticks += 1
        self._log.record(began, lateness, time.monotonic() - began)

    def _diagnose(self) -> None:
        status = DiagnosticStatus(
            level=DiagnosticStatus.OK, name='feedforward',
            values=[KeyValue(key='ticks', value=str(self._ticks))],
        )
        message = DiagnosticArray(status=[status])
        message.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(message)


def plain_node(log: TickLog, arguments: list[str]) -> None:
    """Run the plain node."""
    rclpy.init(args=arguments)
    executor = SingleThreadedExecutor()
    node = PlainNode(log)
    executor.add_node(node)
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        executor.spin()
    node.destroy_node()


PLAYERS = {play.__name__: play for play in (this_node, plain_node, bare_loop)}

if __name__ == '__main__':
    name, path, capacity, *others = sys.argv[1:]
    PLAYERS[name](TickLog(Path(path), int(capacity)), others)
    rclpy.try_shutdown()
