# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters of force-torque sensors, and their checks against the robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import difflib
import enum

from ...dynamics.kernels import BASE
from ...errors import InputError, brief
from ...parameters import check_ranges, in_range, parameter
from ...robot import RobotModel


class Measures(enum.Enum):
    """Sign of the readings. For an inline sensor, environment means the link and all behind it."""

    ENVIRONMENT_ON_ROBOT = 'environment_on_robot'
    ROBOT_ON_ENVIRONMENT = 'robot_on_environment'


class SensorPlacement(enum.Enum):
    """What a sensor measures."""

    CONTACT = 'contact'  # the external wrench on its link only
    INLINE = 'inline'    # all that the joint above its link carries, weight and inertia included


class PublishFrame(enum.Enum):
    """Frame of the published wrench, about whose origin the torque is."""

    SENSOR = 'sensor'
    BASE = 'base'


@dataclass(frozen=True)
class WrenchInputSettings:
    """Parameters ``wrench_inputs.<name>.*`` of one sensor; see :mod:`.wrench`."""

    name: str
    topic: str = parameter('', 'geometry_msgs/WrenchStamped of the sensor')
    link: str = parameter(
        '', "link in whose frame the readings are; empty: each reading's frame_id"
    )
    measures: Measures = parameter(Measures.ENVIRONMENT_ON_ROBOT, 'sign of the readings')
    placement: SensorPlacement = parameter(
        SensorPlacement.CONTACT,
        'external wrench on the link only, or the whole load behind the sensor',
    )
    max_force: float = parameter(
        200.0, 'reject readings above it; also the limit after filtering, N', span=(1e-3, 1e6)
    )
    max_torque: float = parameter(
        20.0, 'reject readings above it; also the limit after filtering, N m', span=(1e-3, 1e6)
    )
    cutoff: float = parameter(20.0, 'low-pass filter, Hz', span=(0.1, 1000.0))
    deadband_force: float = parameter(
        1.0, 'subtracted from the magnitude of the force, N', span=(0.0, 1e6)
    )
    deadband_torque: float = parameter(
        0.1, 'subtracted from the magnitude of the torque, N m', span=(0.0, 1e6)
    )
    gain: float = parameter(1.0, 'scale of the measured wrench in the command', span=(0.0, 1.0))
    timeout: float = parameter(
        0.1, 'age of a reading at which its term begins to fade, s', span=(0.001, 10.0)
    )
    fade: float = parameter(
        0.5, 'time to fade a term out or in, and to apply a new tare, s', span=(0.01, 60.0)
    )
    tare_duration: float = parameter(1.0, 'averaging time of a tare, s', span=(0.1, 60.0))
    publish_frame: PublishFrame = parameter(
        PublishFrame.SENSOR, "frame of ~/wrench/<name>: the sensor's link or the root link"
    )


def check_wrench_inputs(inputs: Sequence[WrenchInputSettings], model: RobotModel) -> None:
    """Raise an InputError for the first unusable parameter of sensors on a robot."""
    for number, sensor in enumerate(inputs):
        before = inputs[:number]
        if not sensor.name or sensor.name in [other.name for other in before]:
            raise InputError('wrench_inputs', f'name {sensor.name!r} is empty or taken')
        if not sensor.topic or sensor.topic in [other.topic for other in before]:
            raise _rejected(sensor, 'topic', f'{brief(sensor.topic)} is empty or taken')
        _check_numbers(sensor)
        if sensor.link:
            _check_link(sensor, model)
    for carrier in inputs:
        for other in inputs:
            if carrier is not other and stands_before(carrier, other, model):
                raise _rejected(
                    carrier,
                    'link',
                    f'{carrier.link!r} carries {other.link!r}, whose wrench sensor '
                    f'{other.name!r} measures already: it would count twice',
                )


def stands_before(
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
        nearest = difflib.get_close_matches(link[:200], model.link_names, n=3, cutoff=0.0)
        raise _rejected(
            sensor, 'link',
            f'robot {model.name!r} has no link {brief(link)}; nearest are {", ".join(nearest)}',
        )
    if model.tree.frames[link].body == BASE:
        raise _rejected(
            sensor, 'link', f'no joint moves link {link!r}: a wrench on it needs no joint effort'
        )


def _check_numbers(sensor: WrenchInputSettings) -> None:
    check_ranges(sensor, _parameter(sensor, ''))
    for part in ('force', 'torque'):
        deadband, most = getattr(sensor, f'deadband_{part}'), getattr(sensor, f'max_{part}')
        in_range(_parameter(sensor, f'deadband_{part}'), deadband, 0.0, most)
    if sensor.tare_duration < sensor.timeout:
        raise _rejected(
            sensor,
            'tare_duration',
            f'{sensor.tare_duration} is less than the timeout, {sensor.timeout}: '
            'there may be no reading in it',
        )


def _rejected(sensor: WrenchInputSettings, parameter: str, reason: str) -> InputError:
    return InputError(_parameter(sensor, parameter), reason)


def _parameter(sensor: WrenchInputSettings, field: str) -> str:
    return f'wrench_inputs.{sensor.name}.{field}'
