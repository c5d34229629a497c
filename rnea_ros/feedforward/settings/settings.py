# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the control, each with its description and range."""

from __future__ import annotations

from dataclasses import dataclass
import enum

from ...parameters import EACH, group, parameter
from ...robot import Payload
from ..laws import LAWS, ControlLaw, Gravity
from ..loaded_model import HardwareCompensation
from .base_sensor import BaseSensorSettings
from .effort_units import EffortUnits
from .external_effort import ContactSettings, ExternalEffortSettings
from .friction import MAX_GAIN, FrictionSettings
from .soft_limits import SoftLimitSettings
from .wrench_inputs import WrenchInputSettings

MAX_DURATION = 3600.0
"""Longest duration, s."""

RATES = (1.0, 10_000.0)
"""Lowest and highest rate, Hz."""


AS_GRAVITY = (0.0,)
"""Stands for the gravity of the model."""


class StaleAction(enum.Enum):
    """Action when the control ends, by a fault or on request."""

    RAMP_DOWN = 'ramp_down'  # gravity torque for hold_duration, then a ramp to zero
    HOLD = 'hold'            # gravity torque at the last valid position until a new activation


def _units(gain: int) -> str:
    """Return the units of kp (0) or kd (1) in the laws, the usual one last."""
    usual, laws = ControlLaw.gain_units, LAWS.values()
    others = [f'{law.gain_units[gain]} in {law.name}' for law in laws if law.gain_units != usual]
    return ', '.join([*others, f'else {usual[gain]}'])


@dataclass(frozen=True)
class AdditionalEffortSettings:
    """Parameters ``additional_effort.*``; :mod:`.efforts` uses them."""

    limits: tuple[float, ...] = parameter(
        (0.0,), f'largest effort of ~/additional_effort, {EACH}, N m or N; 0: none',
        span=(0.0, 1e6), while_active=True,
    )
    timeout: float = parameter(
        0.1, 'age of a message at which its efforts begin to fade, s',
        span=(0.001, 10.0), while_active=True,
    )
    fade: float = parameter(
        0.1, 'time to fade the efforts out after silence, and in at the start of a stream, s',
        span=(0.001, 10.0), while_active=True,
    )


@dataclass(frozen=True)
class Settings:
    """
    Parameters of the control; those per joint have one value per joint, or one for all.

    :param joints: the controller's joints, in its order
    :param payloads: payloads that are not in the robot description
    :param hardware_compensates: efforts that the robot's own controller adds to every command
    :param wrench_inputs: force-torque sensors
    :param base_sensor: the IMU on the base, None for no IMU
    """

    joints: tuple[str, ...]
    rate: float = parameter(500.0, 'commands per second, Hz', span=RATES)
    mode: type[ControlLaw] = parameter(Gravity, 'control law', words=LAWS, while_active=True)
    kp: tuple[float, ...] = parameter(
        (0.0,), f'proportional gains, {EACH}: {_units(0)}',
        span=(0.0, MAX_GAIN), while_active=True, name='gains.kp',
    )
    kd: tuple[float, ...] = parameter(
        (0.0,), f'derivative gains, {EACH}: {_units(1)}',
        span=(0.0, MAX_GAIN), while_active=True, name='gains.kd',
    )
    compensate_coriolis: bool = parameter(
        False, 'include Coriolis and centrifugal efforts in mode gravity', while_active=True
    )
    damping: tuple[float, ...] = parameter(
        (0.0,), f'damping while no motion is followed, {EACH}, N m s/rad or N s/m',
        span=(0.0, MAX_GAIN), while_active=True,
    )
    armature: tuple[float, ...] = parameter(
        (0.0,),
        f'rotor inertia at the joint, {EACH}, kg m^2 or kg: '
        'inertia of the rotor itself times gear ratio squared',
        span=(0.0, 1e4),
    )
    hardware_gravity: tuple[float, ...] = parameter(
        AS_GRAVITY,
        'gravitational acceleration in the root link frame for which the robot compensates '
        'gravity and payload, m/s^2; [0.0]: the parameter gravity, with an IMU its direction',
        span=(-100.0, 100.0),
    )
    effort_limits: tuple[float, ...] = parameter(
        (0.0,), f'maximum effort, {EACH}, N m or N; 0: the URDF limit', span=(0.0, 1e6)
    )
    effort_rate_limit: tuple[float, ...] = parameter(
        (0.0,), f'maximum change of effort, {EACH}, N m/s or N/s; 0: full effort in 0.1 s',
        span=(0.0, 1e9),
    )
    ramp_duration: float = parameter(
        1.0, 'ramp at start, at a mode change, and down to zero, s', span=(0.0, MAX_DURATION)
    )
    hold_duration: float = parameter(
        1.0,
        'time for which gravity is held after a fault; after a stall the control returns '
        'within it, s',
        span=(0.0, MAX_DURATION),
    )
    joint_states_timeout: float = parameter(
        0.0,
        'age of joint states, or time without a tick, that interrupts the control, s; '
        '0: twenty periods, at least 0.1 s',
        span=(0.0, MAX_DURATION),
    )
    uncommanded_timeout: float = parameter(
        0.0,
        'time without a valid value of an uncommanded joint that interrupts the control, s; '
        '0: its last valid value counts for ever',
        span=(0.0, MAX_DURATION),
    )
    velocity_limit_factor: float = parameter(
        2.0,
        'reject velocities, and positions that need a speed, above this multiple of the URDF '
        'velocity limit, 1 or more; 0: accept all',
        span=(0.0, 1000.0),
    )
    reference_timeout: float = parameter(
        0.2, 'age of a streamed set-point at which its position is held, s',
        span=(1e-4, MAX_DURATION),
    )
    stale_action: StaleAction = parameter(StaleAction.RAMP_DOWN, 'action at a fault or a stop')
    start_from_measured_effort: bool = parameter(
        True, 'start the ramp from the measured effort if available; false: from zero'
    )
    predict_state: bool = parameter(
        False, 'follow trajectories with state and reference predicted to one period from now'
    )
    payload_blend_duration: float = parameter(
        1.0, 'transition time of a payload change, s',
        span=(0.0, MAX_DURATION), while_active=True, name='payload.blend_duration',
    )
    units: EffortUnits = group(EffortUnits())
    friction: FrictionSettings = group(FrictionSettings(), 'friction.')
    payloads: tuple[Payload, ...] = ()
    hardware_compensates: tuple[HardwareCompensation, ...] = ()
    wrench_inputs: tuple[WrenchInputSettings, ...] = ()
    base_sensor: BaseSensorSettings | None = None
    external_effort: ExternalEffortSettings = group(ExternalEffortSettings(), 'external_effort.')
    contact: ContactSettings = group(ContactSettings(), 'contact.')
    additional_effort: AdditionalEffortSettings = group(
        AdditionalEffortSettings(), 'additional_effort.'
    )
    soft_limits: SoftLimitSettings = group(SoftLimitSettings(), 'soft_limits.')

    @property
    def own_hardware_gravity(self) -> tuple[float, ...] | None:
        """Gravity for which the robot compensates, m/s^2; None for that of the model."""
        return None if self.hardware_gravity == AS_GRAVITY else self.hardware_gravity

    @property
    def period(self) -> float:
        """Time between commands, s."""
        return 1.0 / self.rate
