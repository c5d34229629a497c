# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
What a control_msgs/JointTrajectoryControllerState tells of the reference, as plain data.

The message has other fields from one ROS distribution to the next: they are read in the order in
which the installed one has them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from .fixed_layout import FixedLayout

_POINT = ('positions', 'velocities', 'accelerations', 'efforts')
# Numbers of a geometry_msgs Transform, and of two Twists.
_MULTI_DOF_POINT = (('transforms', 7), ('velocities', 6), ('accelerations', 6))


class ControllerStateSample(NamedTuple):
    """
    The reference of k joints; arrays are empty where it has no such numbers.

    :param names: of the joints
    :param position: rad or m, shape (k,)
    :param velocity: rad/s or m/s, shape (k,)
    :param acceleration: rad/s^2 or m/s^2, shape (k,)
    :param speed: the speed scaling factor, shape (1,), or (0,) where the message has none
    """

    names: tuple[str, ...]
    position: Array
    velocity: Array
    acceleration: Array
    speed: Array


def controller_state_reader(
    fields: Mapping[str, str],
) -> Callable[[FixedLayout], ControllerStateSample]:
    """
    Return what reads a message from after its stamp on.

    :param fields: of the message, their types by name, in order
    """
    last = 'speed_scaling_factor' if 'speed_scaling_factor' in fields else 'reference'
    wanted = list(fields)[: list(fields).index(last) + 1]
    readers = [(name, _READERS[fields[name]]) for name in wanted]

    def read(message: FixedLayout) -> ControllerStateSample:
        values = {name: read_field(message, name) for name, read_field in readers}
        position, velocity, acceleration, _ = values['reference']
        speed = values.get('speed_scaling_factor', np.empty(0))
        return ControllerStateSample(
            values['joint_names'], position, velocity, acceleration, speed
        )

    return read


def _names(message: FixedLayout, what: str) -> tuple[str, ...]:
    count = message.unsigned(f'number of {what}')
    return tuple([message.text(f'{what} {number}') for number in range(count)])


def _point(message: FixedLayout, what: str) -> list[Array]:
    values = []
    for field in _POINT:
        count = message.unsigned(f'number of {field} of {what}')
        values.append(message.numbers(count, f'{field} of {what}'))
    message.skip_duration(f'time of {what}')
    return values


def _multi_dof_point(message: FixedLayout, what: str) -> None:
    for field, width in _MULTI_DOF_POINT:
        count = message.unsigned(f'number of {field} of {what}')
        message.numbers(width * count, f'{field} of {what}')
    message.skip_duration(f'time of {what}')


_READERS: Mapping[str, Callable[[FixedLayout, str], Any]] = {
    'std_msgs/Header': lambda message, _: message.text('frame'),
    'sequence<string>': _names,
    'trajectory_msgs/JointTrajectoryPoint': _point,
    'trajectory_msgs/MultiDOFJointTrajectoryPoint': _multi_dof_point,
    'double': lambda message, what: message.numbers(1, what),
}
