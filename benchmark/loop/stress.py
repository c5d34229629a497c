# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Load beside a loop: busy processes, trajectories, parameter calls, and subscribers to all topics.

``python -m benchmark.loop.stress`` is all but the busy processes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
import os
from pathlib import Path
from typing import Any

from builtin_interfaces.msg import Duration
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.srv import SetParameters
import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from .. import BenchmarkError
from .arm import HARMLESS, JOINTS, POSE
from .processes import Child

CALL_RATE = 50.0  # Hz
INTERVAL = 5.0  # between two trajectories, s
POINTS = 10_000  # of a trajectory, 1 ms apart
ANSWERED = 'parameter calls are answered'


@contextmanager
def stress(directory: Path) -> Iterator[None]:
    """Run the load until the block ends; BenchmarkError if the node answered no call."""
    with ExitStack() as stack:
        traffic = Child(directory / 'traffic.log', '-m', __name__)
        children = [stack.enter_context(traffic), *(
            stack.enter_context(Child(directory / f'busy{core}.log', '-c', 'while True: pass'))
            for core in os.sched_getaffinity(0)
        )]
        yield
        for child in children:
            child.check()
        if ANSWERED not in traffic.output:
            raise BenchmarkError(f'no parameter call was answered:\n{traffic.output}')


def still_trajectory() -> JointTrajectory:
    """Return a trajectory of many points that holds a pose: it changes no command."""
    still = array('d', [0.0] * len(JOINTS))
    points = [
        JointTrajectoryPoint(
            positions=array('d', POSE), velocities=still, accelerations=still,
            time_from_start=Duration(sec=k // 1000, nanosec=k % 1000 * 1_000_000),
        )
        for k in range(POINTS)
    ]
    return JointTrajectory(joint_names=list(JOINTS), points=points)


class Traffic:
    """Trajectories, parameter calls and subscriptions beside a running control."""

    def __init__(self, node: Any) -> None:
        from rnea_ros.node.publishers import NAMES

        self._client = node.create_client(SetParameters, 'feedforward/set_parameters')
        self._pending: Any = None
        self._calls = 0
        node.create_subscription(DiagnosticArray, '/diagnostics', lambda _: None, 10)
        for term in NAMES:
            node.create_subscription(JointState, f'feedforward/terms/{term}', lambda _: None, 10)
        publisher = node.create_publisher(JointTrajectory, 'feedforward/joint_trajectory', 1)
        message = still_trajectory()
        node.create_timer(INTERVAL, lambda: publisher.publish(message))
        node.create_timer(1.0 / CALL_RATE, self._call)

    def _call(self) -> None:
        """Set the parameter, unless the answer to the call before is missing."""
        if self._pending is not None and self._pending.done() and self._calls == 1:
            print(ANSWERED, flush=True)
        if self._client.service_is_ready() and (self._pending is None or self._pending.done()):
            self._calls += 1
            parameter = Parameter(HARMLESS, value=[0.05 + 0.01 * (self._calls % 2)])
            self._pending = self._client.call_async(
                SetParameters.Request(parameters=[parameter.to_parameter_msg()])
            )


if __name__ == '__main__':
    rclpy.init()
    node = rclpy.create_node('traffic', start_parameter_services=False)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    traffic = Traffic(node)
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        executor.spin()
    node.destroy_node()
    rclpy.try_shutdown()
