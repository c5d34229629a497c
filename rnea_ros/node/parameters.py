# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The node's parameters: declared in one table, read into settings, checked all or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
import enum
import math
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor
from rclpy.parameter import Parameter

from ..errors import InputError
from ..feedforward.checks import SettingsError
from ..feedforward.control_law import Mode
from ..feedforward.loaded_robot import HardwareCompensation
from ..feedforward.loss_settings import LossSettings
from ..feedforward.losses import FrictionModel, VelocitySource
from ..feedforward.settings import Settings, StaleAction
from ..robot import Payload


@dataclass(frozen=True)
class Declaration:
    """
    One parameter.

    :param default: its default, which gives its type too
    :param description: what ``ros2 param describe`` shows
    :param span: least and greatest value, for one number
    :param while_active: whether it may be changed while the node is active
    :param read_only: whether it may only be set at the start
    """

    default: Any
    description: str
    span: tuple[float, float] | None = None
    while_active: bool = False
    read_only: bool = False



def _words(kind: type[enum.Enum]) -> str:
    return ' | '.join(member.value for member in kind)



PARAMETERS: Mapping[str, Declaration] = {
    'robot_description': Declaration(
        '', 'URDF text; empty: taken from the topic robot_description'
    ),
    'strict_inertia': Declaration(
        False, 'refuse a URDF whose inertias no rigid body can have, instead of a warning'
    ),
    'command_topic': Declaration(
        'effort_controller/commands', 'topic of the effort controller', read_only=True
    ),
    'joints': Declaration(
        [''],
        "the commanded joints in the controller's order; ['']: the parameter 'joints' of the "
        'controller, or every moving joint where it has none',
    ),
    'autostart': Declaration(
        True, 'configure and activate as soon as all that is needed is there', read_only=True
    ),
    'rate': Declaration(500.0, 'commands a second, Hz', span=(1.0, 10_000.0)),
    'mode': Declaration('gravity', _words(Mode), while_active=True),
    'gains.kp': Declaration(
        [0.0],
        'proportional gains, one for all or one a joint: 1/s^2 in computed_torque, else N m/rad',
        while_active=True,
    ),
    'gains.kd': Declaration(
        [0.0],
        'derivative gains, one for all or one a joint: 1/s in computed_torque, else N m s/rad',
        while_active=True,
    ),
    'compensate_coriolis': Declaration(
        False, 'include Coriolis and centrifugal efforts in mode gravity', while_active=True
    ),
    'gravity': Declaration(
        [0.0, 0.0, -9.81], "acceleration of free fall in the root link's frame, m/s^2"
    ),
    'hardware_compensates': Declaration(
        [''],
        f"what the robot's own controller adds to every command, some of: "
        f'{_words(HardwareCompensation)}',
    ),
    'friction.model': Declaration(
        'none', f'where friction is known from: {_words(FrictionModel)}', while_active=True
    ),
    'friction.viscous': Declaration(
        [0.0], 'one for all or one a joint, N m s/rad or N s/m', while_active=True
    ),
    'friction.coulomb': Declaration(
        [0.0], 'one for all or one a joint, N m or N', while_active=True
    ),
    'friction.viscous_negative': Declaration(
        [-1.0], 'in the negative direction; [-1.0]: as in the positive', while_active=True
    ),
    'friction.coulomb_negative': Declaration(
        [-1.0], 'in the negative direction; [-1.0]: as in the positive', while_active=True
    ),
    'friction.load': Declaration(
        [0.0],
        'Coulomb friction for each N m or N that the joint carries, one for all or one a joint',
        while_active=True,
    ),
    'friction.smoothing_velocity': Declaration(
        [0.05],
        'below about this speed Coulomb friction fades, one for all or one a joint, rad/s or m/s',
        while_active=True,
    ),
    'friction.velocity': Declaration(
        'measured',
        f'which velocity friction is computed from: {_words(VelocitySource)}',
        while_active=True,
    ),
    'armature': Declaration(
        [0.0], 'inertia that rotors add to the joints, one for all or one a joint, kg m^2 or kg'
    ),
    'rotor_inertia': Declaration(
        [0.0],
        'of the rotors themselves, before the gear; times gear_ratio^2 it is added to armature',
    ),
    'gear_ratio': Declaration([1.0], 'turns of the rotor for one turn of the joint'),
    'payload.link': Declaration(
        [''], 'links that carry something beyond their description', while_active=True
    ),
    'payload.mass': Declaration([0.0], 'of each payload, kg', while_active=True),
    'payload.com': Declaration(
        [0.0, 0.0, 0.0],
        "centre of mass of each payload in its link's frame, three numbers each, m",
        while_active=True,
    ),
    'payload.inertia': Declaration(
        [0.0] * 6,
        "of each payload about its centre of mass in its link's axes, xx xy xz yy yz zz each, "
        'kg m^2; zeros: point masses',
        while_active=True,
    ),
    'payload.blend_duration': Declaration(
        1.0, 'in which a changed payload takes effect, s', span=(0.0, 3600.0), while_active=True
    ),
    'effort_limits': Declaration(
        [0.0], 'greatest effort, one for all or one a joint, N m or N; 0: that of the URDF'
    ),
    'effort_rate_limit': Declaration(
        [0.0],
        'greatest change of effort, one for all or one a joint, N m/s or N/s; '
        '0: the full effort in 0.1 s',
    ),
    'ramp_duration': Declaration(
        1.0, 'of the ramp at start, at a change of mode, and down to zero, s', span=(0.0, 3600.0)
    ),
    'hold_duration': Declaration(
        1.0, 'how long gravity is held after a fault before the ramp down, s', span=(0.0, 3600.0)
    ),
    'joint_states_timeout': Declaration(
        0.0, 'age of joint states that ends the control, s; 0: twenty periods', span=(0.0, 3600.0)
    ),
    'reference_timeout': Declaration(
        0.2, 'age of a streamed set-point at which its position is held, s', span=(1e-4, 3600.0)
    ),
    'stale_action': Declaration('ramp_down', _words(StaleAction)),
    'start_from_measured_effort': Declaration(
        True, 'start the ramp from the measured effort where there is one, else from zero'
    ),
    'differentiate_velocity': Declaration(
        False, 'derive velocities from positions where joint states have none'
    ),
    'start_tolerance': Declaration(
        0.1, 'how far from the robot a motion may start at once, rad or m', span=(0.0, math.tau)
    ),
    'allow_partial_joints': Declaration(
        False, 'accept trajectories that leave out joints, which then hold'
    ),
    'allow_nonzero_final_velocity': Declaration(
        False, 'accept trajectories whose last point has a velocity'
    ),
}


def declare(node: Any) -> None:
    """
    Declare every parameter on a node.

    :raises SettingsError: a value of the wrong type or out of its range was given at the start, or
        one for a parameter that does not exist
    """
    for name, declaration in PARAMETERS.items():
        descriptor = ParameterDescriptor(
            description=declaration.description, read_only=declaration.read_only
        )
        if declaration.span is not None:
            low, high = declaration.span
            descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
        try:
            node.declare_parameter(name, declaration.default, descriptor)
        except Exception as error:  # rclpy has a class of its own for each kind of refusal
            raise SettingsError(name, str(error)) from error
    for name in sorted(node._parameter_overrides):
        if not (node.has_parameter(name) or name.startswith('qos_overrides.')):
            raise SettingsError(name, f'no such parameter; known are {", ".join(PARAMETERS)}')


def values_of(node: Any, changes: Iterable[Parameter] = ()) -> dict[str, Any]:
    """
    Return all values by name, with changes that are not in force yet.

    :param node: the node
    :param changes: parameters to take instead of those in force
    """
    values = {name: node.get_parameter(name).value for name in PARAMETERS}
    values.update({change.name: change.value for change in changes if change.name in PARAMETERS})
    return values


def settings_from(values: Mapping[str, Any], joints: tuple[str, ...]) -> Settings:
    """
    Return the control's settings.

    :param values: parameter values by name
    :param joints: the commanded joints
    :raises SettingsError: a word that is none of those known
    """
    return Settings(
        joints=joints,
        rate=values['rate'],
        mode=_word(Mode, 'mode', values['mode']),
        kp=tuple(values['gains.kp']),
        kd=tuple(values['gains.kd']),
        compensate_coriolis=values['compensate_coriolis'],
        effort_limits=tuple(values['effort_limits']),
        effort_rate_limit=tuple(values['effort_rate_limit']),
        ramp_duration=values['ramp_duration'],
        hold_duration=values['hold_duration'],
        joint_states_timeout=values['joint_states_timeout'],
        reference_timeout=values['reference_timeout'],
        stale_action=_word(StaleAction, 'stale_action', values['stale_action']),
        start_from_measured_effort=values['start_from_measured_effort'],
        losses=_losses(values),
        payloads=_payloads(values),
        payload_blend_duration=values['payload.blend_duration'],
        hardware_compensates=tuple(
            _word(HardwareCompensation, 'hardware_compensates', word)
            for word in values['hardware_compensates']
            if word
        ),
    )


def _losses(values: Mapping[str, Any]) -> LossSettings:
    return LossSettings(
        model=_word(FrictionModel, 'friction.model', values['friction.model']),
        viscous=tuple(values['friction.viscous']),
        coulomb=tuple(values['friction.coulomb']),
        viscous_negative=tuple(values['friction.viscous_negative']),
        coulomb_negative=tuple(values['friction.coulomb_negative']),
        load=tuple(values['friction.load']),
        smoothing_velocity=tuple(values['friction.smoothing_velocity']),
        velocity=_word(VelocitySource, 'friction.velocity', values['friction.velocity']),
        armature=tuple(values['armature']),
        rotor_inertia=tuple(values['rotor_inertia']),
        gear_ratio=tuple(values['gear_ratio']),
    )


def _payloads(values: Mapping[str, Any]) -> tuple[Payload, ...]:
    """Return the payloads; lists hold one, three or six numbers for each link in turn."""
    links = [link for link in values['payload.link'] if link]
    parts = {}
    for name, width in (('mass', 1), ('com', 3), ('inertia', 6)):
        numbers = list(values[f'payload.{name}'])
        if links and not any(numbers):
            numbers = [0.0] * (width * len(links))
        if links and len(numbers) != width * len(links):
            raise SettingsError(
                f'payload.{name}',
                f'{numbers} has {len(numbers)} values, not {width} for each of {len(links)} links',
            )
        parts[name] = [tuple(numbers[width * k : width * (k + 1)]) for k in range(len(links))]
    payloads = []
    for link, (mass,), com, inertia in zip(links, *parts.values(), strict=True):
        try:
            payloads.append(Payload(link, mass, com, inertia))
        except InputError as error:
            parameter = error.argument.replace(' ', '.')
            raise SettingsError(parameter, f'link {link!r}: {error.reason}') from error
    return tuple(payloads)


def listed_joints(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the joints that the parameter names, none where the controller is to be asked."""
    return tuple(name for name in values['joints'] if name)


def check_alone(values: Mapping[str, Any]) -> None:
    """
    Check what can be checked without a robot.

    :param values: parameter values by name
    :raises SettingsError: a value that no robot could be run with
    """
    settings_from(values, ())
    gravity = values['gravity']
    if len(gravity) != 3 or not all(math.isfinite(value) for value in gravity):
        raise SettingsError('gravity', f'{list(gravity)} is not three finite numbers')


def check_while_active(changes: Iterable[Parameter]) -> None:
    """
    Check that changes are such as may be made while the node is active.

    :raises SettingsError: the first that is not
    """
    for change in changes:
        declaration = PARAMETERS.get(change.name)
        if declaration is not None and not declaration.while_active:
            raise SettingsError(change.name, 'cannot be changed while active; deactivate first')


def _word(kind: Any, parameter: str, value: str) -> Any:
    words = [member.value for member in kind]
    if value not in words:
        raise SettingsError(parameter, f'{value!r} is none of {", ".join(words)}')
    return kind(value)
