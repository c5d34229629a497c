# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""An exciting motion of the demo's arm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import time

import numpy as np

from ...arrays import Array
from ...feedforward.trajectory import TrajectoryPoint
from ...identification import excitation
from ...robot import RobotModel
from .arm import Arm

DURATION = 30.0
"""Duration of the motion, s: three periods."""

SEARCH = 15.0
"""Processor time for the search, s."""


@dataclass(frozen=True)
class ExcitingMotion:
    """
    An exciting motion.

    :param motion: motion of all joints of the model
    :param columns: numbers of the commanded joints
    """

    motion: excitation.RestToRestMotion
    columns: list[int]

    @classmethod
    def search(cls, arm: Arm, seed: int) -> ExcitingMotion:
        """
        Return a motion from the start pose and back to it, within the limits of the URDF.

        :param arm: arm that moves
        :param seed: of the random motions
        """
        found = excitation.excite(
            arm.model,
            excitation.JointLimits.of(arm.model),
            start=dict(zip(arm.joints, arm.pose.tolist(), strict=True)),
            joints=arm.joints,
            duration=DURATION,
            seconds=SEARCH,
            seed=seed,
            progress=_progress(),
        )
        print(
            f'\ncondition number of the base parameters: {found.condition:.0f}, '
            f'of random motions {found.random_condition:.0f}'
        )
        names = found.motion.joint_names
        return cls(found.motion, [names.index(name) for name in arm.joints])

    @property
    def duration(self) -> float:
        """Duration, s."""
        return self.motion.duration

    def heaviest_pose(self, model: RobotModel) -> Array:
        """
        Return the pose of the motion with the greatest gravity torques, shape (m,), rad or m.

        :param model: model of the robot
        """
        q = self.motion.positions
        rest = np.zeros_like(q)
        weight = np.linalg.norm(model.inverse_dynamics_batch(q, rest, rest), axis=1)
        pose: Array = q[np.argmax(weight), self.columns]
        return pose

    def state(self, t: Array) -> tuple[Array, Array, Array]:
        """Return positions, velocities and accelerations at times, shapes (k, m)."""
        q, qd, qdd = (values[:, self.columns] for values in self.motion.at(t))
        return q, qd, qdd

    def points(self) -> list[TrajectoryPoint]:
        """Return the motion as trajectory points."""
        times = self.motion.times
        return [
            TrajectoryPoint(*values)
            for values in zip(times.tolist(), *self.state(times), strict=True)
        ]


def _progress() -> Callable[[float, str], None]:
    """Return a function that prints the progress twice a second."""
    due = 0.0

    def show(share: float, text: str) -> None:
        nonlocal due
        if time.monotonic() < due:
            return
        due = time.monotonic() + 0.5
        line = f'searching an exciting motion: {min(share, 1.0):4.0%}, {text:<24}'
        print(f'\r{line}', end='', flush=True)

    return show
