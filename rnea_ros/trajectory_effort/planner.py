# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The node's parameters; from a requested trajectory to a message with efforts, for one robot.

In: a :class:`.TrajectoryRequest` and the state of the robot. Out: an :class:`EffortPlan`. The
steps are, in order: compile, :mod:`.motion_efforts`, message.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from rclpy.parameter import Parameter
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ..arrays import Array
from ..errors import InputError, RequestRejectedError
from ..feedforward import check_efforts
from ..feedforward.motion import (
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
from ..feedforward.settings import PARAMETERS as NODE_PARAMETERS
from ..feedforward.settings import NodeSettings, all_declarations, resolve
from ..parameters import Declaration, check_ranges, declarations_of, from_values, parameter
from ..robot import RobotModel
from ..ros import set_seconds
from .motion_efforts import Deviation, MotionEfforts, MotionPoints, number_of_points

MAX_POINTS = 100_000  # of a message: the controller goes through all of them
TOO_MANY_POINTS = 'too_many_points'  # word of a rejection
_LIMITS = (TrajectoryReason.POSITION_LIMIT, TrajectoryReason.VELOCITY_LIMIT)

# Parameters of the node feedforward that this node has too.
_SHARED = (
    'strict_inertia', 'gravity', 'hardware_compensates', 'hardware_gravity', 'command_scale',
    'friction.model', 'friction.viscous', 'friction.coulomb', 'friction.viscous_negative',
    'friction.coulomb_negative',
    'friction.load', 'friction.smoothing_velocity', 'friction.offset', 'friction.shared_joints',
    'friction.shared_ratio', 'friction.shared_viscous', 'friction.shared_coulomb', 'armature',
    'gravity_factor', 'spring.stiffness', 'spring.rest_position',
    'payload.link', 'payload.mass', 'payload.com', 'payload.inertia', 'effort_limits',
    'differentiate_velocity', 'interpolation', 'start_tolerance', 'allow_partial_joints_goal',
    'allow_nonzero_velocity_at_trajectory_end', 'use_trajectory_effort',
)
# Parameters of the robot model, which is made once.
_MODEL_PARAMETERS = ('strict_inertia', 'gravity', 'differentiate_velocity')


@dataclass(frozen=True)
class TrajectoryEffortSettings:
    """Parameters of this node only."""

    trajectory_topic: str = parameter(
        'joint_trajectory_controller/joint_trajectory',
        'topic to which trajectories with efforts are passed on', read_only=True
    )
    joints: tuple[str, ...] = parameter(
        ('',), "the trajectory controller's joints; ['']: its parameter 'joints'", read_only=True
    )
    resample: float = parameter(
        0.02,
        'longest time between two points, s, at least 0.001, as the controller interpolates '
        'efforts linearly; 0: only the given points',
        span=(0.0, 10.0),
    )
    joint_states_timeout: float = parameter(
        0.5, 'age of joint states above which every trajectory is rejected, s', span=(0.1, 3600.0)
    )


PARAMETERS: Mapping[str, Declaration] = {
    'robot_description': replace(NODE_PARAMETERS['robot_description'], read_only=True),
    **declarations_of(TrajectoryEffortSettings),
    **{
        name: replace(NODE_PARAMETERS[name], read_only=name in _MODEL_PARAMETERS)
        for name in _SHARED
    },
    'hardware_compensates': replace(
        NODE_PARAMETERS['hardware_compensates'],
        summary="what the robot's own controller adds to every command: none, or some of "
        "gravity | friction | payload; ['']: as none",
    ),
}


def values_of(node: Any, changes: Iterable[Parameter] = ()) -> dict[str, Any]:
    """Return all values by name, with changes; unused ones of ``feedforward`` are defaults."""
    table = all_declarations((), ())
    values = {name: declaration.default for name, declaration in table.items()}
    values.update({name: node.get_parameter(name).value for name in PARAMETERS})
    values.update({change.name: change.value for change in changes if change.name in PARAMETERS})
    NodeSettings.of({**values, 'joint_states_timeout': 0.0})
    check_ranges(from_values(TrajectoryEffortSettings, values))
    if 0.0 < values['resample'] < 1e-3:
        raise InputError('resample', f'{values["resample"]} s is below 0.001 s and not 0')
    return values


class EffortPlan(NamedTuple):
    """A trajectory with its efforts."""

    motion: Trajectory | Setpoint  # the compiled trajectory or set-point
    message: Any  # trajectory_msgs/JointTrajectory to pass on
    greatest_share: float  # greatest effort as a share of its limit
    deviation: Deviation  # of the interpolated efforts

    @property
    def summary(self) -> str:
        """Line for the log."""
        worst = self.deviation
        where = f' ({worst.joint} at {worst.time:.3f} s)' if worst.joint else ''
        return (
            f'{len(self.message.points)} points, up to {100.0 * self.greatest_share:.0f} % of the '
            f'effort limits; linear interpolation between the efforts is off by up to '
            f'{worst.effort:.3g}{where}'
        )

    @property
    def values(self) -> dict[str, object]:
        """Values of a diagnostic status by key."""
        return {
            'points': len(self.message.points),
            'greatest_share_of_limit': f'{self.greatest_share:.3f}',
            'greatest_deviation': f'{self.deviation.effort:.4g}',
        }


class EffortPlanner:
    """
    Checks trajectories and computes the effort of each point.

    Times are in the clock of a trajectory's start time, s; states are those of all joints, (n,).
    """

    def __init__(
        self, model: RobotModel, joints: tuple[str, ...], values: Mapping[str, Any]
    ) -> None:
        self.joints = joints
        parameters = NodeSettings.of(values)
        self._settings = resolve(replace(parameters.control, joints=joints), model)
        check_efforts(model, self._settings)
        self._rules = parameters.rules(model, self._settings)
        self._efforts = MotionEfforts(model, self._settings)
        self._period: float = values['resample']

    def plan(
        self, request: TrajectoryRequest, now: float, q_robot: Array, qd_robot: Array
    ) -> EffortPlan:
        """
        Return a requested trajectory with its efforts.

        It includes the bridge to a first point after time 0, which the controller's own way to
        that point would begin without the right effort.
        """
        commanded = self._settings.joint_indices
        q, qd = q_robot[commanded], qd_robot[commanded]
        try:
            motion = compile_trajectory(request, self._rules, now=now, position=q, velocity=qd)
        except TrajectoryError as error:
            raise _with_time(error, request) from None
        trajectory = motion.as_trajectory()
        count = number_of_points(trajectory, self._period)
        if count > MAX_POINTS:
            raise RequestRejectedError(
                TOO_MANY_POINTS, f'{count} with one every {self._period} s, more than {MAX_POINTS}'
            )
        points = MotionPoints(trajectory, self._period)
        efforts = self._efforts.of_points(points, q_robot)
        deviation = self._efforts.deviation(points, efforts, q_robot)
        share = float((np.abs(efforts) / self._settings.effort_limits).max())
        return EffortPlan(motion, self._message(request, points, efforts), share, deviation)

    def check_start(self, plan: EffortPlan, now: float, q_robot: Array) -> None:
        """Reject a trajectory that started, and left the robot behind, during the computation."""
        motion = plan.motion
        if isinstance(motion, Setpoint) or motion.start_time is None:
            return
        elapsed = now - motion.start_time
        if elapsed > 0.0:
            q = motion.state(elapsed).position
            check_start(motion, elapsed, q, q_robot[self._settings.joint_indices], self._rules)

    def _message(self, request: TrajectoryRequest, points: MotionPoints, efforts: Array) -> Any:
        """Return the message, in the driver's unit; joints left out by the request come last."""
        joints = self._settings.joints
        names = [*request.joint_names]
        names += [joint for joint in joints if joint not in names]
        order = [joints.index(joint) for joint in names]
        commands = efforts * self._settings.units.command_scale
        columns = (points.positions, points.velocities, points.accelerations, commands)
        positions, velocities, accelerations, effort = (values[:, order] for values in columns)
        message = JointTrajectory(joint_names=names)
        seconds, nanoseconds, message.header.frame_id = request.header
        message.header.stamp.sec, message.header.stamp.nanosec = seconds, nanoseconds
        for k, (time, degree) in enumerate(zip(points.times, points.degrees, strict=True)):
            point = JointTrajectoryPoint(
                positions=array('d', positions[k]), effort=array('d', effort[k])
            )
            if degree >= CUBIC:
                point.velocities = array('d', velocities[k])
            if degree == QUINTIC:
                point.accelerations = array('d', accelerations[k])
            set_seconds(point.time_from_start, time)
            message.points.append(point)
        return message


def _with_time(error: TrajectoryError, request: TrajectoryRequest) -> TrajectoryError:
    """Return an error about a limit with the time of the point at fault."""
    if error.point is None or error.reason not in _LIMITS:
        return error
    detail = f'{error.detail}, at {request.times[error.point]:.6g} s'
    return TrajectoryError(error.reason, detail, joint=error.joint, point=error.point)
