# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The effort of each point of a trajectory.

In: :class:`.MotionPoints`. Out: efforts, and their deviation from inverse dynamics between points,
where a controller interpolates them linearly.
"""

from __future__ import annotations

from dataclasses import dataclass
import enum

import numpy as np

from ..arrays import Array
from ..errors import RneaError
from ..feedforward.law import Feedforward, LoadedModel
from ..feedforward.settings import ResolvedSettings
from ..robot import RobotModel
from .motion_points import MotionPoints, samples_between


class EffortReason(enum.Enum):
    """Why a trajectory is rejected, beside the words of :class:`.TrajectoryReason`."""

    EFFORT_LIMIT = 'effort_limit'
    TOO_MANY_POINTS = 'too_many_points'


class EffortError(RneaError):
    """
    A trajectory is rejected whole for its efforts or the number of its points.

    :param reason: broken rule
    :param detail: offending values and the limit that they break
    """

    def __init__(self, reason: EffortReason, detail: str) -> None:
        super().__init__(f'{reason.value}: {detail}')
        self.reason = reason
        self.word = reason.value


@dataclass(frozen=True)
class Deviation:
    """
    The greatest difference between interpolated and required efforts.

    :param effort: the difference, N m or N
    :param joint: its joint; empty without any interval
    :param time: its time, s from the start
    """

    effort: float = 0.0
    joint: str = ''
    time: float = 0.0


class MotionEfforts:
    """
    Computes the efforts for trajectories of the commanded joints.

    :param model: model of the robot
    :param settings: payloads, friction, limits, and the terms that the hardware compensates
    """

    def __init__(self, model: RobotModel, settings: ResolvedSettings) -> None:
        robot = LoadedModel(model, settings.parameters.hardware_compensates)
        robot.set_payloads(settings.parameters.payloads)
        zero = np.zeros(model.nv)
        self._law = Feedforward(
            robot, zero, zero, friction=settings.friction, armature=settings.armature
        )
        self._settings = settings

    def of_points(self, points: MotionPoints, q_robot: Array) -> Array:
        """
        Return the efforts for the points of a trajectory, shape (points, joints), N m or N.

        A point where two polynomials meet has the mean of their efforts. The last point has the
        effort that holds it at rest.

        :param points: points of the commanded joints
        :param q_robot: positions of all joints of the robot, shape (n,), rad or m; joints that are
            not commanded rest there
        :raises EffortError: an effort exceeds its limit
        """
        times = points.times
        after = self._required(points.at_start, q_robot)
        before = self._required(points.at_end, q_robot)
        last = points.positions[-1:]
        at_rest = self._required((last, np.zeros_like(last), np.zeros_like(last)), q_robot)
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
        Return the greatest deviation of linearly interpolated efforts.

        Both sides of a point count where the required effort jumps.

        :param points: points of the commanded joints
        :param efforts: their efforts, shape (points, joints), N m or N
        :param q_robot: see :meth:`of_points`
        :raises EffortError: an effort between two points exceeds its limit
        """
        segment, share = samples_between(points.times)
        if not segment.size:
            return Deviation()
        given, side = points.beside_given
        segment, share = np.concatenate((segment, given)), np.concatenate((share, side))
        times = points.times[segment] + share * np.diff(points.times)[segment]
        required = self._required(points.between(segment, share), q_robot)
        self._check(times, required)
        lines = efforts - points.own_efforts
        share = share[:, np.newaxis]
        off = np.abs((1.0 - share) * lines[segment] + share * lines[segment + 1] - required)
        row, column = np.unravel_index(int(np.argmax(off)), off.shape)
        joint = self._settings.joints[int(column)]
        return Deviation(float(off[row, column]), joint, float(times[row]))

    def _required(self, motion: tuple[Array, Array, Array], q_robot: Array) -> Array:
        """Return the efforts for states of the commanded joints, shape (N, joints)."""
        commanded = self._settings.joint_indices
        robot = (q_robot.copy(), np.zeros_like(q_robot), np.zeros_like(q_robot))
        efforts = np.empty_like(motion[0])
        for row, states in enumerate(zip(*motion, strict=True)):
            for of_robot, state in zip(robot, states, strict=True):
                of_robot[commanded] = state
            # The measured state equals the desired one: there is no error to feed back.
            efforts[row] = self._law.effort(*robot[:2], robot)[commanded]
        return efforts

    def _check(self, times: Array, efforts: Array) -> None:
        limits, joints = self._settings.effort_limits, self._settings.joints
        broken = ~(np.abs(efforts) <= limits)  # negated, so that NaN is rejected
        if broken.any():
            row, column = (int(index) for index in np.argwhere(broken)[0])
            raise EffortError(
                EffortReason.EFFORT_LIMIT,
                f'joint {joints[column]!r} needs {efforts[row, column]:.6g} at {times[row]:.6g} s,'
                f' more than its limit of {limits[column]:.6g}',
            )
