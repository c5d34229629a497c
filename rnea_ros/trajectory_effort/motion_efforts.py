# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Points of a motion with the efforts that it needs, for whoever joins these by straight lines."""

from __future__ import annotations

from dataclasses import dataclass
import enum

import numpy as np

from ..arrays import Array
from ..errors import RneaError
from ..feedforward.law import ControlLaw, LoadedModel, Mode
from ..feedforward.settings import ResolvedSettings
from ..robot import RobotModel
from .motion_points import MotionPoints, looks_between


class EffortReason(enum.Enum):
    """Why a motion was refused, beside :class:`.TrajectoryReason`; for diagnostics and logs."""

    EFFORT_LIMIT = 'effort_limit'
    TOO_MANY_POINTS = 'too_many_points'


class EffortError(RneaError):
    """
    A motion is refused whole.

    :param reason: the rule that it breaks
    :param detail: what is wrong with it, with the offending values
    """

    def __init__(self, reason: EffortReason, detail: str) -> None:
        super().__init__(f'{reason.value}: {detail}')
        self.reason = reason
        self.word = reason.value


@dataclass(frozen=True)
class Deviation:
    """
    Where straight lines between the points are furthest from the efforts that are needed.

    :param effort: by how much, N m or N
    :param joint: whose effort
    :param time: s from the start
    """

    effort: float = 0.0
    joint: str = ''
    time: float = 0.0


class MotionEfforts:
    """
    Computes the efforts that motions of the commanded joints need.

    :param model: the robot
    :param settings: payloads, friction, limits, and what is left to the hardware
    """

    def __init__(self, model: RobotModel, settings: ResolvedSettings) -> None:
        robot = LoadedModel(model, settings.settings.hardware_compensates)
        robot.set_payloads([(payload, 1.0) for payload in settings.settings.payloads])
        zero = np.zeros(model.nv)
        self._law = ControlLaw(
            robot, zero, zero, friction=settings.friction, armature=settings.armature
        )
        self._settings = settings

    def of_points(self, points: MotionPoints, q_robot: Array) -> Array:
        """
        Return the efforts for points of a motion, shape (points, joints), N m or N.

        Where two polynomials meet, a point has the mean of what they need there. The last one has
        what holds it at rest.

        :param points: of the commanded joints
        :param q_robot: positions of all joints of the robot, shape (n,), rad or m: those that are
            not commanded rest there
        :raises EffortError: an effort is beyond its limit
        """
        times = points.times
        after = self._needed(points.at_start, q_robot)
        before = self._needed(points.at_end, q_robot)
        last = points.positions[-1:]
        at_rest = self._needed((last, np.zeros_like(last), np.zeros_like(last)), q_robot)
        for at, efforts in ((times[:-1], after), (times[1:], before), (times[-1:], at_rest)):
            self._check(at, efforts)
        own = points.own_efforts
        efforts = np.vstack((after, at_rest))
        efforts[1:-1] = 0.5 * (after[1:] + before[:-1])
        efforts[:-1] += own[:-1]
        self._check(times, efforts)
        return efforts

    def deviation(self, points: MotionPoints, efforts: Array, q_robot: Array) -> Deviation:
        """
        Return how good straight lines between the points are.

        Where what is needed jumps at a point, both sides of it count.

        :param points: of a motion
        :param efforts: for them, shape (points, joints), N m or N
        :param q_robot: see :meth:`of_points`
        :raises EffortError: between two points an effort is beyond its limit
        """
        segment, share = looks_between(points.times)
        if not segment.size:
            return Deviation()
        given, side = points.beside_given
        segment, share = np.concatenate((segment, given)), np.concatenate((share, side))
        times = points.times[segment] + share * np.diff(points.times)[segment]
        needed = self._needed(points.between(segment, share), q_robot)
        self._check(times, needed)
        lines = efforts - points.own_efforts
        share = share[:, np.newaxis]
        off = np.abs((1.0 - share) * lines[segment] + share * lines[segment + 1] - needed)
        row, column = np.unravel_index(int(np.argmax(off)), off.shape)
        joint = self._settings.joints[int(column)]
        return Deviation(float(off[row, column]), joint, float(times[row]))

    def _needed(self, motion: tuple[Array, Array, Array], q_robot: Array) -> Array:
        """Return the efforts for states of the commanded joints, shape (N, joints)."""
        commanded = self._settings.in_model
        at = (q_robot.copy(), np.zeros_like(q_robot), np.zeros_like(q_robot))
        efforts = np.empty_like(motion[0])
        for row, states in enumerate(zip(*motion, strict=True)):
            for whole, state in zip(at, states, strict=True):
                whole[commanded] = state
            # What is wanted is taken for what is measured: there is no error to feed back.
            efforts[row] = self._law.effort(Mode.FEEDFORWARD, *at[:2], at)[commanded]
        return efforts

    def _check(self, times: Array, efforts: Array) -> None:
        limits, joints = self._settings.effort_limits, self._settings.joints
        broken = ~(np.abs(efforts) <= limits)  # negated: it may not be a number
        if broken.any():
            row, column = (int(index) for index in np.argwhere(broken)[0])
            raise EffortError(
                EffortReason.EFFORT_LIMIT,
                f'joint {joints[column]!r} needs {efforts[row, column]:.6g} at {times[row]:.6g} s,'
                f' more than its limit of {limits[column]:.6g}',
            )
