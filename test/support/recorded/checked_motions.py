# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Motions to check, of the Panda without hand, and of smaller robots."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from rnea_ros import RobotModel
from rnea_ros.feedforward.trajectory import TrajectoryPoint, TrajectoryRequest
from rnea_ros.trajectory_check import TrajectoryCheck, TrajectoryLimits, check
from rnea_ros.trajectory_check.check import MotionFigures
from support.models.robots import SHIPPED, load

ARM_URDF = SHIPPED[1]
ARM = load(ARM_URDF)
BENT = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])


def motion(rng: np.random.Generator, points: int = 4) -> list[TrajectoryPoint]:
    """Return points of a random motion near a bent pose, from rest to rest, 0.4 s a segment."""
    n = ARM.nv
    states = rng.uniform(-1.0, 1.0, (3, points, n))
    states[1:, [0, -1]] = 0.0
    q, qd, qdd = BENT + 0.3 * states[0], states[1], 3.0 * states[2]
    return [TrajectoryPoint(0.4 * k, q[k], qd[k], qdd[k]) for k in range(points)]


def stretched(points: list[TrajectoryPoint], s: float) -> list[TrajectoryPoint]:
    """Return the same motion at s times the duration."""
    return [
        TrajectoryPoint(
            s * point.time, point.positions, np.asarray(point.velocities) / s,
            np.asarray(point.accelerations) / s**2,
        )
        for point in points
    ]


def requested(
    points: list[TrajectoryPoint], names: tuple[str, ...] = ARM.joint_names
) -> TrajectoryRequest:
    return TrajectoryRequest.of_points(names, points)


def checked(
    points: list[TrajectoryPoint], limits: TrajectoryLimits | None = None, *,
    model: RobotModel = ARM, names: tuple[str, ...] | None = None,
    start: Mapping[str, float] | None = None, rate: float = 1000.0,
) -> TrajectoryCheck:
    request = requested(points, names or model.joint_names)
    return check(model, request, limits or TrajectoryLimits.of_model(model), start, rate)


def figures_of(found: TrajectoryCheck) -> MotionFigures:
    assert found.figures is not None, found.traps
    return found.figures


def at(time: float, *fields: ArrayLike) -> TrajectoryPoint:
    """Return a point: time, then positions, velocities and accelerations."""
    return TrajectoryPoint(time, *(np.atleast_1d(np.asarray(field, float)) for field in fields))
