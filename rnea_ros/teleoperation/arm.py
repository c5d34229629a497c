# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What the teleoperation knows of an arm: limits, inertia, joint states, external efforts."""

from __future__ import annotations

from collections.abc import Callable
import math

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..feedforward import JointBounds, JointStateMonitor, Reason
from ..feedforward.measured import JointLayouts
from ..feedforward.motion import JointRules
from ..feedforward.stamps import SampleMonitor
from ..messages import JointStateSample
from ..robot import RobotModel

MAX_VALUE = 1e6  # greatest absolute value of positions and efforts: no arm has larger ones


class Arm(SampleMonitor):
    """
    Joint states of one arm, and a monitor of its external efforts; messages count whole or not.

    The node of an arm publishes external efforts only while it commands its control law: they also
    show that it is active. A message counts up to an age of ``timeout``, s. Positions that need
    more than ``max_velocity``, rad/s or m/s, are rejected.
    """

    def __init__(
        self, joints: tuple[str, ...], timeout: float, max_velocity: float = math.inf
    ) -> None:
        super().__init__()
        m = len(joints)
        bounds = JointBounds.of_speeds(np.full(m, max_velocity), timeouts=timeout)
        self.states = JointStateMonitor(joints, bounds, differentiate_velocity=True)
        self.effort = np.zeros(m)  # N m or N; positive is what the environment does
        self._timeout = timeout
        self._layouts = JointLayouts(joints)

    def take_effort(self, sample: JointStateSample, received: float) -> None:
        """Take external efforts, received at a monotonic time, s."""
        layout, effort = self._layouts.of(sample.names), self.effort.copy()
        if layout.duplicate:
            self.reject(Reason.DUPLICATE_JOINT)
        elif layout.in_robot.size < effort.size or sample.effort.size != len(layout.names):
            self.reject(Reason.WRONG_SIZE)
        else:
            effort[layout.in_robot] = sample.effort[layout.in_message]
            if (np.abs(effort) <= MAX_VALUE).all():  # false for NaN
                self.effort, self._received = effort, received
            else:
                self.reject(Reason.NOT_FINITE)

    def stale(self, now: float) -> bool:
        """Return whether joint states are missing or too old."""
        return self.states.age(now) > self._timeout

    def inactive(self, now: float) -> bool:
        """Return whether the arm's node does not command its control law."""
        return self.age(now) > self._timeout

    @property
    def jumped(self) -> bool:
        """Whether the newest positions jumped, or are impossible."""
        return self.states.jumped or bool((np.abs(self.states.position) > MAX_VALUE).any())


def follower_rules(model: RobotModel, joints: tuple[str, ...]) -> JointRules:
    """Return the limits of the follower's joints; an InputError names an unusable one."""
    numbers = _numbers('joints', model, joints)
    speeds = model.velocity_limits[numbers]
    return JointRules(
        joints, model.position_lower[numbers], model.position_upper[numbers],
        model.continuous[numbers],
        # In many URDFs a velocity limit of 0 means unknown.
        np.where(speeds > 0.0, speeds, np.inf),
    )


def leader_inertia(model: RobotModel, joints: tuple[str, ...]) -> Callable[[Array], Array]:
    """Return a function of m positions: their mass matrix, with other joints at neutral."""
    numbers = _numbers('leader_joints', model, joints)
    q, block = model.neutral_position, np.ix_(numbers, numbers)

    def inertia(position: Array) -> Array:
        q[numbers] = position
        matrix: Array = model.mass_matrix(q)[block]
        return matrix

    return inertia


def _numbers(parameter: str, model: RobotModel, joints: tuple[str, ...]) -> list[int]:
    """Return the indices of joints in a model."""
    for name in joints:
        if name not in model.joint_names:
            raise InputError(
                parameter,
                f'{name!r} is not a joint of {model.name!r}; '
                f'it has {", ".join(model.joint_names)}',
            )
    return [model.joint_names.index(name) for name in joints]
