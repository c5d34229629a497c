# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""From what was asked for to the motion that it means, and by which rules it is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array
from ..feedforward.trajectory import (
    LINEAR,
    JointRules,
    Knots,
    Setpoint,
    Trajectory,
    TrajectoryError,
    TrajectoryRequest,
    compile_trajectory,
)
from .limits import Limits


@dataclass(frozen=True, eq=False)
class Start:
    """
    Where the robot is, at rest, when a motion begins.

    :param position: of all joints, shape (n,), rad or m
    :param is_given: whether somebody said so; else the motion begins at its first point
    """

    position: Array
    is_given: bool


def start_of(
    request: TrajectoryRequest, limits: Limits, given: Mapping[str, float]
) -> Start:
    """
    Return where the robot is at the start.

    That is what is given of a joint; else its first point; else 0, or the limit next to it.

    :param request: the motion, at least as well formed as :func:`compiled` asks for
    :param limits: the robot's joints and limits
    :param given: positions of some joints by name, rad or m
    :raises UnknownNameError: the robot has no such joint
    """
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
    Return the motion that a request means; its stamp counts for nothing.

    A first point after time 0 is reached from the start where that is given. Else the motion
    begins with that point.

    :param request: the motion that is asked for
    :param rules: what it is held to
    :param start: where the robot is
    :raises TrajectoryError: if it breaks a rule
    """
    now = 0.0
    if not start.is_given and request.times.size and np.isfinite(request.times[0]):
        now = max(now, float(request.times[0]))
    motion = compile_trajectory(
        replace(request, start_time=0.0),
        rules,
        now=now,
        position=start.position,
        velocity=np.zeros_like(start.position),
    )
    return _held(motion) if isinstance(motion, Setpoint) else motion


def _held(setpoint: Setpoint) -> Trajectory:
    """Return a set-point as a motion of one point."""
    q, qd, qdd = (values[np.newaxis] for values in (setpoint.q, setpoint.qd, setpoint.qdd))
    knots = Knots(np.zeros(1), q, qd, qdd, np.array([LINEAR]))
    return Trajectory(setpoint.joint_names, None, knots)


def without_limits(rules: JointRules) -> JointRules:
    """Return rules that hold a motion to nothing but its form."""
    n = len(rules.joint_names)
    return replace(
        rules,
        lower=np.full(n, -np.inf),
        upper=np.full(n, np.inf),
        velocity_limits=np.full(n, np.inf),
        start_tolerance=np.inf,
        allow_nonzero_velocity_at_trajectory_end=True,
    )


def refusals(
    request: TrajectoryRequest, rules: JointRules, start: Start
) -> list[TrajectoryError]:
    """
    Return why the feedforward node would refuse a motion of good form, each rule by itself.

    :param request: the motion that is asked for
    :param rules: the node's
    :param start: where the robot is
    """
    form = without_limits(rules)
    found = []
    end_velocity = rules.allow_nonzero_velocity_at_trajectory_end
    for one_rule in (
        replace(form, allow_nonzero_velocity_at_trajectory_end=end_velocity),
        replace(form, lower=rules.lower, upper=rules.upper),
        replace(form, velocity_limits=rules.velocity_limits),
        replace(form, start_tolerance=rules.start_tolerance),
    ):
        try:
            compiled(request, one_rule, start)
        except TrajectoryError as error:
            found.append(error)
    return found
