# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Traps: well-formed trajectories that no robot can follow, or that are probably not meant so.

In: a compiled trajectory. Out: :class:`Trap` for faults, and sentences for remarks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..feedforward.motion import TrajectoryError, TrajectoryRequest
from ..feedforward.motion.trajectory import CUBIC, QUINTIC, Trajectory, derivative
from .compiling import Start
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


def traps(trajectory: Trajectory, limits: TrajectoryLimits) -> list[Trap]:
    """Return the traps of a compiled trajectory."""
    found = []
    names = trajectory.joint_names
    times = trajectory.knots.times
    velocities, accelerations = end_values(trajectory, 1), end_values(trajectory, 2)
    start = velocities[0, 1]
    is_setpoint = times.size == 1
    if np.abs(start).max() > _ROUNDING and not is_setpoint:
        joint = int(np.abs(start).argmax())
        found.append(Trap(
            'start_in_motion',
            f'{names[joint]} starts at {start[joint]:.4g} '
            f'{limits.unit(names[joint], Quantity.VELOCITY)}: a robot at rest cannot follow, and '
            'the efforts below leave out this step',
        ))
    steps = np.abs(velocities[1:, 1] - velocities[1:, 0])[:-1]
    if steps.size and steps.max() > _ROUNDING:
        point, joint = (int(index) for index in np.unravel_index(steps.argmax(), steps.shape))
        count = int((steps.max(axis=1) > _ROUNDING).sum())
        found.append(Trap(
            'velocity_step',
            f'velocities step at {count} of {times.size} points, most at {times[point + 1]:.4g} '
            f's: {names[joint]} by {steps[point, joint]:.4g} '
            f'{limits.unit(names[joint], Quantity.VELOCITY)}. Points without velocities are '
            'joined by straight lines with acceleration 0, and the efforts below leave out the '
            'steps',
        ))
    end = accelerations[-1, 0]
    has_accelerations = trajectory.knots.degrees[-1] == QUINTIC
    if np.abs(end).max() > _ROUNDING and has_accelerations and not is_setpoint:
        joint = int(np.abs(end).argmax())
        found.append(Trap(
            'final_acceleration',
            f'{names[joint]} ends with the acceleration {end[joint]:.4g} '
            f'{limits.unit(names[joint], Quantity.ACCELERATION)}: joint_trajectory_controller '
            'repeats it for ever; the feedforward node holds the position',
        ))
    return found


def end_values(trajectory: Trajectory, order: int) -> Array:
    """Return qd or qdd on both sides of each point, (points, 2, joints); 0 at the outer sides."""
    knots = trajectory.knots
    sides = np.zeros((knots.times.size, 2, len(trajectory.joint_names)))
    if knots.times.size == 1:
        sides[0] = (knots.velocities, knots.accelerations)[order - 1][0]
        return sides
    polynomials = derivative(trajectory, order)
    sides[:-1, 1] = polynomials[:, 0]
    sides[1:, 0] = polynomials.sum(axis=1)
    return sides


def notes(request: TrajectoryRequest, trajectory: Trajectory, start: Start) -> list[str]:
    """Return remarks about the result, one sentence each."""
    remarks = []
    if request.times[0] > 0.0 and not start.is_given:
        remarks.append(
            f'the way from the robot to the first point, at {request.times[0]:g} s, is not '
            'checked; give the start with --start'
        )
    idle = [
        f'{name} at {position:.4g}'
        for name, position in zip(trajectory.joint_names, start.position, strict=True)
        if name not in request.joint_names
    ]
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
