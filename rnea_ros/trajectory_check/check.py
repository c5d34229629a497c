# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The check of a trajectory: peaks against limits, traps, and the fastest time scaling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import enum

from ..collision import CollisionModel
from ..errors import RneaError
from ..feedforward.motion import (
    Interpolation,
    TrajectoryError,
    TrajectoryReason,
    TrajectoryRequest,
)
from ..robot import RobotModel
from .faults import Start, Trap, collisions, compiled, notes, rejections, traps, without_limits
from .limits import TrajectoryLimits
from .motion import Bound, Efforts, Peak, bound_by_efforts, bounds_by_motion, motion_peaks

START_TOLERANCE = 0.1  # default of the feedforward node, rad or m
RATE = 1000.0  # default of effort samples, Hz
_LIMITS = (TrajectoryReason.POSITION_LIMIT, TrajectoryReason.VELOCITY_LIMIT)


class NothingToCheckError(RneaError):
    """The trajectory has no points."""


class TrajectoryVerdict(enum.IntEnum):
    """The result of a check; the value is the exit code."""

    FINE = 0
    FAULTY = 1


@dataclass(frozen=True)
class MotionFigures:
    """The numbers of a motion."""

    duration: float  # time of the last point, s
    points: int  # their number, including the start if the way from it is checked
    peaks: tuple[Peak, ...]  # of position, velocity, acceleration and effort, joint after joint
    efforts: Efforts
    limits: TrajectoryLimits  # the peaks are compared with them
    effort_bound: Bound  # of the time scaling, by efforts
    bound: Bound  # of the time scaling, by efforts, velocities and accelerations


@dataclass(frozen=True)
class TrajectoryCheck:
    """The result of a check."""

    robot: str  # its name
    traps: tuple[Trap, ...]  # faults other than violated limits
    rejections: tuple[TrajectoryError, ...]  # of the feedforward node for violated limits
    notes: tuple[str, ...]  # remarks about the result, one sentence each
    figures: MotionFigures | None  # None for a trajectory that cannot be compiled

    @property
    def violations(self) -> tuple[Peak, ...]:
        """The peaks beyond their limits."""
        peaks = self.figures.peaks if self.figures else ()
        return tuple(peak for peak in peaks if peak.is_violation)

    @property
    def verdict(self) -> TrajectoryVerdict:
        """``FAULTY`` with any trap or violation, else ``FINE``."""
        faulty = self.traps or self.violations
        return TrajectoryVerdict.FAULTY if faulty else TrajectoryVerdict.FINE


def check(
    model: RobotModel, request: TrajectoryRequest, limits: TrajectoryLimits,
    start: Mapping[str, float] | None = None, rate: float = RATE,
    interpolation: Interpolation = Interpolation.LINEAR,
    collision_model: CollisionModel | None = None
) -> TrajectoryCheck:
    """
    Check a trajectory against a robot.

    :param model: model of the robot with its payload
    :param start: joint positions at the start by name, rad or m; see :meth:`.Start.of`
    :param rate: rate of effort samples, Hz
    :param interpolation: between points that have positions only
    :param collision_model: distances of the robot's links; None: collisions are not checked
    :raises UnknownNameError: an unknown joint in ``start``
    :raises InputError: an invalid rate, or too many samples
    :raises NothingToCheckError: the trajectory has no points
    """
    if request.is_cancel:
        raise NothingToCheckError('the trajectory has no points')
    begin = Start.of(request, limits, start or {})
    rules = limits.rules(START_TOLERANCE, interpolation)
    try:
        trajectory = compiled(request, without_limits(rules), begin)
    except TrajectoryError as error:
        return TrajectoryCheck(model.name, (Trap.of_rejection(error),), (), (), None)
    rejected = rejections(request, rules, begin)
    efforts = Efforts.of_motion(model, trajectory, rate)
    moving = motion_peaks(trajectory, limits)
    effort_bound = bound_by_efforts(efforts, limits)
    touching: tuple[list[Trap], list[str]] = [], []
    if collision_model is not None:
        touching = collisions(collision_model, efforts.time, efforts.position)
    has_mass = model.inertial_parameters.any()
    peaks = [*moving, *(efforts.peaks(limits) if has_mass else [])]
    missing = [
        'efforts are without friction' if has_mass
        else 'efforts are not checked: no moving link has a mass'
    ]
    if names := limits.with_jerk_limits:
        missing.append(f'jerk is not checked, although the URDF limits it: {", ".join(names)}')
    figures = MotionFigures(
        trajectory.duration, trajectory.knots.times.size,
        tuple(sorted(peaks, key=lambda peak: limits.index(peak.joint))), efforts, limits,
        effort_bound,
        max([effort_bound, *bounds_by_motion(moving)], key=lambda bound: bound.stretch)
    )
    return TrajectoryCheck(
        model.name,
        (
            *(Trap.of_rejection(error) for error in rejected if error.reason not in _LIMITS),
            *traps(trajectory, limits),
            *touching[0],
        ),
        tuple(error for error in rejected if error.reason in _LIMITS),
        (*missing, *touching[1], *notes(request, trajectory, begin)),
        figures,
    )
