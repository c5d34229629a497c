# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What the teleoperation receives of one arm: joint states and external efforts."""

from __future__ import annotations

import math

import numpy as np

from ..feedforward import JointBounds, JointStateMonitor, Reason
from ..feedforward.measured import JointLayouts
from ..feedforward.stamps import SampleMonitor
from ..messages import JointStateSample

MAX_VALUE = 1e6  # greatest absolute value of positions and efforts: no arm has larger ones


class Arm(SampleMonitor):
    """
    Joint states of one arm, and a monitor of its external efforts; messages count whole or not.

    The node of an arm publishes external efforts only while it commands its control law. So they
    also show that it is active. A message counts up to an age of ``timeout``, s. Positions that
    need more than ``max_velocity``, rad/s or m/s, are rejected.
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
