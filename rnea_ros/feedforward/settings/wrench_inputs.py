# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What a user sets for each force-torque sensor, checked against the robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import difflib
import enum

from ...dynamics.kernels import BASE
from ...errors import InputError, brief
from ...robot import RobotModel
from .checks import in_range


class Measures(enum.Enum):
    """Which of action and reaction a reading is."""

    ENVIRONMENT_ON_ROBOT = 'environment_on_robot'
    ROBOT_ON_ENVIRONMENT = 'robot_on_environment'


class SensorPlacement(enum.Enum):
    """What a sensor's reading holds."""

    CONTACT = 'contact'  # the external wrench on its link alone
    INLINE = 'inline'    # all that the joint above its link carries: weight and inertia too


@dataclass(frozen=True)
class WrenchInputSettings:
    """
    One force-torque sensor; the pipeline that uses the numbers is :mod:`.wrench_sensor`.

    :param name: of the sensor, as parameters, log and diagnostics have it
    :param topic: where its readings come from
    :param link: in whose frame, and at whose origin, readings are given; inline, the first link
        behind the sensor. Empty: the link that each reading's frame_id names
    :param measures: which of action and reaction a reading is; of an inline sensor, the link and
        all behind it count as environment
    :param placement: what a reading holds
    :param max_force: a reading of a greater force is refused, and none greater is passed on, N
    :param max_torque: the same for the torque, N m
    :param cutoff: of the low-pass filter, where half of the power passes, Hz
    :param deadband_force: taken off the length of every force, N
    :param deadband_torque: taken off the length of every torque, N m
    :param gain: the share of the wrench that is passed on, 0 to 1
    :param timeout: age of a reading at which its term begins to fade, s
    :param fade: how long a term takes to fade out, to fade in, and to take on a new tare, s
    :param tare_duration: how long a tare averages, s
    """

    name: str
    topic: str
    link: str = ''
    measures: Measures = Measures.ENVIRONMENT_ON_ROBOT
    placement: SensorPlacement = SensorPlacement.CONTACT
    max_force: float = 200.0
    max_torque: float = 20.0
    cutoff: float = 20.0
    deadband_force: float = 1.0
    deadband_torque: float = 0.1
    gain: float = 1.0
    timeout: float = 0.1
    fade: float = 0.5
    tare_duration: float = 1.0


WRENCH_RANGES = {
    'max_force': (1e-3, 1e6),
    'max_torque': (1e-3, 1e6),
    'cutoff': (0.1, 1000.0),
    'gain': (0.0, 1.0),
    'timeout': (0.001, 10.0),
    'fade': (0.01, 60.0),
    'tare_duration': (0.1, 60.0),
}


def check_wrench_inputs(inputs: Sequence[WrenchInputSettings], model: RobotModel) -> None:
    """
    Check sensors against each other and against a robot.

    :raises InputError: the first parameter that cannot be used
    """
    for number, sensor in enumerate(inputs):
        before = inputs[:number]
        if not sensor.name or sensor.name in [other.name for other in before]:
            raise InputError('wrench_inputs', f'name {sensor.name!r} is empty or taken')
        if not sensor.topic or sensor.topic in [other.topic for other in before]:
            raise _refused(sensor, 'topic', f'{brief(sensor.topic)} is empty or taken')
        _check_numbers(sensor)
        if sensor.link:
            _check_link(sensor, model)
    for carrier in inputs:
        for other in inputs:
            if carrier is not other and counts_what_other_measures(carrier, other, model):
                raise _refused(
                    carrier,
                    'link',
                    f'{carrier.link!r} carries {other.link!r}, whose wrench sensor '
                    f'{other.name!r} measures already: it would count twice',
                )


def counts_what_other_measures(
    carrier: WrenchInputSettings, other: WrenchInputSettings, model: RobotModel
) -> bool:
    """Return whether an inline sensor stands between the base and another sensor's link."""
    if carrier.placement is not SensorPlacement.INLINE or not carrier.link:
        return False
    parents = {link.name: link.parent for link in model.tree.links}
    link = other.link
    while link and link != carrier.link and parents[link] != link:
        link = parents[link]
    return link == carrier.link


def _check_link(sensor: WrenchInputSettings, model: RobotModel) -> None:
    link = sensor.link
    if link not in model.link_names:
        nearest = difflib.get_close_matches(link, model.link_names, n=3, cutoff=0.0)
        raise _refused(
            sensor,
            'link',
            f'robot {model.name!r} has no link {brief(link)}; nearest are {", ".join(nearest)}',
        )
    if model.tree.frames[link].body == BASE:
        raise _refused(sensor, 'link', f'no joint moves link {link!r}, so none feels its wrench')


def _check_numbers(sensor: WrenchInputSettings) -> None:
    ranges = WRENCH_RANGES | {
        'deadband_force': (0.0, sensor.max_force),
        'deadband_torque': (0.0, sensor.max_torque),
    }
    for parameter, span in ranges.items():
        in_range(_parameter(sensor, parameter), getattr(sensor, parameter), *span)
    if sensor.tare_duration < sensor.timeout:
        raise _refused(
            sensor,
            'tare_duration',
            f'{sensor.tare_duration} is less than the timeout, {sensor.timeout}: '
            'there may be no reading in it',
        )


def _refused(sensor: WrenchInputSettings, parameter: str, reason: str) -> InputError:
    return InputError(_parameter(sensor, parameter), reason)


def _parameter(sensor: WrenchInputSettings, field: str) -> str:
    return f'wrench_inputs.{sensor.name}.{field}'
