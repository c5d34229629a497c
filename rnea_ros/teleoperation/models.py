# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Limits of the follower's joints, and inertia of the leader's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..feedforward.motion import JointRules
from ..robot import RobotModel


def follower_rules(model: RobotModel, joints: tuple[str, ...]) -> JointRules:
    """Return the limits of the follower's joints; an InputError names an unusable one."""
    numbers = _numbers('joints', model, joints)
    speeds = model.velocity_limits[numbers]
    return JointRules(
        joints, model.position_lower[numbers], model.position_upper[numbers],
        model.continuous[numbers],
        # In many URDFs a velocity limit of 0 means unknown.
        np.where(speeds > 0.0, speeds, np.inf),
    )


def leader_inertia(model: RobotModel, joints: tuple[str, ...]) -> Callable[[Array], Array]:
    """
    Return a function of m joint positions, rad or m: their mass matrix, kg m^2 or kg.

    Other joints are at their neutral position.
    """
    numbers = _numbers('leader_joints', model, joints)
    q, block = model.neutral_position, np.ix_(numbers, numbers)

    def inertia(position: Array) -> Array:
        q[numbers] = position
        matrix: Array = model.mass_matrix(q)[block]
        return matrix

    return inertia


def _numbers(parameter: str, model: RobotModel, joints: tuple[str, ...]) -> list[int]:
    """Return the indices of joints in a model."""
    for name in joints:
        if name not in model.joint_names:
            raise InputError(
                parameter,
                f'{name!r} is not a joint of {model.name!r}; '
                f'it has {", ".join(model.joint_names)}',
            )
    return [model.joint_names.index(name) for name in joints]
