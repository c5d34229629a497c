# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the control for one robot: checked together, defaults filled in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from ...arrays import Array, Indices
from ...errors import InputError, brief
from ...parameters import check_ranges, in_range, with_value_per_joint
from ...robot import RobotModel
from ..friction import JointFriction
from ..loaded_model import HardwareCompensation
from .base_sensor import check_base_sensor
from .damping import bound_damping
from .effort_units import resolve_effort_scale
from .external_effort import check_link, with_default_threshold
from .friction import resolve_friction
from .payloads import check_payloads
from .settings import MAX_DURATION, RATES, Settings
from .soft_limits import SoftLimitZones, resolve_soft_limits
from .wrench_inputs import check_wrench_inputs

DEFAULT_TIMEOUT_PERIODS = 20
"""Default timeout of joint states, in periods of the control."""

MIN_DEFAULT_TIMEOUT = 0.1
"""Minimum default timeout of joint states, s: a busy computer stalls for so long."""

DEFAULT_RATE_LIMIT_TIME = 0.1
"""Time from zero to full effort at the default rate limit, s."""

MAX_EFFORT = 1e12
"""Maximum effort limit, N m or N; a larger one in the URDF counts as none."""

MAX_STOP_TIME = 3.0 * MAX_DURATION
"""Longest permitted duration of a stop, s."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ResolvedSettings(Settings):
    """
    Settings for one robot with n joints and m commanded joints, defaults filled in.

    Parameters per joint have m values. Two are equal if their parameters are.

    :param joint_indices: indices of the commanded joints in the model, shape (m,)
    :param rotor_inertia: of all joints of the model, shape (n,), kg m^2 or kg
    :param effort_scale: N m or N per unit of measured efforts, shape (n,)
    :param joint_friction: friction of all joints of the model, as the control compensates it
    :param motor_friction: the same, also if the hardware compensates it
    :param zones: zones before the position limits
    """

    joint_indices: Indices
    rotor_inertia: Array
    effort_scale: Array
    joint_friction: JointFriction
    motor_friction: JointFriction
    zones: SoftLimitZones

    @property
    def greatest_swing(self) -> float:
        """Longest time from one effort limit to the other at the rate limit, s."""
        swings = zip(self.effort_limits, self.effort_rate_limit, strict=True)
        return max(2.0 * limit / rate for limit, rate in swings)

    @property
    def greatest_stop_time(self) -> float:
        """Longest duration of a stop: to gravity at the rate limit, hold, ramp to zero, s."""
        return 2.0 * self.greatest_swing + self.hold_duration + self.ramp_duration


def resolve(settings: Settings, model: RobotModel) -> ResolvedSettings:
    """
    Check parameters against each other and against a robot, and fill in defaults.

    :raises InputError: the first parameter that cannot be used
    """
    joints = settings.joints
    _check_joints(joints, model)
    joint_indices = np.array([model.joint_names.index(name) for name in joints], dtype=np.intp)
    _check_numbers(settings)
    given, settings = settings, with_value_per_joint(settings, joints)
    check_payloads(settings.payloads, model)
    urdf_limits, limits = model.effort_limits[joint_indices], np.array(settings.effort_limits)
    effort_limits = np.where(limits > 0.0, limits, urdf_limits)
    for name, limit in zip(joints, effort_limits, strict=True):
        if not 0.0 < limit <= MAX_EFFORT:
            raise InputError(
                'effort_limits', f'joint {name!r}: the URDF has limit {limit}, set one above 0'
            )
    rate_limit = np.array(settings.effort_rate_limit)
    rate_limit = np.where(rate_limit > 0.0, rate_limit, effort_limits / DEFAULT_RATE_LIMIT_TIME)
    rotor_inertia = np.zeros(model.nv)
    rotor_inertia[joint_indices] = settings.armature
    check_wrench_inputs(settings.wrench_inputs, model)
    if settings.base_sensor is not None:
        check_base_sensor(settings.base_sensor, model)
    check_link(settings.external_effort.link, joint_indices, model)
    zones = resolve_soft_limits(settings.soft_limits, joints, model, settings.period)
    bound_damping(settings, zones, rotor_inertia, model)

    def friction(*, compensated: bool) -> JointFriction:
        return resolve_friction(
            settings.friction, joints, joint_indices, model, compensated=compensated
        )

    settings = replace(
        settings,
        effort_limits=tuple(effort_limits.tolist()),
        effort_rate_limit=tuple(rate_limit.tolist()),
        joint_states_timeout=settings.joint_states_timeout or default_timeout(settings.period),
        contact=with_default_threshold(settings.contact, effort_limits),
    )
    resolved = ResolvedSettings(
        **{field.name: getattr(settings, field.name) for field in fields(Settings)},
        joint_indices=joint_indices,
        rotor_inertia=rotor_inertia,
        effort_scale=resolve_effort_scale(given.units.effort_scale, joints, model.joint_names),
        joint_friction=friction(
            compensated=HardwareCompensation.FRICTION in settings.hardware_compensates
        ),
        motor_friction=friction(compensated=False),
        zones=zones,
    )
    if not resolved.greatest_stop_time <= MAX_STOP_TIME:
        raise InputError(
            'effort_rate_limit',
            f'{brief(given.effort_rate_limit)} lets a stop take '
            f'{resolved.greatest_stop_time:.3g} s, more than {MAX_STOP_TIME:g} s',
        )
    return resolved


def default_timeout(period: float) -> float:
    """Return the default timeout of joint states, s, for their or the control's period, s."""
    return max(DEFAULT_TIMEOUT_PERIODS * period, MIN_DEFAULT_TIMEOUT)


def _check_numbers(settings: Settings) -> None:
    """Check ranges; those that depend on another parameter first, with their own bounds."""
    in_range('rate', settings.rate, *RATES)
    for name in ('joint_states_timeout', 'uncommanded_timeout'):
        if getattr(settings, name) != 0.0:
            in_range(name, getattr(settings, name), settings.period, MAX_DURATION)
    factor = settings.velocity_limit_factor
    if 0.0 < factor < 1.0:
        raise InputError('velocity_limit_factor', f'{factor} is below 1 and not 0')
    in_range('reference_timeout', settings.reference_timeout, settings.period, MAX_DURATION)
    check_ranges(settings)
    if len(settings.hardware_gravity) != 3 and settings.own_hardware_gravity is not None:
        raise InputError(
            'hardware_gravity',
            f'{brief(settings.hardware_gravity)} is neither three numbers nor [0.0]',
        )


def _check_joints(joints: Sequence[str], model: RobotModel) -> None:
    if not joints:
        raise InputError('joints', 'no joint to command')
    for name in model.joints_of_several_axes:
        raise InputError(
            'joints', f'joint {name!r} of robot {model.name!r} has more than one axis'
        )
    for name in joints:
        if joints.count(name) > 1:
            raise InputError('joints', f'joint {name!r} is listed {joints.count(name)} times')
        if name not in model.joint_names:
            raise InputError(
                'joints',
                f'joint {brief(name)} is not a moving, independent joint of robot {model.name!r}; '
                f'known are {", ".join(model.joint_names)}',
            )
