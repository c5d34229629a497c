# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A trajectory checked: its peaks against the limits, its traps, and how fast it may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import enum

from ..errors import RneaError
from ..feedforward.trajectory import TrajectoryError, TrajectoryReason, TrajectoryRequest
from ..robot import RobotModel
from .compiling import compiled, refusals, start_of, without_limits
from .efforts import Efforts, efforts_of
from .limits import Limits
from .peaks import Peak, motion_peaks
from .time_scaling import Bound, bound_by_efforts, bounds_by_motion
from .traps import Trap, notes, traps

START_TOLERANCE = 0.1
"""The node's own default, rad or m."""

RATE = 1000.0
"""Samples of efforts a second, Hz."""


class NothingToCheckError(RneaError):
    """There is no motion in what was given."""


class Verdict(enum.IntEnum):
    """What came of a check, as an exit code."""

    FINE = 0
    FAULTY = 1


@dataclass(frozen=True)
class Figures:
    """
    What a motion does and needs.

    :param duration: the time of the last point, s
    :param points: how many there are, the start among them where the way from it is checked
    :param peaks: four of every joint, joint after joint
    :param efforts: closely sampled
    :param limits: what all are compared with
    :param by_effort: how fast it may be by its efforts
    :param by_all: by velocities and accelerations too
    """

    duration: float
    points: int
    peaks: tuple[Peak, ...]
    efforts: Efforts
    limits: Limits
    by_effort: Bound
    by_all: Bound


@dataclass(frozen=True)
class TrajectoryCheck:
    """
    What is known of a trajectory before it moves a robot.

    :param robot: its name
    :param traps: what has to be mended, beside limits
    :param refusals: of the feedforward node, for limits
    :param notes: what to know, one sentence each
    :param figures: None where the trajectory means no motion
    """

    robot: str
    traps: tuple[Trap, ...]
    refusals: tuple[TrajectoryError, ...]
    notes: tuple[str, ...]
    figures: Figures | None

    @property
    def violations(self) -> tuple[Peak, ...]:
        """The peaks that are beyond their limits."""
        peaks = self.figures.peaks if self.figures else ()
        return tuple(peak for peak in peaks if peak.is_violation)

    @property
    def verdict(self) -> Verdict:
        """Whether there is nothing to mend."""
        return Verdict.FAULTY if self.traps or self.violations else Verdict.FINE


def check(
    model: RobotModel,
    request: TrajectoryRequest,
    limits: Limits,
    start: Mapping[str, float] | None = None,
    rate: float = RATE,
) -> TrajectoryCheck:
    """
    Check a trajectory against a robot.

    :param model: the robot with what it carries
    :param request: the trajectory
    :param limits: what it is held to
    :param start: where joints are when it begins, rad or m; see :func:`.compiling.start_of`
    :param rate: samples of efforts a second, Hz
    :raises UnknownNameError: ``start`` names a joint that the robot does not have
    :raises InputError: the rate makes no sense for the trajectory
    :raises NothingToCheckError: the trajectory has no points
    """
    if request.is_cancel:
        raise NothingToCheckError('the trajectory has no points')
    begin = start_of(request, limits, start or {})
    rules = limits.rules(START_TOLERANCE)
    try:
        trajectory = compiled(request, without_limits(rules), begin)
    except TrajectoryError as error:
        return TrajectoryCheck(model.name, (Trap.of_refusal(error),), (), (), None)
    refused = refusals(request, rules, begin)
    of_limits = (TrajectoryReason.POSITION_LIMIT, TrajectoryReason.VELOCITY_LIMIT)
    efforts = efforts_of(model, trajectory, rate)
    by_motion = motion_peaks(trajectory, limits)
    by_effort = bound_by_efforts(efforts, limits)
    figures = Figures(
        trajectory.duration,
        trajectory.knots.times.size,
        _joint_after_joint([*by_motion, *efforts.peaks(limits)], limits),
        efforts,
        limits,
        by_effort,
        max([by_effort, *bounds_by_motion(by_motion)], key=lambda bound: bound.stretch),
    )
    return TrajectoryCheck(
        model.name,
        (
            *(Trap.of_refusal(error) for error in refused if error.reason not in of_limits),
            *traps(trajectory, limits),
        ),
        tuple(error for error in refused if error.reason in of_limits),
        tuple(notes(request, trajectory, begin)),
        figures,
    )


def _joint_after_joint(peaks: list[Peak], limits: Limits) -> tuple[Peak, ...]:
    return tuple(sorted(peaks, key=lambda peak: limits.index(peak.joint)))
