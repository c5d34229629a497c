# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The node's parameters, and robot and settings of the control, before any topic is created."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rclpy.parameter import Parameter

from ..collision import CollisionModel, CollisionsNotCheckedError, collision_model
from ..errors import InputError
from ..feedforward import check_efforts
from ..feedforward.motion import (
    NO_POSE,
    Deceleration,
    JointRules,
    MotionLimits,
    ReferenceSource,
    RestPose,
    Shaping,
    Tolerances,
    has_ruckig,
)
from ..feedforward.settings import (
    PARAMETERS,
    NodeSettings,
    ResolvedSettings,
    all_declarations,
    load_robot,
    resolve,
)
from ..messages import controller_state_type
from ..robot import RobotModel
from ..ros import check_topic, declare, declare_all, parameter_overrides
from ..urdf import parse_urdf
from .command_topic import CommandTopic

NOT_SHAPED = (
    'stream.shaping is ruckig, which is not installed (pip install ruckig): set-points are '
    'followed as they are'
)
SIMULATED_TIME = 'use_sim_time'  # a parameter that ROS itself declares


class NodeParameters:
    """
    The parameters of a node, declared by this object.

    :raises InputError: a value at the start cannot be used, or is for an unknown parameter
    """

    def __init__(self, node: Any) -> None:
        self._node = node
        declare(node, PARAMETERS)
        sensors = node.get_parameter('wrench_inputs.names').value
        self._table = all_declarations(sensors, parameter_overrides(node))
        declare_all(node, self._table)
        self._settings = self._checked(self._values())
        for sensor in self._settings.control.wrench_inputs:
            check_topic(node, 'wrench_inputs.names', f'~/wrench/{sensor.name}')

    def settings(self, changes: Iterable[Parameter] = ()) -> NodeSettings:
        """Return the settings in force, with changes; InputError for the first bad parameter."""
        values = self._values()
        values.update({change.name: change.value for change in changes if change.name in values})
        if values != self._settings.values:
            self._settings = self._checked(values)
        return self._settings

    def check_while_active(self, changes: Iterable[Parameter]) -> None:
        """Raise an InputError for a parameter that cannot be changed while the node is active."""
        for change in changes:
            declaration = self._table.get(change.name)
            fixed = declaration is not None and not declaration.while_active
            if fixed or change.name == SIMULATED_TIME:
                reason = 'cannot be changed while active; deactivate first'
                raise InputError(change.name, reason)

    def _values(self) -> dict[str, Any]:
        names = (*self._table, SIMULATED_TIME)
        return {name: self._node.get_parameter(name).value for name in names}

    def _checked(self, values: dict[str, Any]) -> NodeSettings:
        settings = NodeSettings.of(values)
        for name, value in values.items():
            if name.endswith('topic') and value:
                check_topic(self._node, name, value)
        return settings


@dataclass(frozen=True)
class ControlSetup:
    """
    Robot and settings of the control.

    :param deceleration: limits of the motion to a stop after a cancel; None to hold at once
    :param stream: limits of motions made of streams; None to follow their points as they are
    :param rest: the rest pose, None for none
    :param state_type: class of a trajectory controller's state, None if no such state is followed
    :param warnings: warnings about the model, one sentence each
    """

    parameters: NodeSettings
    urdf: str
    model: RobotModel
    settings: ResolvedSettings
    rules: JointRules
    tolerances: Tolerances
    deceleration: Deceleration | None
    stream: MotionLimits | None
    rest: RestPose | None
    state_type: Any
    warnings: tuple[str, ...]

    def changed(self, parameters: NodeSettings) -> ControlSetup:
        """Return the setup with changed parameters, checked; robot and joints stay the same."""
        return make_setup(parameters, self.urdf, None, self)

    def is_for(self, parameters: NodeSettings, urdf: str) -> bool:
        """Return whether parameters and URDF are those of this setup."""
        return (self.parameters.values, self.urdf) == (parameters.values, urdf)

    @property
    def joints_given(self) -> bool:
        """Whether the user listed the joints."""
        return bool(self.parameters.control.joints)

    @property
    def zero_gains_warning(self) -> str:
        """A warning if the mode needs gains and all are zero; otherwise empty."""
        law = self.settings.mode
        if not law.needs_gains or any((*self.settings.kp, *self.settings.kd)):
            return ''
        falls = '' if law.carries_gravity else ', not even of gravity: the arm falls'
        return (
            f'mode {law.name} with gains.kp and gains.kd of zero corrects no error of a '
            f'motion{falls}'
        )

    @property
    def no_rest_motion(self) -> str:
        """Why the arm cannot move to the rest pose with these parameters; empty if it can."""
        law = self.settings.mode
        if self.rest is None:
            return 'rest_pose is not set'
        if not law.follows_motions:
            return f'mode {law.name} follows no motion; set another mode before the stop'
        if self.state_type is not None:
            return 'reference_source is controller_state; move the arm by that controller'
        return self.zero_gains_warning

    @property
    def mode_warnings(self) -> tuple[str, ...]:
        """Warnings about mode, gains and source of the motion."""
        no_rest = '' if self.rest is None else self.no_rest_motion
        at_stop = f'a stop ramps down without rest_pose: {no_rest}' if no_rest else ''
        return tuple(filter(None, (self.zero_gains_warning, at_stop)))


def make_setup(
    parameters: NodeSettings, urdf: str, controller: CommandTopic | None,
    before: ControlSetup | None = None,
) -> ControlSetup:
    """
    Return the robot and settings of the control; raise an RneaError for the first bad value.

    :param controller: None if its joints are those of the previous setup
    :param before: the previous setup; its model is used again if URDF, ``gravity`` and
        ``strict_inertia`` are unchanged
    """
    warnings: tuple[str, ...] = ()
    robot, joints = parameters.robot, parameters.control.joints
    if before is not None and (
        (before.urdf, before.parameters.robot.strict_inertia, before.parameters.robot.gravity)
        == (urdf, robot.strict_inertia, robot.gravity)
    ):
        model = before.model
    else:
        description = parse_urdf(urdf, strict_inertia=robot.strict_inertia)
        warnings = tuple(description.warnings)
        model = RobotModel.from_description(description, gravity=robot.gravity)
    if controller is not None and controller.joints:
        if joints and joints != controller.joints:
            raise InputError('joints', controller.other_joints(joints))
        joints = controller.joints
    # While the controller is absent, the joints of the previous setup count.
    joints = joints or (before.settings.joints if before else ())
    settings = resolve(replace(parameters.control, joints=joints), model)
    check_efforts(model, settings)
    rules = parameters.rules(model, settings)
    shaped = parameters.stream.shaping is Shaping.RUCKIG
    if shaped and not has_ruckig():
        shaped, warnings = False, (*warnings, NOT_SHAPED)
    rest, remarks = _rest_pose(parameters, model, settings, rules, before)
    from_controller = parameters.reference.reference_source is ReferenceSource.CONTROLLER_STATE
    return ControlSetup(
        parameters, urdf, model, settings, rules,
        tolerances=parameters.tolerances(settings.joints),
        deceleration=parameters.deceleration(rules),
        stream=parameters.stream_limits(model, rules) if shaped else None, rest=rest,
        state_type=controller_state_type() if from_controller else None,
        warnings=warnings + remarks,
    )


def _rest_pose(
    parameters: NodeSettings, model: RobotModel, settings: ResolvedSettings, rules: JointRules,
    before: ControlSetup | None,
) -> tuple[RestPose | None, tuple[str, ...]]:
    """Return the rest pose, None for none, and what the check of collisions leaves out."""
    if parameters.rest_pose == NO_POSE:
        return None, ()
    collisions: CollisionModel | None = None
    remarks: tuple[str, ...] = ()
    if before is not None and before.rest is not None and before.model is model:
        collisions = before.rest.collisions
    else:
        source = parameters.robot.robot_description
        urdf = None if not source or source.lstrip().startswith('<') else Path(source)
        try:
            collisions = collision_model(model, urdf)
            if not collisions.is_complete:
                remarks = (f'rest_pose: collisions are checked {collisions.remarks[0]}',)
        except CollisionsNotCheckedError as error:
            remarks = (f'rest_pose: {error}',)
    position, speed = parameters.rest_pose, parameters.rest_speed
    joints, gravity = settings.joint_indices, load_robot(model, settings).gravity
    return RestPose.of(position, speed, rules, model, joints, collisions, gravity), remarks
