# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Robot and settings of the control, checked together before any topic is created."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import InputError
from ..feedforward import check_efforts
from ..feedforward.settings import ResolvedSettings, resolve
from ..feedforward.trajectory import Deceleration, JointRules, ReferenceSource, Tolerances
from ..parameters import from_values
from ..robot import RobotModel
from ..urdf import parse_urdf
from .command_topic import CommandTopic
from .inputs import controller_state_type
from .parameters import (
    ReferenceSettings,
    RobotSettings,
    deceleration_from,
    joint_rules,
    listed_joints,
    realtime_from,
    settings_from,
    tolerances_from,
)
from .timing import RealtimeSettings


@dataclass(frozen=True)
class ControlSetup:
    """
    Robot and settings of the control.

    :param deceleration: limits of the motion to a stop after a cancel; None to hold at once
    :param state_type: class of a trajectory controller's state, None if no such state is followed
    :param listed_joints: whether the user listed the joints
    :param warnings: warnings about the model, one sentence each
    """

    values: Mapping[str, Any]
    urdf: str
    model: RobotModel
    settings: ResolvedSettings
    rules: JointRules
    tolerances: Tolerances
    deceleration: Deceleration | None
    robot: RobotSettings
    reference: ReferenceSettings
    realtime: RealtimeSettings
    state_type: Any
    listed_joints: bool
    warnings: tuple[str, ...]

    def changed(self, values: Mapping[str, Any]) -> ControlSetup:
        """Return the setup with changed parameters, checked; robot and joints stay the same."""
        settings = resolve(settings_from(values, self.settings.joints), self.model)
        check_efforts(self.model, settings)
        return replace(
            self, values=values, settings=settings,
            tolerances=tolerances_from(values, settings.joints),
            deceleration=deceleration_from(values, self.rules),
        )

    @property
    def zero_gains_warning(self) -> str:
        """A warning if the mode needs gains and all are zero; otherwise empty."""
        parameters = self.settings
        law = parameters.mode
        if not law.needs_gains or any((*parameters.kp, *parameters.kd)):
            return ''
        falls = '' if law.carries_gravity else ', not even of gravity: the arm falls'
        return (
            f'mode {law.name} with gains.kp and gains.kd of zero corrects no error of a '
            f'motion{falls}'
        )


def make_setup(
    values: Mapping[str, Any], urdf: str, controller: CommandTopic,
    before: ControlSetup | None = None,
) -> ControlSetup:
    """
    Return the robot and settings of the control; raise an RneaError for the first bad value.

    :param before: the previous setup; its model is used again if URDF, ``gravity`` and
        ``strict_inertia`` are unchanged
    """
    warnings: list[str] = []
    robot = from_values(RobotSettings, values)
    if before is not None and (
        (before.urdf, before.robot.strict_inertia, before.robot.gravity)
        == (urdf, robot.strict_inertia, robot.gravity)
    ):
        model = before.model
    else:
        description = parse_urdf(urdf, strict_inertia=robot.strict_inertia)
        warnings.extend(description.warnings)
        model = RobotModel.from_description(description, gravity=robot.gravity)
    listed = listed_joints(values)
    if listed and controller.joints and listed != controller.joints:
        raise InputError('joints', controller.other_joints(listed))
    # While the controller is absent, the joints of the previous setup count.
    joints = listed or controller.joints or (before.settings.joints if before else ())
    settings = resolve(settings_from(values, joints), model)
    check_efforts(model, settings)
    rules = joint_rules(values, model, settings)
    reference = from_values(ReferenceSettings, values)
    from_controller = reference.reference_source is ReferenceSource.CONTROLLER_STATE
    return ControlSetup(
        values=values,
        urdf=urdf,
        model=model,
        settings=settings,
        rules=rules,
        tolerances=tolerances_from(values, settings.joints),
        deceleration=deceleration_from(values, rules),
        robot=robot,
        reference=reference,
        realtime=realtime_from(values),
        state_type=controller_state_type() if from_controller else None,
        listed_joints=bool(listed),
        warnings=tuple(warnings),
    )
