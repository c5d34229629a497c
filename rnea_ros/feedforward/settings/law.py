# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The control law of some settings, and what robot and settings let it command."""

from __future__ import annotations

from itertools import product

import numpy as np

from ...errors import InputError
from ...robot import RobotModel
from ..laws import LAWS, ControlLaw
from ..loaded_model import LoadedModel
from .resolved import MAX_ACCELERATION, ResolvedSettings

DEFAULT_MAX_VELOCITY = 10.0
"""Velocity for joints without a velocity limit, rad/s or m/s."""


def make_law(
    settings: ResolvedSettings, robot: LoadedModel, mode: type[ControlLaw] | None = None
) -> ControlLaw:
    """Return the law of a mode (None: that of the settings) for all joints of the model."""
    kp, kd = np.zeros((2, robot.model.nv))
    kp[settings.joint_indices], kd[settings.joint_indices] = settings.kp, settings.kd
    mode = mode or settings.mode
    return mode(
        robot, kp, kd, compensate_coriolis=settings.compensate_coriolis,
        friction=settings.joint_friction, friction_velocity=settings.friction.velocity,
        armature=settings.rotor_inertia, parameters=settings.of_law(mode),
    )


def check_efforts(model: RobotModel, settings: ResolvedSettings) -> None:
    """Raise an InputError if an effort of any mode, at the ends of joint ranges, is not finite."""
    robot = LoadedModel(model, settings.hardware_compensates, settings.own_hardware_gravity)
    robot.set_payloads(settings.payloads)
    laws = [make_law(settings, robot, mode) for mode in LAWS.values()]
    lower = np.where(np.isfinite(model.position_lower), model.position_lower, -np.pi)
    upper = np.where(np.isfinite(model.position_upper), model.position_upper, np.pi)
    limits = model.velocity_limits
    fastest = np.where((limits > 0.0) & np.isfinite(limits), limits, DEFAULT_MAX_VELOCITY)
    test_acceleration = np.full(model.nv, MAX_ACCELERATION)
    one, other = (lower, fastest), (upper, -fastest)
    with np.errstate(all='ignore'):
        for law, ((q, qd), (q_d, qd_d)) in product(laws, ((one, other), (other, one))):
            effort = law.effort(q, qd, (q_d, qd_d, test_acceleration))
            # The sum of huge efforts may overflow, too.
            if not np.isfinite(effort.sum()):
                joint = model.joint_names[int(np.abs(np.nan_to_num(effort)).argmax())]
                raise InputError(
                    'robot_description',
                    f'with these parameters the efforts in mode {law.name} are not finite, '
                    f'largest at joint {joint!r}; look for a mass or a length that is too large',
                )
