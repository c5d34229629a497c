# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""ROS client of the demo: commands the feedforward node and records its topics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
import time
from typing import Any

from builtin_interfaces.msg import Duration, Time
from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
from rcl_interfaces.srv import SetParametersAtomically
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ...arrays import Array
from ...errors import RneaError
from ...feedforward.trajectory import TrajectoryPoint
from ...node.outputs import TERMS
from ...ros import PolledSubscription, seconds

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
RECORD_INTERVAL = 0.01
"""Interval of the recorded samples, s."""

TIMEOUT = 30.0
"""Timeout of every wait, s."""


class DemoError(RneaError):
    """The demo cannot continue."""


@dataclass
class Recording:
    """
    Recorded joint states and effort terms.

    :param stamps: stamps of the joint states, wall time, s
    :param positions: positions of the commanded joints for each stamp, shape (m,), rad or m
    :param terms: stamp and efforts of each message by term, s and N m or N
    """

    stamps: list[float] = field(default_factory=list)
    positions: list[Array] = field(default_factory=list)
    terms: dict[str, list[tuple[float, Array]]] = field(default_factory=dict)


class DemoClient:
    """
    The ROS node of the demo.

    :param joints: names of the commanded joints
    :param check_processes: raises an error if a process of the demo has ended
    """

    def __init__(self, joints: Sequence[str], check_processes: Callable[[], None]) -> None:
        self._joints = tuple(joints)
        self._check_processes = check_processes
        self._node = rclpy.create_node('demo')
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self._states: PolledSubscription[Any] = PolledSubscription(
            self._node, JointState, 'joint_states', NEWEST
        )
        self._terms: dict[str, PolledSubscription[Any]] = {
            name: PolledSubscription(
                self._node, JointState, f'feedforward/terms/{name}', NEWEST
            )
            for name in TERMS
        }
        self._trajectories = self._node.create_publisher(
            JointTrajectory, 'feedforward/joint_trajectory', 1
        )
        self._parameters = self._node.create_client(
            SetParametersAtomically, 'feedforward/set_parameters_atomically'
        )
        self._node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 1)
        self.diagnostics: dict[str, str] = {}

    def close(self) -> None:
        """Destroy the node."""
        self._executor.shutdown()
        self._node.destroy_node()

    def wait_until(self, what: str, condition: Callable[[], bool]) -> None:
        """
        Spin until a condition holds.

        :param what: description of the condition, for the error
        :param condition: ends the wait
        :raises DemoError: the condition did not hold in time
        """
        deadline = time.monotonic() + TIMEOUT
        while not condition():
            if time.monotonic() > deadline:
                raise DemoError(f'{what}: not within {TIMEOUT:g} s')
            self._check_processes()
            self._executor.spin_once(timeout_sec=0.05)

    def wait_until_active(self) -> None:
        """Wait until the node controls the arm and subscribes to trajectories."""
        self.wait_until(
            'the node is active',
            lambda: self.diagnostics.get('state') in ('active', 'degraded'),
        )
        self.wait_until(
            'the node subscribes to trajectories',
            lambda: self._trajectories.get_subscription_count() > 0,
        )

    def set_law(self, mode: str, kp: Array, kd: Array) -> None:
        """
        Change the control law and its gains in one request.

        :param mode: name of the control law
        :param kp: proportional gains, shape (m,)
        :param kd: derivative gains, shape (m,)
        :raises DemoError: the node rejects the change
        """
        values = {'mode': mode, 'gains.kp': kp.tolist(), 'gains.kd': kd.tolist()}
        request = SetParametersAtomically.Request(
            parameters=[Parameter(k, value=v).to_parameter_msg() for k, v in values.items()]
        )
        self.wait_until('the parameter service', self._parameters.service_is_ready)
        future = self._parameters.call_async(request)
        self.wait_until(f'mode {mode}', future.done)
        result = future.result().result
        if not result.successful:
            raise DemoError(f'mode {mode} was rejected: {result.reason}')

    def send(self, points: Sequence[TrajectoryPoint], start_time: float = 0.0) -> None:
        """
        Publish a trajectory.

        :param points: points for the commanded joints
        :param start_time: start as a stamp, s; 0 for immediately
        """
        message = JointTrajectory(joint_names=list(self._joints))
        message.header.stamp = _ros_time(Time, start_time)
        for point in points:
            message.points.append(
                JointTrajectoryPoint(
                    positions=list(point.positions),
                    velocities=list(point.velocities),
                    accelerations=list(point.accelerations),
                    time_from_start=_ros_time(Duration, point.time),
                )
            )
        self._trajectories.publish(message)

    def record(
        self, until: float, progress: Callable[[Recording], None] | None = None
    ) -> Recording:
        """
        Record joint states and effort terms.

        :param until: end of the recording, wall time, s
        :param progress: called twice a second with the recording
        """
        recording = Recording(terms={name: [] for name in self._terms})
        next_progress = time.time()
        while time.time() < until:
            self._check_processes()
            self._executor.spin_once(timeout_sec=0.0)
            self._sample(recording)
            if progress is not None and time.time() >= next_progress and recording.stamps:
                progress(recording)
                next_progress += 0.5
            time.sleep(RECORD_INTERVAL)
        return recording

    def _sample(self, recording: Recording) -> None:
        state = self._states.take()
        if state is not None:
            recording.stamps.append(seconds(state.header.stamp))
            indices = [state.name.index(name) for name in self._joints]
            recording.positions.append(np.array(state.position)[indices])
        for name, subscription in self._terms.items():
            term = subscription.take()
            if term is not None:
                row = (seconds(term.header.stamp), np.array(term.effort))
                recording.terms[name].append(row)

    def _on_diagnostics(self, message: Any) -> None:
        for status in message.status:
            if status.name == 'feedforward: control':
                self.diagnostics = {value.key: value.value for value in status.values}


def _ros_time(kind: Any, value: float) -> Any:
    whole = int(value)
    return kind(sec=whole, nanosec=min(round((value - whole) * 1e9), 999_999_999))
