# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The values of the node's parameters as settings, checked as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import InputError, brief
from ...feedforward.law import FrictionModel, Mode, VelocitySource
from ...feedforward.settings import (
    BaseSensorSettings,
    BaseUse,
    FrictionSettings,
    Measures,
    SensorPlacement,
    Settings,
    StaleAction,
    StaleBase,
    WrenchInputSettings,
    in_range,
)
from ...feedforward.trajectory import ReferenceSource
from ...robot import Payload
from ..timing import RealtimeSettings, Trigger, check_realtime
from .hardware_compensation import compensated
from .table import BASE_SENSOR_FIELDS, all_declarations, sensor_names, sensor_parameter


def settings_from(values: Mapping[str, Any], joints: tuple[str, ...]) -> Settings:
    """
    Return the control's settings.

    :param values: parameter values by name
    :param joints: the commanded joints
    :raises InputError: a word that is none of those known
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
        uncommanded_timeout=values['uncommanded_timeout'],
        velocity_limit_factor=values['velocity_limit_factor'],
        reference_timeout=values['reference_timeout'],
        stale_action=_word(StaleAction, 'stale_action', values['stale_action']),
        start_from_measured_effort=values['start_from_measured_effort'],
        friction=_losses(values),
        payloads=_payloads(values),
        payload_blend_duration=values['payload.blend_duration'],
        hardware_compensates=compensated(values['hardware_compensates']),
        wrench_inputs=tuple(
            _wrench_input(values, name) for name in sensor_names(values['wrench_inputs.names'])
        ),
        base_sensor=_base_sensor(values),
    )


def _losses(values: Mapping[str, Any]) -> FrictionSettings:
    return FrictionSettings(
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


def _base_sensor(values: Mapping[str, Any]) -> BaseSensorSettings | None:
    if not values['base_sensor.topic']:
        return None
    given = {field: values[f'base_sensor.{field}'] for field in BASE_SENSOR_FIELDS}
    for field, kind in (('use', BaseUse), ('stale', StaleBase)):
        given[field] = _word(kind, f'base_sensor.{field}', given[field])
    return BaseSensorSettings(**given)


def _wrench_input(values: Mapping[str, Any], name: str) -> WrenchInputSettings:
    def given(field: str) -> Any:
        return values[sensor_parameter(name, field)]

    def word(kind: Any, field: str) -> Any:
        return _word(kind, sensor_parameter(name, field), given(field))

    numbers = (
        'max_force', 'max_torque', 'cutoff', 'deadband_force', 'deadband_torque', 'gain',
        'timeout', 'fade', 'tare_duration',
    )
    return WrenchInputSettings(
        name=name,
        topic=given('topic'),
        link=given('link'),
        measures=word(Measures, 'measures'),
        placement=word(SensorPlacement, 'placement'),
        **{field: given(field) for field in numbers},
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
            raise InputError(
                f'payload.{name}',
                f'{brief(numbers)} has {len(numbers)} values, '
                f'not {width} for each of {len(links)} links',
            )
        parts[name] = [tuple(numbers[width * k : width * (k + 1)]) for k in range(len(links))]
    payloads = []
    for link, (mass,), com, inertia in zip(links, *parts.values(), strict=True):
        try:
            payloads.append(Payload(link, mass, com, inertia))
        except InputError as error:
            parameter = error.argument.replace(' ', '.')
            raise InputError(parameter, f'link {brief(link)}: {error.reason}') from error
    return tuple(payloads)


def realtime_from(values: Mapping[str, Any]) -> RealtimeSettings:
    """
    Return what the loop's thread asks of the system.

    :param values: parameter values by name
    :raises InputError: a value that no system could grant
    """
    cpus = tuple(values['realtime.cpu_affinity'])
    settings = RealtimeSettings(
        priority=values['realtime.priority'],
        cpus=() if cpus == (-1,) else cpus,
        lock_memory=values['realtime.lock_memory'],
    )
    check_realtime(settings)
    return settings


def listed_joints(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the joints that the parameter names, none where the controller is to be asked."""
    return tuple(name for name in values['joints'] if name)


def check_alone(values: Mapping[str, Any]) -> None:
    """
    Check what can be checked without a robot.

    :param values: parameter values by name
    :raises InputError: a value that no robot could be run with
    """
    for name, declaration in all_declarations(values['wrench_inputs.names']).items():
        if declaration.span is not None:
            try:
                in_range(name, values[name], *declaration.span)
            except InputError as error:
                raise InputError(name, f'{error.reason} ({declaration.description})') from None
    settings_from(values, ())
    realtime_from(values)
    _word(Trigger, 'trigger', values['trigger'])
    _word(ReferenceSource, 'reference_source', values['reference_source'])
    if len(values['gravity']) != 3:
        raise InputError('gravity', f'{brief(values["gravity"])} is not three numbers')


def _word(kind: Any, parameter: str, value: str) -> Any:
    words = [member.value for member in kind]
    if value not in words:
        raise InputError(parameter, f'{brief(value)} is none of {", ".join(words)}')
    return kind(value)
