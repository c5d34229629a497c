# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Parameters of the control, each with its description and range.

A bound is wider than any arm needs: a larger number is a mistake of a unit or a digit, and
products of such numbers might not be finite.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
import enum
from typing import Any, TypeAlias

from ...errors import InputError, brief
from ...parameters import EACH, active, check_ranges, group, parameter
from ...robot import Payload
from ..laws import LAWS, ControlLaw, FrictionModel, Gravity, VelocitySource
from ..loaded_model import HardwareCompensation
from .sensors import BaseSensorSettings, WrenchInputSettings

Numbers: TypeAlias = tuple[float, ...]

MAX_GAIN = 1e6  # largest gain, friction, or factor between units of effort; SI units
MAX_DURATION = 3600.0  # longest duration, s
RATES = (1.0, 10_000.0)  # lowest and highest rate, Hz
AS_GRAVITY = (0.0,)  # stands for the gravity of the model
AS_POSITIVE = (-1.0,)  # stands for the values of the positive direction
OF_URDF = (-1.0,)  # stands for the values of the URDF's <safety_controller>


class StaleAction(enum.Enum):
    """Action when the control ends, by a fault or on request."""

    RAMP_DOWN = 'ramp_down'  # gravity torque for hold_duration, then a ramp to zero
    HOLD = 'hold'            # gravity torque at the last valid position until a new activation


class EffortSource(enum.Enum):
    """Motor efforts from which the external effort is computed."""

    MEASURED = 'measured'    # of the joint states; the last command where they have none
    COMMANDED = 'commanded'  # the last command


class ContactAction(enum.Enum):
    """Reaction to a contact."""

    NONE = 'none'        # contact is not detected
    FLAG = 'flag'        # raise the flag contact
    HOLD = 'hold'        # also end the motion, and hold the position
    GRAVITY = 'gravity'  # also end the motion, and act like mode gravity


@dataclass(frozen=True)
class EffortUnits:
    """
    Units of a driver: currents, shares of the greatest effort; no scale may be 0.

    Everything between measured efforts and sent commands is in N m or N.
    """

    command_scale: Numbers = parameter(
        (1.0,), f"unit of the effort controller's commands per N m or N, {EACH}, as A/(N m); "
        "negative: inverted sign; not 0", (-MAX_GAIN, MAX_GAIN),
    )
    effort_scale: Numbers = parameter(
        (1.0,), f'N m or N per unit of the measured efforts, {EACH}, as N m/A; negative: inverted '
        'sign; not 0', (-MAX_GAIN, MAX_GAIN),
    )

    def __post_init__(self) -> None:
        for name, values in vars(self).items():
            if 0.0 in values:
                raise InputError(
                    name, f'{brief(list(values))} has a 0; 1.0 is for efforts in N m or N'
                )


@dataclass(frozen=True)
class FrictionSettings:
    """Parameters ``friction.*``."""

    model: FrictionModel = active(FrictionModel.NONE, 'source of the friction parameters')
    viscous: Numbers = active(
        (0.0,), f'viscous friction, {EACH}, N m s/rad or N s/m', (0.0, MAX_GAIN)
    )
    coulomb: Numbers = active((0.0,), f'Coulomb friction, {EACH}, N m or N', (0.0, MAX_GAIN))
    viscous_negative: Numbers = active(
        AS_POSITIVE, 'viscous friction in negative direction; [-1.0]: as in positive',
        (-1.0, MAX_GAIN),
    )
    coulomb_negative: Numbers = active(
        AS_POSITIVE, 'Coulomb friction in negative direction; [-1.0]: as in positive',
        (-1.0, MAX_GAIN),
    )
    load: Numbers = active(
        (0.0,), f'Coulomb friction per N m or N of joint load, {EACH}', (0.0, 10.0)
    )
    smoothing_velocity: Numbers = active(
        (0.05,), f'speed below which Coulomb friction fades, {EACH}, rad/s or m/s', (1e-6, 1000.0)
    )
    offset: Numbers = active(
        (0.0,), f'constant effort, such as the offset of a sensor, {EACH}, N m or N',
        (-MAX_GAIN, MAX_GAIN),
    )
    shared_joints: tuple[str, ...] = active(
        ('',), 'two joints that share the friction of a motor; empty: none'
    )
    shared_ratio: float = active(
        1.0, 'that motor turns at the speed of the first joint plus this times the second, with '
        "the second joint's smoothing velocity", (-100.0, 100.0),
    )
    shared_viscous: float = active(0.0, 'its viscous friction, N m s/rad', (0.0, MAX_GAIN))
    shared_coulomb: float = active(0.0, 'its Coulomb friction, N m', (0.0, MAX_GAIN))
    velocity: VelocitySource = active(VelocitySource.MEASURED, 'velocity for the friction model')


@dataclass(frozen=True)
class SpringSettings:
    """Parameters ``spring.*``: springs and counterbalances at the joints, which no URDF has."""

    stiffness: Numbers = active(
        (0.0,), f'stiffness of a spring at the joint, {EACH}, N m/rad or N/m; its effort belongs '
        'to gravity, also where the robot compensates that', (0.0, MAX_GAIN),
    )
    rest_position: Numbers = active(
        (0.0,), f'position where the spring has no effort, {EACH}, rad or m', (-1e6, 1e6)
    )


@dataclass(frozen=True)
class ExternalEffortSettings:
    """Parameters ``external_effort.*``."""

    gain: Numbers = active(
        (50.0,), f'gain of the observer of external efforts, {EACH}, 1/s: its delay is 1 / gain',
        (0.1, 1000.0),
    )
    source: EffortSource = parameter(
        EffortSource.MEASURED, 'motor efforts: of the joint states if they have any, or commanded'
    )
    link: str = parameter('', 'link whose external wrench is published; empty: none')


@dataclass(frozen=True)
class ContactSettings:
    """Parameters ``contact.*``."""

    action: ContactAction = active(ContactAction.NONE, 'reaction to a contact')
    threshold: Numbers = active(
        (0.0,),
        f'external effort that counts as contact, {EACH}, N m or N; 0: 1.5 % of effort_limits',
        (0.0, 1e6),
    )
    model_error: Numbers = active(
        (0.1,), f'relative error of the model, {EACH}: this share of the efforts of gravity, '
        'motion and friction is added to contact.threshold', (0.0, 10.0),
    )


@dataclass(frozen=True)
class AdditionalEffortSettings:
    """Parameters ``additional_effort.*``."""

    limits: Numbers = active(
        (0.0,), f'largest effort of ~/additional_effort, {EACH}, N m or N; 0: none', (0.0, 1e6)
    )
    timeout: float = active(
        0.1, 'age of a message at which its efforts begin to fade, s', (0.001, 10.0)
    )
    fade: float = active(
        0.1, 'time to fade the efforts out after silence, and in at the start of a stream, s',
        (0.001, 10.0),
    )


@dataclass(frozen=True)
class SoftLimitSettings:
    """Parameters ``soft_limits.*``; :mod:`.soft_limits` has their meaning."""

    margin: Numbers = active(
        OF_URDF, f"width of the zone before each position limit, {EACH}, rad or m; 0: none; -1: "
        "to the soft limits of the URDF's <safety_controller>, none without", (-1.0, 100.0),
    )
    stiffness: Numbers = active(
        OF_URDF, f'effort per rad or m at the position limit, {EACH}, N m/rad or N/m; -1: '
        'k_position k_velocity', (-1.0, MAX_GAIN),
    )
    damping: Numbers = active(
        OF_URDF, f'damping at the position limit, {EACH}, N m s/rad or N s/m; -1: k_velocity, '
        'without it 0.05 s stiffness', (-1.0, MAX_GAIN),
    )


@dataclass(frozen=True)
class PayloadSettings:
    """Parameters ``payload.*``: one list each, with the values of all payloads."""

    link: tuple[str, ...] = active(('',), 'links that carry a payload')
    mass: Numbers = active((0.0,), 'mass of each payload, kg', (0.0, 1e4))
    com: Numbers = active(
        (0.0, 0.0, 0.0), 'centre of mass of each payload in its link frame, three values each, m',
        (-100.0, 100.0),
    )
    inertia: Numbers = active(
        (0.0,) * 6, 'inertia of each payload about its centre of mass, in link axes, xx xy xz yy '
        'yz zz each, kg m^2; zeros: point masses', (-1e6, 1e6),
    )

    def __post_init__(self) -> None:
        check_ranges(self, 'payload.')

    def payloads(self) -> tuple[Payload, ...]:
        """Return the payloads; InputError for the first parameter that cannot be used."""
        links = [link for link in self.link if link]
        parts = []
        for name, width in (('mass', 1), ('com', 3), ('inertia', 6)):
            numbers, count = getattr(self, name), width * len(links)
            if not any(numbers):
                numbers = (0.0,) * count
            if links and len(numbers) != count:
                raise InputError(
                    f'payload.{name}', f'{brief(numbers)} has {len(numbers)} values, '
                    f'not {width} for each of {len(links)} links',
                )
            parts.append([numbers[width * k : width * (k + 1)] for k in range(len(links))])
        payloads = []
        for link, (mass,), com, inertia in zip(links, *parts, strict=True):
            try:
                payloads.append(Payload(link, mass, com, inertia))
            except InputError as error:
                name = error.argument.replace(' ', '.')
                raise InputError(name, f'link {brief(link)}: {error.reason}') from error
        return tuple(payloads)


def _units(gain: int) -> str:
    """Return the units of kp (0) or kd (1) in the laws, the usual one last."""
    usual, laws = ControlLaw.gain_units, LAWS.values()
    others = [f'{law.gain_units[gain]} in {law.name}' for law in laws if law.gain_units != usual]
    return ', '.join([*others, f'else {usual[gain]}'])


@dataclass(frozen=True)
class Settings:
    """
    Parameters of the control, in their ranges; one value per joint, or one for all.

    :param joints: the controller's joints, in its order
    :param payloads: payloads that are not in the robot description
    :param hardware_compensates: efforts that the robot's own controller adds to every command
    :param wrench_inputs: force-torque sensors
    :param base_sensor: the IMU on the base, None for no IMU
    :param law_parameters: its law's ``Parameters`` by mode; :meth:`of_law` has the defaults
    """

    joints: tuple[str, ...]
    rate: float = parameter(500.0, 'commands per second, Hz', RATES)
    mode: type[ControlLaw] = active(Gravity, 'control law', words=LAWS)
    kp: Numbers = active(
        (0.0,), f'proportional gains, {EACH}: {_units(0)}', (0.0, MAX_GAIN), name='gains.kp'
    )
    kd: Numbers = active(
        (0.0,), f'derivative gains, {EACH}: {_units(1)}', (0.0, MAX_GAIN), name='gains.kd'
    )
    compensate_coriolis: bool = active(
        False, 'include Coriolis and centrifugal efforts in mode gravity'
    )
    gravity_factor: Numbers = active(
        (1.0,), f"factor of the URDF's gravity efforts, {EACH}, until its masses are identified; "
        'not of payloads', (0.0, 2.0),
    )
    damping: Numbers = active(
        (0.0,), f'damping while no motion is followed, {EACH}, N m s/rad or N s/m', (0.0, MAX_GAIN)
    )
    armature: Numbers = parameter(
        (0.0,), f'rotor inertia at the joint, {EACH}, kg m^2 or kg: inertia of the rotor itself '
        'times gear ratio squared', (0.0, 1e4),
    )
    hardware_gravity: Numbers = parameter(
        AS_GRAVITY, 'gravitational acceleration in the root link frame for which the robot '
        'compensates gravity and payload, m/s^2; [0.0]: the parameter gravity, with an IMU its '
        'direction', (-100.0, 100.0),
    )
    effort_limits: Numbers = parameter(
        (0.0,), f'maximum effort, {EACH}, N m or N; 0: the URDF limit', (0.0, 1e6)
    )
    effort_rate_limit: Numbers = parameter(
        (0.0,), f'maximum change of effort, {EACH}, N m/s or N/s; 0: full effort in 0.1 s',
        (0.0, 1e9),
    )
    ramp_duration: float = parameter(
        1.0, 'ramp at start, at a mode change, and down to zero, s', (0.0, MAX_DURATION)
    )
    hold_duration: float = parameter(
        1.0, 'time for which gravity is held after a fault; after a stall the control returns '
        'within it, s', (0.0, MAX_DURATION),
    )
    joint_states_timeout: float = parameter(
        0.0, 'age of joint states, or time without a tick, that interrupts the control, s; 0: '
        'twenty periods, at least 0.1 s', (0.0, MAX_DURATION),
    )
    uncommanded_timeout: float = parameter(
        0.0, 'time without a valid value of an uncommanded joint that interrupts the control, s; '
        '0: its last valid value counts for ever', (0.0, MAX_DURATION),
    )
    velocity_limit_factor: float = parameter(
        2.0, 'reject velocities, and positions that need a speed, above this multiple of the URDF '
        'velocity limit, 1 or more; 0: accept all', (0.0, 1000.0),
    )
    reference_timeout: float = parameter(
        0.2, 'age of a streamed set-point at which its position is held, s', (1e-4, MAX_DURATION)
    )
    stale_action: StaleAction = parameter(StaleAction.RAMP_DOWN, 'action at a fault or a stop')
    start_from_measured_effort: bool = parameter(
        True, 'start the ramp from the measured effort if available; false: from zero'
    )
    predict_state: bool = parameter(
        False, 'follow trajectories with state and reference predicted to one period from now'
    )
    payload_blend_duration: float = active(
        1.0, 'transition time of a payload change, s', (0.0, MAX_DURATION),
        name='payload.blend_duration',
    )
    units: EffortUnits = group(EffortUnits(), '')
    friction: FrictionSettings = group(FrictionSettings())
    spring: SpringSettings = group(SpringSettings())
    payloads: tuple[Payload, ...] = ()
    hardware_compensates: tuple[HardwareCompensation, ...] = ()
    wrench_inputs: tuple[WrenchInputSettings, ...] = ()
    base_sensor: BaseSensorSettings | None = None
    external_effort: ExternalEffortSettings = group(ExternalEffortSettings())
    contact: ContactSettings = group(ContactSettings())
    additional_effort: AdditionalEffortSettings = group(AdditionalEffortSettings())
    soft_limits: SoftLimitSettings = group(SoftLimitSettings())
    law_parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_ranges(self)
        for mode, parameters in self.law_parameters.items():
            check_ranges(parameters, f'{mode}.')

    def of_law(self, law: type[ControlLaw]) -> Any:
        """Return the parameters of a law: an object of its class ``Parameters``."""
        return self.law_parameters.get(law.name, law.Parameters())

    @property
    def period(self) -> float:
        """Time between commands, s."""
        return 1.0 / self.rate
