# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The control law of some settings, and what robot and settings let it command."""

from __future__ import annotations

from itertools import product

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...robot import RobotModel
from ..laws import LAWS, ControlLaw
from ..loaded_model import LoadedModel
from .resolved import ResolvedSettings

DEFAULT_MAX_VELOCITY = 10.0
"""Velocity for joints without a velocity limit, rad/s or m/s."""

MAX_ACCELERATION = 1000.0
"""Greatest reference acceleration, rad/s^2 or m/s^2."""


def make_law(
    settings: ResolvedSettings, robot: LoadedModel, mode: type[ControlLaw] | None = None
) -> ControlLaw:
    """Return the law of a mode (None: that of the settings) for all joints of the model."""
    kp, kd = np.zeros((2, robot.model.nv))
    kp[settings.joint_indices], kd[settings.joint_indices] = settings.kp, settings.kd
    return (mode or settings.mode)(
        robot, kp, kd, compensate_coriolis=settings.compensate_coriolis,
        friction=settings.joint_friction, friction_velocity=settings.friction.velocity,
        armature=settings.rotor_inertia,
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


def acceleration_limits(model: RobotModel, settings: ResolvedSettings) -> Array:
    """
    Return the greatest accelerations of motions of the commanded joints, shape (m,).

    Twice that of full effort with a joint's largest inertia in 100 poses. A folded arm may have
    more, but no planner uses it. A larger effort limit in the URDF counts.
    """
    joints = settings.joint_indices
    poses = np.random.default_rng(0).uniform(-np.pi, np.pi, (100, model.nv))
    poses = np.clip(poses, model.position_lower, model.position_upper)
    inertia = np.max([model.mass_matrix(q).diagonal() for q in poses], axis=0)
    inertia += settings.rotor_inertia
    urdf_limits = np.nan_to_num(model.effort_limits[joints], posinf=0.0)
    effort = np.maximum(urdf_limits, settings.effort_limits)
    limits: Array = effort / np.maximum(0.5 * inertia[joints], effort / MAX_ACCELERATION)
    return limits
