# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What acts on the simulated robot from outside: a push on a link, a guiding hand."""

from __future__ import annotations

import math

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..feedforward.motion import JointRules, Trajectory, TrajectoryRequest, compile_trajectory
from ..robot import Wrench
from .physics import SimulatedRobot

BANDWIDTH = 50.0  # greatest natural frequency of a spring of the hand and the joint, rad/s
DAMPING_TIME = 0.2  # ratio of the hand's damping to its stiffness, s
STRENGTH = 0.5  # greatest effort of the hand, as a share of the joint's effort limit
UNKNOWN_LIMIT = 10.0  # stands for an unknown effort limit, N m or N


class ScheduledPush:
    """Pushes a link from ``start``, s after the brakes open, for a duration, s."""

    def __init__(
        self, robot: SimulatedRobot, link: str, wrench: Wrench, start: float, duration: float
    ) -> None:
        for name, value in (('start', start), ('duration', duration)):
            if math.isnan(value) or value < 0.0:
                raise InputError(f'push {name}', f'{value} s is not a time of at least 0')
        # Raise errors in the arguments now, not at the start of the push.
        robot.apply_push(link, wrench)
        robot.apply_push(link, None)
        self._robot = robot
        self._link = link
        self._wrench = wrench
        self._start = start
        self._end = start + duration
        self._opened = math.inf
        self._pushing = False

    def update(self) -> None:
        """Start or end the push when due; call this before every step."""
        if self._robot.braked:
            return
        self._opened = min(self._opened, self._robot.time)
        due = self._start <= self._robot.time - self._opened < self._end
        if due != self._pushing:
            self._robot.apply_push(self._link, self._wrench if due else None)
            self._pushing = due


class ScriptedHand:
    """
    Guides joints along a path, by springs and dampers.

    ::

        efforts = stiffness (q_path - q) + damping (qd_path - qd), each at most max_effort.

    The stiffness is the effort limit per rad or m, and less for small inertia. ``efforts``, shape
    (n,), N m or N, are those of the present step.
    """

    def __init__(self, robot: SimulatedRobot) -> None:
        n = len(robot.joint_names)
        limits = np.array([limit.effort for limit in robot.limits])
        limits = np.where(np.isfinite(limits) & (limits > 0.0), limits, UNKNOWN_LIMIT)
        # Stable in the explicit steps of the physics, however small the inertia.
        self._stiffness = np.minimum(limits, BANDWIDTH**2 * robot.inertia)
        self._damping = DAMPING_TIME * self._stiffness
        self._max_effort = STRENGTH * limits
        self._rules = JointRules(
            robot.joint_names, np.full(n, -np.inf), np.full(n, np.inf), np.zeros(n, dtype=bool),
            np.full(n, np.inf), start_tolerance=math.inf, allow_partial_joints_goal=True,
        )
        self._robot = robot
        self._path: tuple[Trajectory, Array] | None = None
        self._followed: Trajectory | None = None
        self._begin = 0.0
        self.efforts = np.zeros(n)

    def guide(self, request: TrajectoryRequest) -> None:
        """
        Guide the robot once the brakes are open; a trajectory without points releases it.

        Joints that the trajectory leaves out are free. The last point is held.
        """
        if request.is_cancel:
            self._path = None
            return
        position, velocity = self._robot.motion
        path = compile_trajectory(
            request, self._rules, now=request.start_time or 0.0, position=position,
            velocity=np.zeros_like(velocity),
        )
        held = np.isin(self._robot.joint_names, request.joint_names).astype(np.float64)
        self._path = path.as_trajectory(), held

    def update(self) -> None:
        """Exert the efforts of the next step; call this before every step."""
        path, efforts = self._path, np.zeros_like(self.efforts)
        if path is None and not self.efforts.any():
            return
        if path is not None and not self._robot.braked:
            trajectory, held = path
            if trajectory is not self._followed:
                self._followed, self._begin = trajectory, self._robot.time
            wanted = trajectory.state(self._robot.time - self._begin)
            position, velocity = self._robot.motion
            efforts = held * np.clip(
                self._stiffness * (wanted.position - position)
                + self._damping * (wanted.velocity - velocity),
                -self._max_effort, self._max_effort,
            )
        self.efforts = efforts
        self._robot.apply_efforts(efforts)
