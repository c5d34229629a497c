# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A JointTrajectory in, the same motion with efforts out: for one robot and its parameters."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ..arrays import Array
from ..feedforward import try_on
from ..feedforward.settings import resolve
from ..feedforward.trajectory import (
    CUBIC,
    QUINTIC,
    Setpoint,
    Trajectory,
    TrajectoryError,
    TrajectoryReason,
    TrajectoryRequest,
    check_start,
    compile_trajectory,
)
from ..node import joint_rules
from ..node.parameters import settings_from
from ..robot import RobotModel
from .motion_efforts import Deviation, EffortError, EffortReason, MotionEfforts
from .motion_points import MotionPoints, number_of_points

OF_LIMITS = (TrajectoryReason.POSITION_LIMIT, TrajectoryReason.VELOCITY_LIMIT)

MOST_POINTS = 100_000
"""So many points are passed on at most: whoever follows them walks along all of them."""


class Plan(NamedTuple):
    """
    A motion with its efforts.

    :param motion: as it is followed
    :param message: trajectory_msgs/JointTrajectory, without a header
    :param greatest_share: greatest effort as a share of its limit
    :param deviation: where straight lines between the efforts are worst
    """

    motion: Trajectory | Setpoint
    message: Any
    greatest_share: float
    deviation: Deviation


class EffortPlanner:
    """
    Checks motions and gives each of their points an effort.

    :param model: the robot
    :param joints: of the trajectory controller
    :param values: parameter values by name
    :raises SettingsError: a value that cannot be used
    """

    def __init__(
        self, model: RobotModel, joints: tuple[str, ...], values: Mapping[str, Any]
    ) -> None:
        self._settings = resolve(settings_from(values, joints), model)
        try_on(model, self._settings)
        self._rules = joint_rules(values, model, self._settings)
        self._efforts = MotionEfforts(model, self._settings)
        self._period: float = values['resample']

    def plan(
        self, request: TrajectoryRequest, now: float, q_robot: Array, qd_robot: Array
    ) -> Plan:
        """
        Return a requested motion with its efforts.

        The way from where the robot is to a first point after time 0 is a part of it: a controller
        that went there by itself would go without an effort at its beginning.

        :param request: the motion
        :param now: seconds in the clock of its start time
        :param q_robot: measured positions of all joints of the robot, shape (n,), rad or m
        :param qd_robot: measured velocities, shape (n,), rad/s or m/s
        :raises TrajectoryError: the motion breaks a rule
        :raises EffortError: it needs an effort beyond a limit, or too many points
        """
        commanded = self._settings.in_model
        motion = compile_trajectory(
            request,
            self._rules,
            now=now,
            position=q_robot[commanded],
            velocity=qd_robot[commanded],
        )
        count = number_of_points(motion, self._period)
        if count > MOST_POINTS:
            raise EffortError(
                EffortReason.TOO_MANY_POINTS,
                f'{count} with one every {self._period} s are more than {MOST_POINTS}',
            )
        points = MotionPoints(motion, self._period)
        efforts = self._efforts.of_points(points, q_robot)
        deviation = self._efforts.deviation(points, efforts, q_robot)
        share = float((np.abs(efforts) / self._settings.effort_limits).max())
        return Plan(motion, self._message(request, points, efforts), share, deviation)

    def check_start(self, plan: Plan, now: float, q_robot: Array) -> None:
        """
        Refuse a motion that has gone on without the robot while its efforts were computed.

        :param plan: of this planner
        :param now: seconds in the clock of its start time
        :param q_robot: measured positions of all joints of the robot, shape (n,), rad or m
        :raises TrajectoryError: start_too_far
        """
        motion = plan.motion
        if isinstance(motion, Setpoint) or motion.start_time is None:
            return
        joined = now - motion.start_time
        if joined > 0.0:
            q = motion.state(joined).position
            check_start(motion, joined, q, q_robot[self._settings.in_model], self._rules)

    def _message(self, request: TrajectoryRequest, points: MotionPoints, efforts: Array) -> Any:
        """Return the message, its joints in the order of the request, then those left out."""
        joints = self._settings.joints
        names = [*request.joint_names]
        names += [joint for joint in joints if joint not in names]
        order = [joints.index(joint) for joint in names]
        columns = (points.positions, points.velocities, points.accelerations, efforts)
        positions, velocities, accelerations, effort = (values[:, order] for values in columns)
        message = JointTrajectory(joint_names=names)
        for k, (time, degree) in enumerate(zip(points.times, points.degrees, strict=True)):
            point = JointTrajectoryPoint(
                positions=array('d', positions[k]), effort=array('d', effort[k])
            )
            if degree >= CUBIC:
                point.velocities = array('d', velocities[k])
            if degree == QUINTIC:
                point.accelerations = array('d', accelerations[k])
            seconds, nanoseconds = divmod(round(1e9 * time), 1_000_000_000)
            point.time_from_start.sec, point.time_from_start.nanosec = seconds, nanoseconds
            message.points.append(point)
        return message


def message_size(message: JointTrajectory) -> int:
    """Return how many bytes a trajectory takes, but for its names."""
    return sum(
        40 + 8 * sum(map(len, (p.positions, p.velocities, p.accelerations, p.effort)))
        for p in message.points
    )


def with_time(error: TrajectoryError, request: TrajectoryRequest) -> TrajectoryError:
    """Return an error about a limit that tells at which time the point at fault is."""
    if error.point is None or error.reason not in OF_LIMITS:
        return error
    detail = f'{error.detail}, at {request.times[error.point]:.6g} s'
    return TrajectoryError(error.reason, detail, joint=error.joint, point=error.point)
