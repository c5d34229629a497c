# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The parameters of the controller manager that runs inside Gazebo, with the robot's joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import InputError


def listed_joints(parameters: Any, controller: str) -> tuple[str, ...]:
    """
    Return the joints that parameters list for a controller, none where they list none.

    :param parameters: what was read from a YAML file
    :param controller: its name
    :raises InputError: they have no such controller
    """
    return tuple(_values(parameters, controller).get('joints') or ())


def with_joints(parameters: Any, controller: str, joints: Sequence[str]) -> dict[str, Any]:
    """
    Return parameters in which a controller commands the given joints.

    :param parameters: what was read from a YAML file
    :param controller: its name
    :param joints: in order
    :raises InputError: they have no such controller, or list other joints for it
    """
    values = _values(parameters, controller)
    listed = listed_joints(parameters, controller)
    if listed not in ((), tuple(joints)):
        raise InputError(
            'joints',
            f'{", ".join(joints)} are to be commanded, {controller} has {", ".join(listed)}',
        )
    return dict(parameters) | {controller: {'ros__parameters': values | {'joints': list(joints)}}}


def _values(parameters: Any, controller: str) -> dict[str, Any]:
    section = parameters.get(controller) if isinstance(parameters, dict) else None
    values = section.get('ros__parameters') if isinstance(section, dict) else None
    if not isinstance(values, dict):
        raise InputError('controllers_file', f'has no {controller}: ros__parameters')
    return values
