# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the controller manager in Gazebo, with the robot's joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import InputError


def listed_joints(parameters: Any, controller: str) -> tuple[str, ...]:
    """Return the joints of a controller in parameters of a YAML file, empty if there are none."""
    return tuple(_values(parameters, controller).get('joints') or ())


def with_joints(parameters: Any, controller: str, joints: Sequence[str]) -> dict[str, Any]:
    """Return parameters with the commanded joints of a controller, which must not have others."""
    values = _values(parameters, controller)
    listed = listed_joints(parameters, controller)
    if listed not in ((), tuple(joints)):
        raise InputError(
            'joints',
            f'commanded are {", ".join(joints)}, but {controller} has {", ".join(listed)}',
        )
    return dict(parameters) | {controller: {'ros__parameters': values | {'joints': list(joints)}}}


def _values(parameters: Any, controller: str) -> dict[str, Any]:
    section = parameters.get(controller) if isinstance(parameters, dict) else None
    values = section.get('ros__parameters') if isinstance(section, dict) else None
    if not isinstance(values, dict):
        raise InputError('controllers_file', f'has no {controller}: ros__parameters')
    return values
