# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The parameters of ``trajectory_effort``: its own, and those that it shares with the control."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
import math
from typing import Any

from rclpy.parameter import Parameter

from ..errors import InputError
from ..node.parameters import PARAMETERS as OF_THE_CONTROL
from ..node.parameters import check_alone
from ..parameters import Declaration, declare_all

_SHARED = (
    'strict_inertia', 'gravity', 'hardware_compensates', 'friction.model', 'friction.viscous',
    'friction.coulomb', 'friction.viscous_negative', 'friction.coulomb_negative',
    'friction.load', 'friction.smoothing_velocity', 'armature',
    'payload.link', 'payload.mass', 'payload.com', 'payload.inertia', 'effort_limits',
    'differentiate_velocity', 'start_tolerance', 'allow_partial_joints_goal',
    'allow_nonzero_velocity_at_trajectory_end', 'use_trajectory_effort',
)
# They make the robot, which is read once.
_AT_THE_START = ('strict_inertia', 'gravity', 'differentiate_velocity')

PARAMETERS: Mapping[str, Declaration] = {
    'robot_description': replace(OF_THE_CONTROL['robot_description'], read_only=True),
    'trajectory_topic': Declaration(
        'joint_trajectory_controller/joint_trajectory',
        'where trajectories with efforts go',
        read_only=True,
    ),
    'joints': Declaration(
        [''],
        "the trajectory controller's joints; ['']: its parameter 'joints'",
        read_only=True,
    ),
    'resample': Declaration(
        0.02,
        'time between two points at most, s, at least 0.001: efforts are joined by straight '
        'lines; 0: only the points that were given',
        span=(0.0, 10.0),
    ),
    'joint_states_timeout': Declaration(
        0.5, 'age of joint states at which no trajectory is accepted, s', span=(0.1, 3600.0)
    ),
    **{
        name: replace(OF_THE_CONTROL[name], read_only=name in _AT_THE_START)
        for name in _SHARED
    },
    'hardware_compensates': replace(
        OF_THE_CONTROL['hardware_compensates'],
        description="what the robot's own controller adds to every command: none, or some of "
        "gravity | friction | payload; ['']: as none",
    ),
}


def declare(node: Any) -> None:
    """
    Declare the parameters on a node.

    :param node: has no parameters of its own yet
    :raises InputError: a value that was given at the start cannot be used, or there is no such
        parameter
    """
    declare_all(node, PARAMETERS)


def values_of(node: Any, changes: Iterable[Parameter] = ()) -> dict[str, Any]:
    """
    Return all values by name, those of the control that are not used by their default.

    :param node: has declared them
    :param changes: parameters to take instead of those in force
    :raises InputError: a value that no robot could be run with
    """
    values = {name: declaration.default for name, declaration in OF_THE_CONTROL.items()}
    values.update({name: node.get_parameter(name).value for name in PARAMETERS})
    values.update({change.name: change.value for change in changes if change.name in PARAMETERS})
    checked = {**values, 'joint_states_timeout': 0.0}
    check_alone(checked)
    for name in ('resample', 'joint_states_timeout', 'start_tolerance'):
        if not math.isfinite(values[name]):
            raise InputError(name, f'{values[name]} is not finite')
    if 0.0 < values['resample'] < 1e-3:
        raise InputError('resample', f'{values["resample"]} s is below 0.001 s and not 0')
    return values
