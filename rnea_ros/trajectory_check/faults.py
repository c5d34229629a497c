# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Faults of a trajectory other than violated limits, and remarks.

These are rejections of the feedforward node, motions that no robot at rest can follow, and
collisions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array
from ..collision import REACH, CollisionModel
from ..feedforward.motion import (
    CUBIC,
    QUINTIC,
    JointRules,
    Trajectory,
    TrajectoryError,
    TrajectoryRequest,
    compile_trajectory,
)
from ..feedforward.motion.trajectory import derivative
from .limits import Quantity, TrajectoryLimits

# Accepted by rounding: velocity steps, rad/s or m/s, and accelerations, rad/s^2 or m/s^2.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Trap:
    """A fault of a trajectory other than a violated limit."""

    word: str  # name of the fault; for a rejection of the feedforward node, its reason
    text: str  # the fault with point, joint and value

    @classmethod
    def of_rejection(cls, error: TrajectoryError) -> Trap:
        """Return the trap for a rejection of the feedforward node."""
        return cls(error.word, f'the feedforward node rejects it: {error}')


@dataclass(frozen=True, eq=False)
class Start:
    """The robot at rest when a motion begins."""

    position: Array  # of all joints, shape (n,), rad or m
    is_given: bool  # by the user; else the motion begins at its first point

    @classmethod
    def of(
        cls, request: TrajectoryRequest, limits: TrajectoryLimits, given: Mapping[str, float]
    ) -> Start:
        """Return each joint's start: the given one, else the first point's, else 0 in limits."""
        position = np.clip(np.zeros(len(limits.joint_names)), limits.lower, limits.upper)
        if request.times.size and request.positions.counts[0] == len(request.joint_names):
            first = request.positions.of_point(0)
            for name, value in zip(request.joint_names, first, strict=True):
                if name in limits.joint_names and np.isfinite(value):
                    position[limits.index(name)] = value
        for name, value in given.items():
            position[limits.index(name)] = value
        return cls(position, any(name in request.joint_names for name in given))


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
    found = []
    for names in (
        ('allow_nonzero_velocity_at_trajectory_end',), ('lower', 'upper'), ('velocity_limits',),
        ('start_tolerance',),
    ):
        only = replace(without_limits(rules), **{name: getattr(rules, name) for name in names})
        try:
            compiled(request, only, start)
        except TrajectoryError as error:
            found.append(error)
    return found


def traps(trajectory: Trajectory, limits: TrajectoryLimits) -> list[Trap]:
    """Return the traps of a compiled trajectory: steps of velocity, an acceleration at its end."""
    found: list[Trap] = []
    knots, names = trajectory.knots, trajectory.joint_names
    if knots.times.size == 1:  # a set-point
        return found
    velocities, accelerations = derivative(trajectory, 1), derivative(trajectory, 2)
    start, end = velocities[0, 0], accelerations[-1].sum(axis=0)
    if np.abs(start).max() > _ROUNDING:
        joint = int(np.abs(start).argmax())
        found.append(Trap(
            'start_in_motion',
            f'{names[joint]} starts at {start[joint]:.4g} '
            f'{limits.unit(names[joint], Quantity.VELOCITY)}: a robot at rest cannot follow, and '
            'the efforts below leave out this step',
        ))
    steps = np.abs(velocities[1:, 0] - velocities[:-1].sum(axis=1))
    if steps.size and steps.max() > _ROUNDING:
        point, joint = (int(index) for index in np.unravel_index(steps.argmax(), steps.shape))
        count = int((steps.max(axis=1) > _ROUNDING).sum())
        found.append(Trap(
            'velocity_step',
            f'velocities step at {count} of {knots.times.size} points, most at '
            f'{knots.times[point + 1]:.4g} s: {names[joint]} by {steps[point, joint]:.4g} '
            f'{limits.unit(names[joint], Quantity.VELOCITY)}. Points without velocities are '
            'joined by straight lines with acceleration 0, and the efforts below leave out the '
            'steps',
        ))
    if np.abs(end).max() > _ROUNDING and knots.degrees[-1] == QUINTIC:
        joint = int(np.abs(end).argmax())
        found.append(Trap(
            'final_acceleration',
            f'{names[joint]} ends with the acceleration {end[joint]:.4g} '
            f'{limits.unit(names[joint], Quantity.ACCELERATION)}: joint_trajectory_controller '
            'repeats it for ever; the feedforward node holds the position',
        ))
    return found


def notes(request: TrajectoryRequest, trajectory: Trajectory, start: Start) -> list[str]:
    """Return remarks about the result, one sentence each."""
    remarks = []
    if request.times[0] > 0.0 and not start.is_given:
        remarks.append(
            f'the way from the robot to the first point, at {request.times[0]:g} s, is not '
            'checked; give the start with --start'
        )
    positions = zip(trajectory.joint_names, start.position, strict=True)
    idle = [f'{name} at {q:.4g}' for name, q in positions if name not in request.joint_names]
    if idle:
        held = ', '.join(idle)
        remarks.append(f'joints that the trajectory leaves out hold: {held} (see --start)')
    if request.start_time is not None:
        remarks.append('the stamp is ignored: the trajectory is checked as if it started at once')
    if request.efforts.values.size:
        remarks.append('the efforts of the points are not added to those of the model')
    given = trajectory.knots.degrees
    used = np.minimum(given[:-1], given[1:])
    if (np.maximum(given[:-1], given[1:]) > used).any() and used.min() < CUBIC:
        remarks.append(
            'a segment is a straight line if one of its points has no velocities, whatever the '
            'other point has'
        )
    return remarks


def collisions(model: CollisionModel, time: Array, q: Array) -> tuple[list[Trap], list[str]]:
    """Return the trap for the first collision, and remarks, at times and positions of a motion."""
    distances = model.distances(q)
    colliding = np.flatnonzero((distances < 0.0).any(axis=1))
    if colliding.size:
        first = colliding[0]
        one, other = model.pairs[distances[first].argmin()]
        share = 100.0 * colliding.size / len(time)
        text = f'{one} and {other} at {time[first]:.3f} s; {share:.1f} % of the samples collide'
        return [Trap('collision', text)], list(model.remarks)
    row, pair = np.unravel_index(distances.argmin(), distances.shape)
    nearest = f'all distances are above {1000.0 * REACH:.0f} mm'
    if distances[row, pair] < REACH:
        one, other = model.pairs[pair]
        nearest = (f'least distance {1000.0 * distances[row, pair]:.0f} mm, of {one} and {other} '
                   f'at {time[row]:.3f} s')  # fmt: skip
    verdict = 'no collision' if model.is_complete else 'collisions: not all shapes are known'
    return [], [f'{verdict}: {nearest}', *model.remarks]
