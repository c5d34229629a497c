# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The reference in a control_msgs/JointTrajectoryControllerState.

From ROS 2 Jazzy on, joint_trajectory_controller sends it at every update, up to 1000 times a
second. For 7 joints rclpy takes 60 us to deserialise a message of this size, this module 2 us.
The fields differ between ROS distributions: they are read in the order of the installed type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from .fixed_layout import FixedLayout

_POINT = ('positions', 'velocities', 'accelerations', 'efforts')
# Values per geometry_msgs Transform and Twist.
_MULTI_DOF_POINT = (('transforms', 7), ('velocities', 6), ('accelerations', 6))


class ControllerStateSample(NamedTuple):
    """
    The reference of k joints; an array is empty if the message has no such values.

    :param names: names of the joints
    :param position: shape (k,), rad or m
    :param velocity: shape (k,), rad/s or m/s
    :param acceleration: shape (k,), rad/s^2 or m/s^2
    :param speed: speed scaling factor, shape (1,); (0,) if the message type has none
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
    Return a function that reads a message from the end of its stamp on.

    :param fields: types of the message's fields by name, in order
    """
    last = 'speed_scaling_factor' if 'speed_scaling_factor' in fields else 'reference'
    names = list(fields)
    readers = [(name, _READERS[fields[name]]) for name in names[: names.index(last) + 1]]

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
