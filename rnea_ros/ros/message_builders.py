# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Messages that several nodes build: times, diagnostics, trajectories."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue


def seconds(stamp: Any) -> float:
    """Return a builtin_interfaces Time or Duration in seconds."""
    return float(stamp.sec + 1e-9 * stamp.nanosec)


def set_seconds(stamp: Any, value: float) -> None:
    """Set a builtin_interfaces Time or Duration to a time, s."""
    stamp.sec, stamp.nanosec = divmod(round(1e9 * value), 1_000_000_000)


class DiagnosticsPublisher:
    """Publishes the diagnostic status of a node, or of a part of it, on ``/diagnostics``."""

    def __init__(self, node: Any, part: str = '') -> None:
        self._node = node
        self._name = ': '.join(filter(None, (node.get_fully_qualified_name()[1:], part)))
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 1)

    def publish(self, level: bytes, summary: str, values: Mapping[str, object]) -> None:
        """Publish the status: its level, a line, and values by key."""
        status = DiagnosticStatus(
            level=level, name=self._name, message=summary, hardware_id='',
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
        )
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)

    def close(self) -> None:
        """Destroy the publisher."""
        self._node.destroy_publisher(self._publisher)


def trajectory_message(
    joints: Sequence[str], times: Iterable[float], *states: Any, start_time: float = 0.0
) -> Any:
    """
    Return the message of a trajectory of N points, ``times`` from the start, s.

    :param states: positions, velocities and accelerations, each of shape (N, m)
    :param start_time: start as a stamp, s; 0 for immediately
    """
    # Imported here: the watchdog, which imports this package, does not need it.
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    message = JointTrajectory(joint_names=list(joints))
    set_seconds(message.header.stamp, start_time)
    for time, *rows in zip(times, *states, strict=True):
        positions, velocities, accelerations = (array('d', row) for row in rows)
        point = JointTrajectoryPoint(
            positions=positions, velocities=velocities, accelerations=accelerations
        )
        set_seconds(point.time_from_start, time)
        message.points.append(point)
    return message
