# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Layouts of the sensor messages: joint states, wrenches, IMU.

:mod:`.trajectory` reads trajectories, whose lengths change from message to message.
"""

from __future__ import annotations

from typing import NamedTuple

from ..arrays import Array
from .fixed_layout import FixedLayout


class JointStateSample(NamedTuple):
    """
    A sensor_msgs/JointState with k joints; an array is empty if the message has no such values.

    :param names: names of the joints
    :param position: shape (k,), rad or m
    :param velocity: shape (k,), rad/s or m/s
    :param effort: shape (k,), N m or N
    """

    names: tuple[str, ...]
    position: Array
    velocity: Array
    effort: Array

    @classmethod
    def read(cls, message: FixedLayout) -> JointStateSample:
        """Read a message from the end of its stamp on."""
        message.text('frame')
        names = tuple([
            message.text(f'name {number}') for number in range(message.unsigned('number of names'))
        ])
        position, velocity, effort = (
            message.numbers(message.unsigned(f'number of {what}'), what)
            for what in ('positions', 'velocities', 'efforts')
        )
        return cls(names, position, velocity, effort)


class WrenchSample(NamedTuple):
    """
    A geometry_msgs/WrenchStamped.

    :param frame: frame_id of the header
    :param force: shape (3,), N
    :param torque: shape (3,), N m
    """

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
    A sensor_msgs/Imu.

    A first covariance element of -1 marks a part as absent.

    :param frame: frame_id of the header
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
