# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What makes a motion of good form another than was meant, or one that no robot can follow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..feedforward.trajectory import (
    CUBIC,
    QUINTIC,
    Trajectory,
    TrajectoryError,
    TrajectoryRequest,
    derivative,
)
from .compiling import Start
from .limits import Limits, Quantity

# Steps of velocity, rad/s or m/s, and accelerations, rad/s^2 or m/s^2, that rounding makes.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Trap:
    """
    Something that has to be mended.

    :param word: its name; that of the node's refusal where it is one
    :param text: what is wrong, with point, joint and value
    """

    word: str
    text: str

    @classmethod
    def of_refusal(cls, error: TrajectoryError) -> Trap:
        """Return a refusal of the feedforward node."""
        return cls(error.word, f'the feedforward node refuses it: {error}')


def traps(trajectory: Trajectory, limits: Limits) -> list[Trap]:
    """
    Return the traps of a motion that is not refused for its form.

    :param trajectory: the motion
    :param limits: of the robot, for the units of its joints
    """
    found = []
    names = trajectory.joint_names
    times = trajectory.knots.times
    velocities, accelerations = end_values(trajectory, 1), end_values(trajectory, 2)
    start = velocities[0, 1]
    if np.abs(start).max() > _ROUNDING and not _is_setpoint(trajectory):
        joint = int(np.abs(start).argmax())
        found.append(Trap(
            'start_in_motion',
            f'{names[joint]} begins at {start[joint]:.4g} '
            f'{limits.unit(names[joint], Quantity.VELOCITY)}: a robot that is at rest cannot, and '
            'no effort below is for that step',
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
            'joined by straight lines, with acceleration 0, and no effort below is for the steps',
        ))
    end = accelerations[-1, 0]
    if np.abs(end).max() > _ROUNDING and trajectory.knots.degrees[-1] == QUINTIC:
        joint = int(np.abs(end).argmax())
        found.append(Trap(
            'final_acceleration',
            f'{names[joint]} ends with the acceleration {end[joint]:.4g} '
            f'{limits.unit(names[joint], Quantity.ACCELERATION)}: joint_trajectory_controller '
            'repeats it for ever; here the position is held',
        ))
    return found


def end_values(trajectory: Trajectory, order: int) -> Array:
    """
    Return a derivative on both sides of every point.

    :param trajectory: the motion
    :param order: how often to derive
    :returns: shape (points, 2, joints), before the point and after it; 0 before the first and
        after the last, where a position is held
    """
    knots = trajectory.knots
    sides = np.zeros((knots.times.size, 2, len(trajectory.joint_names)))
    if knots.times.size == 1:
        sides[0] = (knots.velocities, knots.accelerations)[order - 1][0]
        return sides
    polynomials = derivative(trajectory, order)
    sides[:-1, 1] = polynomials[:, 0]
    sides[1:, 0] = polynomials.sum(axis=1)
    return sides


def notes(
    request: TrajectoryRequest, trajectory: Trajectory, start: Start
) -> list[str]:
    """
    Return what to know of the figures, one sentence each.

    :param request: the motion that was asked for
    :param trajectory: what it means
    :param start: where the robot is
    """
    said = []
    if request.times[0] > 0.0 and not start.is_given:
        said.append(
            f'the way to the first point, at {request.times[0]:g} s, is not checked: it begins '
            'where the robot is; give that with --start'
        )
    idle = [
        f'{name} at {position:.4g}'
        for name, position in zip(trajectory.joint_names, start.position, strict=True)
        if name not in request.joint_names
    ]
    if idle:
        said.append(f'joints that it leaves out hold: {", ".join(idle)} (see --start)')
    if request.start_time is not None:
        said.append('its stamp is left out of account: it is checked as if it started at once')
    if request.efforts.values.size:
        said.append('the efforts of its points are not added to those of the model')
    given = trajectory.knots.degrees
    used = np.minimum(given[:-1], given[1:])
    if (np.maximum(given[:-1], given[1:]) > used).any() and used.min() < CUBIC:
        said.append(
            'points without velocities make straight lines of the segments beside them, '
            'whatever the other end gives'
        )
    said.append('friction is left out of all efforts')
    return said


def _is_setpoint(trajectory: Trajectory) -> bool:
    return bool(trajectory.knots.times.size == 1)
