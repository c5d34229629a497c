# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Layouts of messages that come at every tick: joint states, wrenches, IMU, controller state.

From ROS 2 Jazzy on, joint_trajectory_controller sends its reference at every update, up to 1000
times a second. Its fields differ between distributions: they are read in the installed order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from .fixed_layout import FixedLayout


class JointStateSample(NamedTuple):
    """A sensor_msgs/JointState with k joints: shapes (k,), or empty; rad or m, and s, N m or N."""

    names: tuple[str, ...]
    position: Array
    velocity: Array
    effort: Array

    @classmethod
    def read(cls, message: FixedLayout) -> JointStateSample:
        """Read a message from the end of its stamp on."""
        message.text('frame')
        names = message.names()
        position, velocity, effort = (
            message.numbers(message.unsigned(f'number of {what}'), what)
            for what in ('positions', 'velocities', 'efforts')
        )
        return cls(names, position, velocity, effort)


class WrenchSample(NamedTuple):
    """A geometry_msgs/WrenchStamped: frame_id, force and torque, shape (3,), N and N m."""

    frame: str
    force: Array
    torque: Array

    @classmethod
    def read(cls, message: FixedLayout) -> WrenchSample:
        """Read a message from the end of its stamp on."""
        frame = message.text('frame')
        return cls(frame, message.numbers(3, 'force'), message.numbers(3, 'torque'))


class ImuSample(NamedTuple):
    """
    A sensor_msgs/Imu; a first covariance element of -1 marks a part as absent.

    :param parts: orientation (x, y, z, w), angular velocity, rad/s, and linear acceleration, m/s^2
    :param covariances: covariance of each part, row by row, shapes (9,)
    """

    frame: str
    parts: tuple[Array, ...]
    covariances: tuple[Array, ...]

    @classmethod
    def read(cls, message: FixedLayout) -> ImuSample:
        """Read a message from the end of its stamp on."""
        frame, parts, covariances = message.text('frame'), [], []
        for what, size in (('orientation', 4), ('angular velocity', 3), ('acceleration', 3)):
            parts.append(message.numbers(size, what))
            covariances.append(message.numbers(9, f'covariance of {what}'))
        return cls(frame, tuple(parts), tuple(covariances))

    def present(self) -> list[list[float] | None]:
        """Return the parts; None for an absent one."""
        return [
            None if covariance[0] == -1.0 else part.tolist()
            for part, covariance in zip(self.parts, self.covariances, strict=True)
        ]


class ControllerStateSample(NamedTuple):
    """The reference of k joints: shapes (k,), rad or m, s; speed factor, (1,). Absent: empty."""

    names: tuple[str, ...]
    position: Array
    velocity: Array
    acceleration: Array
    speed: Array


def controller_state_reader(
    fields: Mapping[str, str],
) -> Callable[[FixedLayout], ControllerStateSample]:
    """Return a reader of messages from the end of the stamp on; ``fields``: types by name."""
    last = 'speed_scaling_factor' if 'speed_scaling_factor' in fields else 'reference'
    names = list(fields)
    readers = [(name, _FIELD_READERS[fields[name]]) for name in names[: names.index(last) + 1]]

    def read(message: FixedLayout) -> ControllerStateSample:
        values = {name: read_field(message, name) for name, read_field in readers}
        position, velocity, acceleration, _ = values['reference']
        speed = values.get('speed_scaling_factor', np.empty(0))
        joints = values['joint_names']
        return ControllerStateSample(joints, position, velocity, acceleration, speed)

    return read


def _point(message: FixedLayout, what: str, **widths: int) -> list[Array]:
    """Read a point; ``widths``: how many numbers an element of each field has."""
    values = []
    for field, width in widths.items():
        count = message.unsigned(f'number of {field} of {what}')
        values.append(message.numbers(width * count, f'{field} of {what}'))
    message.skip_duration(f'time of {what}')
    return values


_FIELD_READERS: Mapping[str, Callable[[FixedLayout, str], Any]] = {
    'std_msgs/Header': lambda message, _: message.text('frame'),
    'sequence<string>': lambda message, _: message.names(),
    'trajectory_msgs/JointTrajectoryPoint': partial(
        _point, positions=1, velocities=1, accelerations=1, efforts=1
    ),
    'trajectory_msgs/MultiDOFJointTrajectoryPoint': partial(
        _point, transforms=7, velocities=6, accelerations=6
    ),
    'double': lambda message, what: message.numbers(1, what),
}
