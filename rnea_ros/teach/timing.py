# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Time scaling: the speed at which a motion keeps the limits; motions through poses, at that speed.

The factor is that of :mod:`rnea_ros.trajectory_check`, with a margin for friction and control.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
import math

import numpy as np

from ..arrays import Array
from ..identification.excitation import LOAD_SHARE, RestToRestMotion
from ..robot import RobotModel
from ..trajectory_check import RATE, Bound, Quantity, TrajectoryCheck, TrajectoryLimits, check
from .demonstration import TeachError

ACCELERATION = 10.0  # acceleration limit of a joint without one, rad/s^2 or m/s^2
MAX_SAMPLES = 500_000  # of a check, but for the points: eight minutes at 1 kHz
MAX_DURATION = 86400.0  # longest motion, s
SAME = 0.005  # poses are equal if no joint differs by more, rad or m
ROUNDING = 1e-6  # added to a factor of the times, so that rounding does not exceed a limit


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """What a taught motion keeps."""

    model: RobotModel  # with its payload
    limits: TrajectoryLimits
    idle: Mapping[str, float]  # positions of the joints that do not move, rad or m

    @classmethod
    def of(
        cls, model: RobotModel, limits: TrajectoryLimits, idle: Mapping[str, float]
    ) -> MotionLimits:
        """Return the limits of a robot, with an acceleration limit for every joint."""
        given = np.isfinite(limits.acceleration)
        acceleration = np.where(given, limits.acceleration, ACCELERATION)
        return cls(model, replace(limits, acceleration=acceleration), idle)

    def check(self, motion: RestToRestMotion) -> TrajectoryCheck:
        """Return the check of a motion against the limits."""
        rate = min(RATE, MAX_SAMPLES / motion.duration)
        return check(self.model, motion.request(motion.joint_names), self.limits, self.idle, rate)

    def bound(self, motion: RestToRestMotion) -> Bound:
        """
        Return the least factor of a motion's times that keeps the limits with the margin.

        :raises TeachError: gravity alone needs more effort than there is, or the motion would take
            longer than a day
        """
        limits = replace(
            self.limits, velocity=LOAD_SHARE * self.limits.velocity,
            effort=LOAD_SHARE * self.limits.effort,
        )
        figures = replace(self, limits=limits).check(motion).figures
        assert figures is not None  # its points are at rest at both ends, with rising times
        bound = figures.bound
        if math.isinf(bound.stretch):
            joint = limits.index(bound.joint)
            row = int(np.abs(figures.efforts.time - bound.time).argmin())
            unit = limits.unit(bound.joint, Quantity.EFFORT)
            raise TeachError(
                f'gravity needs {figures.efforts.gravity[row, joint]:.4g} {unit} of joint '
                f'{bound.joint} at {bound.time:.2f} s, and {100.0 * LOAD_SHARE:g} % of its limit '
                f'is {limits.effort[joint]:.4g} {unit}: keep away from that pose, or set the '
                'limit (--effort-limits)'
            )
        if bound.stretch * motion.duration > MAX_DURATION:
            raise TeachError(
                f'the {bound.quantity.value} limit of joint {bound.joint} is so low that the '
                f'motion would take {bound.stretch * motion.duration:.2g} s: correct the limit'
            )
        return bound

    def range_of(
        self, joint_names: tuple[str, ...], position: Array, tolerance: float
    ) -> tuple[Array, Array]:
        """Return position limits, (n,) each; a position beyond their tolerance is a TeachError."""
        columns = [self.limits.index(name) for name in joint_names]
        lower, upper = self.limits.lower[columns], self.limits.upper[columns]
        excess = np.maximum(lower - position, position - upper).max(axis=0)
        worst = int(excess.argmax())
        if excess[worst] > tolerance:
            unit = self.limits.unit(joint_names[worst], Quantity.POSITION)
            raise TeachError(
                f'joint {joint_names[worst]} was {excess[worst]:.3g} {unit} beyond its limits, '
                f'{lower[worst]:.4g} to {upper[worst]:.4g} {unit}: guide it inside, or correct '
                '<limit> in the URDF'
            )
        return lower, upper


def distinct(poses: Sequence[Array]) -> list[Array]:
    """Return poses, shape (n,) each, without repetitions; fewer than two raise a TeachError."""
    kept: list[Array] = []
    for pose in poses:
        if not kept or np.abs(pose - kept[-1]).max() > SAME:
            kept.append(pose)
    if len(kept) < 2:
        raise TeachError(
            f'{len(poses)} waypoints, {len(kept)} of them different: a motion needs two or more; '
            'move the robot, then press Enter'
        )
    return kept


def through(
    joint_names: tuple[str, ...], poses: Sequence[Array], limits: MotionLimits
) -> RestToRestMotion:
    """
    Return the fastest motion through two or more different poses, by quintics from rest to rest.

    :raises TeachError: a pose beyond the position limits, or gravity needs more effort than there
        is
    """
    inside = np.clip(poses, *limits.range_of(joint_names, np.array(poses), SAME))
    ways = [_way(joint_names, start, end, limits) for start, end in pairwise(inside)]
    return reduce(lambda motion, way: way.after(motion), ways)


def _way(
    joint_names: tuple[str, ...], start: Array, end: Array, limits: MotionLimits
) -> RestToRestMotion:
    rest = np.zeros((2, len(start)))
    way = RestToRestMotion(joint_names, np.array([0.0, 1.0]), np.vstack((start, end)), rest, rest)
    return way.slowed(1.0 / (limits.bound(way).stretch + ROUNDING))
