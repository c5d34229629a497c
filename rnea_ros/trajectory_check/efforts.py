# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The efforts of a motion, sampled: inverse dynamics without friction.

In: a robot model, a :class:`.Trajectory` and a rate. Out: :class:`Efforts`.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..feedforward.motion.trajectory import Trajectory, states_in
from ..robot import RobotModel
from .limits import Quantity, TrajectoryLimits
from .peaks import Peak

MAX_SAMPLES = 1_000_000  # some hundred MB for seven joints


@dataclass(frozen=True, eq=False)
class Efforts:
    """Efforts from rest to rest; times are twice the same at points, where efforts may step."""

    time: Array  # from the start of the trajectory, s, shape (N,)
    total: Array  # required efforts, shape (N, n), N m or N
    gravity: Array  # part of gravity in them, shape (N, n), N m or N
    velocity: Array  # shape (N, n), rad/s or m/s

    def peaks(self, limits: TrajectoryLimits) -> list[Peak]:
        """Return the greatest effort of each joint."""
        rows = np.abs(self.total).argmax(axis=0)
        return [
            Peak.symmetric(
                joint, Quantity.EFFORT, float(self.total[row, index]), float(limits.effort[index]),
                float(self.time[row])
            )
            for index, (joint, row) in enumerate(zip(limits.joint_names, rows, strict=True))
        ]


def efforts_of(model: RobotModel, trajectory: Trajectory, rate: float) -> Efforts:
    """Return the efforts of a motion at both sides of its points and at least at a rate, Hz."""
    time, q, qd, qdd = samples(trajectory, rate)
    return Efforts(
        time, model.inverse_dynamics_batch(q, qd, qdd), model.gravity_torques_batch(q), qd
    )


def samples(trajectory: Trajectory, rate: float) -> tuple[Array, Array, Array, Array]:
    """Return times, s, shape (N,), and q, qd, qdd, shape (N, joints), from rest to rest."""
    if not 0.0 < rate < math.inf:
        raise InputError('rate', f'{rate:g} Hz is not positive and finite')
    knots = trajectory.knots
    durations = np.diff(knots.times)
    steps = np.maximum(np.ceil(durations * rate), 1.0)
    count = float((steps + 1.0).sum())
    if count > MAX_SAMPLES:
        raise InputError('rate', f'{rate:g} Hz makes {count:.0f} samples, more than {MAX_SAMPLES}')
    rows = steps.astype(np.int64) + 1
    segment = np.repeat(np.arange(len(rows)), rows)
    within = np.arange(len(segment)) - np.repeat(np.cumsum(rows) - rows, rows)
    s = within / steps[segment]
    if len(rows):
        time = knots.times[segment] + s * durations[segment]
        q, qd, qdd = states_in(trajectory, segment, s)
    else:
        time, q, qd, qdd = knots.times, knots.positions, knots.velocities, knots.accelerations
    ends = time[[0, -1]]
    rest = np.zeros_like(knots.positions[:1])
    return (
        np.concatenate((ends[:1], time, ends[1:])),
        np.concatenate((q[:1], q, q[-1:])),
        np.concatenate((rest, qd, rest)),
        np.concatenate((rest, qdd, rest)),
    )
