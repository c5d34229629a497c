# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What a user sets, checked as a whole before anything of it takes effect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import enum
import math

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...errors import InputError, brief
from ...robot import Payload, RobotModel
from ..law import HardwareCompensation, JointFriction, Mode
from .base_sensor import BaseSensorSettings, check_base_sensor
from .checks import in_range, per_joint
from .friction import IDEAL_JOINTS, FrictionSettings, resolve_friction
from .ranges import LONGEST, RANGES
from .wrench_inputs import WrenchInputSettings, check_wrench_inputs

DEFAULT_TIMEOUT_PERIODS = 20
"""Joint states are stale after so many periods of the control where no timeout is set."""

DEFAULT_RATE_LIMIT_TIME = 0.1
"""Full effort is reached in so many seconds where no rate limit is set."""

MOST_PAYLOADS = 16
"""While payloads change, each of them takes its time in every tick."""

LONGEST_STOP = 3.0 * LONGEST
"""How long a stop may take at most, s."""


class StaleAction(enum.Enum):
    """What follows when the control ends, by a fault or on request."""

    RAMP_DOWN = 'ramp_down'  # gravity torque for hold_duration, then down to zero
    HOLD = 'hold'            # gravity torque at the last valid position, until activated anew


@dataclass(frozen=True)
class Settings:
    """
    Parameters of the control; per-joint ones have one value for each joint, or one for all.

    :param joints: the controller's joints, in its order
    :param rate: commands a second, Hz
    :param mode: the control law
    :param kp: proportional gains; see :mod:`.control_law` for their units
    :param kd: derivative gains
    :param compensate_coriolis: whether gravity mode includes Coriolis and centrifugal efforts
    :param effort_limits: N m or N; 0 for that of the URDF
    :param effort_rate_limit: N m/s or N/s; 0 for the full effort in 0.1 s
    :param ramp_duration: of the ramp at start, at a change of mode, and down to zero, s
    :param hold_duration: how long gravity is held after a fault, s
    :param joint_states_timeout: age of joint states that ends the control, s; 0 for 20 periods
    :param uncommanded_timeout: the same for joints that are not commanded, s; 0 for as long
    :param velocity_limit_factor: a position is refused where it needs a velocity above this
        multiple of the limit; 0 for no check
    :param reference_timeout: age of a streamed set-point after which its position is held, s
    :param stale_action: what follows when the control ends
    :param start_from_measured_effort: start the ramp from the measured effort where there is one
    :param friction: of the joints
    :param payloads: what the robot carries beyond its description
    :param payload_blend_duration: in which a changed payload takes effect, s
    :param hardware_compensates: what the robot's own controller adds to every command
    :param wrench_inputs: force-torque sensors
    :param base_sensor: the IMU on the base, None for none
    """

    joints: tuple[str, ...]
    rate: float = 500.0
    mode: Mode = Mode.GRAVITY
    kp: tuple[float, ...] = (0.0,)
    kd: tuple[float, ...] = (0.0,)
    compensate_coriolis: bool = False
    effort_limits: tuple[float, ...] = (0.0,)
    effort_rate_limit: tuple[float, ...] = (0.0,)
    ramp_duration: float = 1.0
    hold_duration: float = 1.0
    joint_states_timeout: float = 0.0
    uncommanded_timeout: float = 0.0
    velocity_limit_factor: float = 2.0
    reference_timeout: float = 0.2
    stale_action: StaleAction = StaleAction.RAMP_DOWN
    start_from_measured_effort: bool = True
    friction: FrictionSettings = IDEAL_JOINTS
    payloads: tuple[Payload, ...] = ()
    payload_blend_duration: float = 1.0
    hardware_compensates: tuple[HardwareCompensation, ...] = ()
    wrench_inputs: tuple[WrenchInputSettings, ...] = ()
    base_sensor: BaseSensorSettings | None = None

    @property
    def period(self) -> float:
        """The time between commands, s."""
        return 1.0 / self.rate


@dataclass(frozen=True)
class ResolvedSettings:
    """Settings for one robot: arrays over the controller's joints, defaults filled in."""

    settings: Settings
    joints: tuple[str, ...]
    in_model: NDArray[np.intp]
    kp: Array
    kd: Array
    effort_limits: Array
    effort_rate_limit: Array
    joint_states_timeout: float
    friction: JointFriction
    uncommanded_timeout: float

    @property
    def greatest_stop_time(self) -> float:
        """How long a stop may take at most: to gravity at the rate limit, held, to zero, s."""
        with np.errstate(over='ignore'):  # resolve() refuses what is infinite
            swing = float((2.0 * self.effort_limits / self.effort_rate_limit).max())
        return 2.0 * swing + self.settings.hold_duration + self.settings.ramp_duration


def resolve(settings: Settings, model: RobotModel) -> ResolvedSettings:
    """
    Check settings against each other and against a robot.

    :raises InputError: the first parameter that cannot be used
    """
    joints = settings.joints
    _check_joints(joints, model)
    in_model = np.array([model.joint_names.index(name) for name in joints], dtype=np.intp)
    _check_numbers(settings)
    _check_payloads(settings.payloads, model)
    effort_limits = per_joint('effort_limits', settings.effort_limits, joints)
    effort_limits = np.where(effort_limits > 0.0, effort_limits, model.effort_limits[in_model])
    for name, limit in zip(joints, effort_limits, strict=True):
        if not 0.0 < limit < math.inf:
            raise InputError(
                'effort_limits', f'joint {name!r}: the URDF has limit {limit}, set one above 0'
            )
    rate_limit = per_joint('effort_rate_limit', settings.effort_rate_limit, joints)
    default_rate_limit = effort_limits / DEFAULT_RATE_LIMIT_TIME
    effort_rate_limit = np.where(rate_limit > 0.0, rate_limit, default_rate_limit)
    check_wrench_inputs(settings.wrench_inputs, model)
    if settings.base_sensor is not None:
        check_base_sensor(settings.base_sensor, model)
    timeout = settings.joint_states_timeout or DEFAULT_TIMEOUT_PERIODS * settings.period
    resolved = ResolvedSettings(
        settings=settings,
        joints=joints,
        in_model=in_model,
        kp=per_joint('gains.kp', settings.kp, joints),
        kd=per_joint('gains.kd', settings.kd, joints),
        effort_limits=effort_limits,
        effort_rate_limit=effort_rate_limit,
        joint_states_timeout=timeout,
        uncommanded_timeout=settings.uncommanded_timeout or timeout,
        friction=resolve_friction(
            settings.friction,
            joints,
            in_model,
            model,
            compensated=HardwareCompensation.FRICTION in settings.hardware_compensates,
        ),
    )
    if not resolved.greatest_stop_time <= LONGEST_STOP:
        raise InputError(
            'effort_rate_limit',
            f'{brief(settings.effort_rate_limit)} lets a stop take '
            f'{resolved.greatest_stop_time:.3g} s, more than {LONGEST_STOP:g} s',
        )
    return resolved


def _check_numbers(settings: Settings) -> None:
    """Check every number that is one for the whole robot."""
    for parameter in ('rate', 'ramp_duration', 'hold_duration'):
        in_range(parameter, getattr(settings, parameter), *RANGES[parameter])
    blend = 'payload.blend_duration'
    in_range(blend, settings.payload_blend_duration, *RANGES[blend])
    for parameter in ('joint_states_timeout', 'uncommanded_timeout'):
        if getattr(settings, parameter) != 0.0:
            in_range(parameter, getattr(settings, parameter), settings.period, LONGEST)
    if settings.velocity_limit_factor != 0.0:
        greatest = RANGES['velocity_limit_factor'][1]
        in_range('velocity_limit_factor', settings.velocity_limit_factor, 1.0, greatest)
    in_range('reference_timeout', settings.reference_timeout, settings.period, LONGEST)


def _check_payloads(payloads: Sequence[Payload], model: RobotModel) -> None:
    if len(payloads) > MOST_PAYLOADS:
        raise InputError('payload.link', f'{len(payloads)} are more than {MOST_PAYLOADS}')
    for payload in payloads:
        if payload.link not in model.link_names:
            known = ', '.join(model.link_names)
            raise InputError(
                'payload.link', f'{brief(payload.link)} is no link; known are {known}'
            )
        in_range('payload.mass', payload.mass, *RANGES['payload.mass'])
        for part in ('com', 'inertia'):
            numbers = np.asarray(getattr(payload, part)).tolist()
            in_range(f'payload.{part}', numbers, *RANGES[f'payload.{part}'])


def _check_joints(joints: Sequence[str], model: RobotModel) -> None:
    if not joints:
        raise InputError('joints', 'no joint to command')
    for name in model.joint_names:
        if model.position_indices(name) != model.velocity_indices(name) or (
            model.position_indices(name).stop - model.position_indices(name).start != 1
        ):
            raise InputError(
                'joints', f'joint {name!r} of robot {model.name!r} has more than one axis'
            )
    for name in joints:
        if joints.count(name) > 1:
            raise InputError('joints', f'joint {name!r} is listed {joints.count(name)} times')
        if name not in model.joint_names:
            raise InputError(
                'joints',
                f'joint {brief(name)} is no moving, independent joint of robot {model.name!r}; '
                f'known are {", ".join(model.joint_names)}',
            )
