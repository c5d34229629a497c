# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A robot that follows trajectories exactly, and can be guided, for tests of tools."""

from array import array
from collections.abc import Callable, Sequence
import time
from typing import Any

import numpy as np

from support.control.trajectory_controller import Point, sample
from support.models.robots import joint, link, robot

ARM = robot(
    link('base'), link('upper', 2.0, (0.2, 0.0, 0.0)), link('lower', 1.0, (0.1, 0.0, 0.0)),
    link('finger', 0.1), joint('shoulder', 'revolute', 'base', 'upper', axis=(0, 1, 0)),
    joint('elbow', 'revolute', 'upper', 'lower', xyz=(0.4, 0, 0), axis=(0, 1, 0)),
    joint('grip', 'prismatic', 'lower', 'finger', xyz=(0.3, 0, 0), axis=(1, 0, 0)),
)
JOINTS, POSE = ('shoulder', 'elbow'), (0.3, -0.4)
INTERVAL = 0.01  # between two joint states, s
REST = np.zeros(2)


class FollowingRobot:
    """
    A robot that follows every trajectory exactly, as a joint_trajectory_controller reads it.

    :param node: real or virtual
    :param topic: of the trajectories
    :param now: its clock, s
    """

    def __init__(
        self, node: Any, topic: str = 'arm/joint_trajectory', now: Callable[[], float] = time.time
    ) -> None:
        from sensor_msgs.msg import JointState
        from trajectory_msgs.msg import JointTrajectory

        self.trajectories: list[Any] = []
        self.position = np.array(POSE)
        self._points: list[Point] = []
        self._now, self._begin, self._due = now, now(), now()
        self._state = JointState
        self._publisher = node.create_publisher(JointState, 'joint_states', 10)
        node.create_subscription(JointTrajectory, topic, self._follow, 10)
        node.create_timer(INTERVAL, self._catch_up)

    def guide(self, *poses: Sequence[float], seconds: float) -> None:
        """Guide the robot from now on through poses, for some seconds to each."""
        self._begin = self._due
        self._points = [
            Point(seconds * number, np.array(pose), REST, REST, np.zeros(0))
            for number, pose in enumerate((self.position, *poses))
        ]

    def is_at(self, pose: Sequence[float]) -> bool:
        return bool(np.abs(self.position - pose).max() < 1e-6)

    def _follow(self, message: Any) -> None:
        self.trajectories.append(message)
        if not message.points:
            return  # rejected, as by the controller
        points = [Point(0.0, self.position, REST, REST, np.zeros(0))]
        for point in message.points:
            time = point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec
            states = (point.positions, point.velocities, point.accelerations)
            position, velocity, acceleration = map(np.array, states)
            points.append(Point(time, position, velocity, acceleration, np.zeros(0)))
        self._points = points[1:] if points[1].time == 0.0 else points
        self._begin = self._due = self._now()

    def _catch_up(self) -> None:
        """Publish every state since the last: a stall leaves nothing of the motion out."""
        while self._due < self._now():
            velocity = REST
            if self._points:
                self.position, velocity, _, _ = sample(self._points, self._due - self._begin)
            message = self._state(
                name=['grip', *JOINTS], position=array('d', [0.01, *self.position]),
                velocity=array('d', [0.0, *velocity]), effort=array('d', [0.0, 1.0, 2.0]),
            )
            stamp = message.header.stamp
            stamp.sec, stamp.nanosec = divmod(round(1e9 * self._due), 10**9)
            self._publisher.publish(message)
            self._due += INTERVAL
