# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
What sensors tell, as plain data: how their messages are laid out.

A trajectory is not read again and again: :mod:`.trajectory_decoder` knows its layout.
"""

from __future__ import annotations

from typing import NamedTuple

from ..arrays import Array
from .fixed_layout import FixedLayout


class JointStateSample(NamedTuple):
    """
    A sensor_msgs/JointState; its arrays are empty where it has no such numbers.

    :param names: of k joints
    :param position: rad or m, shape (k,)
    :param velocity: rad/s or m/s, shape (k,)
    :param effort: N m or N, shape (k,)
    """

    names: tuple[str, ...]
    position: Array
    velocity: Array
    effort: Array

    @classmethod
    def read(cls, message: FixedLayout) -> JointStateSample:
        """Read a message from after its stamp on."""
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

    :param frame: of its header
    :param force: shape (3,), N
    :param torque: shape (3,), N m
    """

    frame: str
    force: Array
    torque: Array

    @classmethod
    def read(cls, message: FixedLayout) -> WrenchSample:
        """Read a message from after its stamp on."""
        frame = message.text('frame')
        return cls(frame, message.numbers(3, 'force'), message.numbers(3, 'torque'))


class ImuSample(NamedTuple):
    """
    A sensor_msgs/Imu.

    A part is absent where its covariance says, by a first element of -1, that there is none.

    :param frame: of its header
    :param parts: orientation (x, y, z, w), angular velocity, linear acceleration
    :param covariances: of each
    """

    frame: str
    parts: tuple[Array, ...]
    covariances: tuple[Array, ...]

    @classmethod
    def read(cls, message: FixedLayout) -> ImuSample:
        """Read a message from after its stamp on."""
        frame, parts, covariances = message.text('frame'), [], []
        for what, size in (('orientation', 4), ('angular velocity', 3), ('acceleration', 3)):
            parts.append(message.numbers(size, what))
            covariances.append(message.numbers(9, f'covariance of {what}'))
        return cls(frame, tuple(parts), tuple(covariances))

    def present(self) -> list[list[float] | None]:
        """Return the parts, None for those that are absent."""
        return [
            None if covariance[0] == -1.0 else part.tolist()
            for part, covariance in zip(self.parts, self.covariances, strict=True)
        ]
