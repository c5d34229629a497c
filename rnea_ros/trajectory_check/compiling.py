# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Compilation of a requested trajectory without limits, and the rejections of the feedforward node.

In: a :class:`.TrajectoryRequest` and the start of the robot. Out: a :class:`.Trajectory`, or the
errors with which the node would reject it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array
from ..feedforward.motion import (
    JointRules,
    Trajectory,
    TrajectoryError,
    TrajectoryRequest,
    compile_trajectory,
)
from .limits import TrajectoryLimits


@dataclass(frozen=True, eq=False)
class Start:
    """The robot at rest when a motion begins."""

    position: Array  # of all joints, shape (n,), rad or m
    is_given: bool  # by the user; else the motion begins at its first point


def start_of(
    request: TrajectoryRequest, limits: TrajectoryLimits, given: Mapping[str, float]
) -> Start:
    """Return each joint's start: the given one, else the first point's, else 0 within limits."""
    position = np.clip(np.zeros(len(limits.joint_names)), limits.lower, limits.upper)
    if request.times.size and request.positions.counts[0] == len(request.joint_names):
        for name, value in zip(request.joint_names, request.positions.of_point(0), strict=True):
            if name in limits.joint_names and np.isfinite(value):
                position[limits.index(name)] = value
    for name, value in given.items():
        position[limits.index(name)] = value
    return Start(position, any(name in request.joint_names for name in given))


def compiled(request: TrajectoryRequest, rules: JointRules, start: Start) -> Trajectory:
    """
    Compile a request, as if it started at once whatever its stamp.

    A given start is followed by the way to a first point after time 0. Without a given start the
    motion begins at that point.
    """
    now = 0.0
    if not start.is_given and request.times.size and np.isfinite(request.times[0]):
        now = max(now, float(request.times[0]))
    motion = compile_trajectory(
        replace(request, start_time=0.0), rules, now=now, position=start.position,
        velocity=np.zeros_like(start.position)
    )
    return motion.as_trajectory()


def without_limits(rules: JointRules) -> JointRules:
    """Return rules without any limit: only the form of a request is checked."""
    n = len(rules.joint_names)
    return replace(
        rules, lower=np.full(n, -np.inf), upper=np.full(n, np.inf),
        velocity_limits=np.full(n, np.inf), start_tolerance=np.inf,
        allow_nonzero_velocity_at_trajectory_end=True
    )


def rejections(
    request: TrajectoryRequest, rules: JointRules, start: Start
) -> list[TrajectoryError]:
    """Return the feedforward node's errors for a well-formed request, one per broken rule."""
    only_form = without_limits(rules)
    found = []
    end_velocity = rules.allow_nonzero_velocity_at_trajectory_end
    for one_rule in (
        replace(only_form, allow_nonzero_velocity_at_trajectory_end=end_velocity),
        replace(only_form, lower=rules.lower, upper=rules.upper),
        replace(only_form, velocity_limits=rules.velocity_limits),
        replace(only_form, start_tolerance=rules.start_tolerance),
    ):
        try:
            compiled(request, one_rule, start)
        except TrajectoryError as error:
            found.append(error)
    return found
