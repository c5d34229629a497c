# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Settings from the values of the node's parameters, checked as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import InputError, brief
from ...feedforward import acceleration_limits
from ...feedforward.motion import Deceleration, JointRules, Tolerances, default_tolerances
from ...feedforward.settings import (
    BaseSensorSettings,
    PayloadSettings,
    ResolvedSettings,
    Settings,
    WrenchInputSettings,
)
from ...parameters import from_values
from ...robot import RobotModel
from ..timing import RealtimeSettings, check_realtime
from .hardware_compensation import compensated
from .table import all_declarations, constrained_joints, sensor_names, sensor_prefix

MAX_VELOCITY = 1000.0  # limit of joints without a limit, rad/s or m/s


def settings_from(values: Mapping[str, Any], joints: tuple[str, ...]) -> Settings:
    """Return the control's settings; raise an InputError for the first unusable parameter."""
    has_base_sensor = bool(values['base_sensor.topic'])
    return from_values(
        Settings,
        values,
        joints=joints,
        payloads=from_values(PayloadSettings, values, 'payload.').payloads(),
        hardware_compensates=compensated(values['hardware_compensates']),
        wrench_inputs=tuple(
            from_values(WrenchInputSettings, values, sensor_prefix(name), name=name)
            for name in sensor_names(values['wrench_inputs.names'])
        ),
        base_sensor=(
            from_values(BaseSensorSettings, values, 'base_sensor.') if has_base_sensor else None
        ),
    )


def realtime_from(values: Mapping[str, Any]) -> RealtimeSettings:
    """Return the scheduling of the loop's thread, if a system can grant it."""
    settings = from_values(RealtimeSettings, values, 'realtime.')
    check_realtime(settings)
    return settings


def listed_joints(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the joints in parameter ``joints``; none if the controller gives them."""
    return tuple(name for name in values['joints'] if name)


def check_without_robot(values: Mapping[str, Any]) -> None:
    """Raise an InputError for the first parameter that cannot be used on any robot."""
    for name, declaration in all_declarations(values['wrench_inputs.names'], values).items():
        declaration.check(name, values[name])
    settings_from(values, ())
    realtime_from(values)
    if len(values['gravity']) != 3:
        raise InputError('gravity', f'{brief(values["gravity"])} is not three numbers')


def joint_rules(
    values: Mapping[str, Any], model: RobotModel, settings: ResolvedSettings
) -> JointRules:
    """Return the rules for motions of the commanded joints."""
    commanded = settings.joint_indices
    speeds = model.velocity_limits[commanded]
    return from_values(
        JointRules,
        values,
        joint_names=settings.joints,
        lower=model.position_lower[commanded],
        upper=model.position_upper[commanded],
        continuous=model.continuous[commanded],
        # In many URDFs a velocity limit of 0 means unknown.
        velocity_limits=np.minimum(np.where(speeds > 0.0, speeds, np.inf), MAX_VELOCITY),
        acceleration_limits=acceleration_limits(model, settings),
        effort_limits=np.array(settings.effort_limits),
    )


def tolerances_from(values: Mapping[str, Any], joints: tuple[str, ...]) -> Tolerances:
    """Return the default tolerances; raise an InputError for a joint that is not commanded."""
    constrained = constrained_joints(values)
    for joint in constrained:
        if joint not in joints:
            raise InputError(
                f'constraints.{joint}', f'not one of the commanded joints {", ".join(joints)}'
            )
    return default_tolerances(
        joints, {joint: values[f'constraints.{joint}.trajectory'] for joint in constrained},
        {joint: values[f'constraints.{joint}.goal'] for joint in constrained},
        values['constraints.stopped_velocity_tolerance'], values['constraints.goal_time'],
    )


def deceleration_from(values: Mapping[str, Any], rules: JointRules) -> Deceleration | None:
    """Return limits of a stop, or None to hold; a joint without a maximum is an InputError."""
    if not values['constraints.decelerate_on_cancel']:
        return None
    names = [f'constraints.{joint}.max_deceleration_on_cancel' for joint in rules.joint_names]
    maximum = [values.get(name, 0.0) for name in names]
    if 0.0 in maximum:
        raise InputError(
            names[maximum.index(0.0)], 'constraints.decelerate_on_cancel needs a value above 0'
        )
    return Deceleration(np.array(maximum), rules.lower, rules.upper)
