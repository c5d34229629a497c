# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Outgoing messages as CDR bytes: serialised once, then only their numbers change."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ...messages import FixedLayout, JointStateSample, WrenchSample


class CommandMessage:
    """
    A Float64MultiArray of efforts.

    :param m: number of efforts
    :ivar view: the efforts inside the message, shape (m,), N m or N
    """

    def __init__(self, m: int) -> None:
        message = Float64MultiArray(data=array('d', bytes(8 * m)))
        self._message = FixedLayout(serialize_message(message))
        for what in ('number of dimensions', 'offset'):
            self._message.integer(what)
        self.view = self._message.numbers(self._message.unsigned('number of efforts'), 'efforts')

    @property
    def data(self) -> bytes:
        """The message as CDR bytes."""
        return self._message.data


class EffortMessage:
    """
    A JointState with efforts only.

    :param joints: names, in the order of the efforts
    :ivar view: the efforts inside the message, shape (m,), N m or N
    """

    def __init__(self, joints: Sequence[str]) -> None:
        message = JointState(name=list(joints), effort=array('d', bytes(8 * len(joints))))
        self._message = FixedLayout(serialize_message(message))
        self._message.skip_stamp()
        self.view = JointStateSample.read(self._message).effort

    def stamp(self, time: float) -> None:
        """
        Set the stamp of the header.

        :param time: s
        """
        _stamp(self._message, time)

    @property
    def data(self) -> bytes:
        """The message as CDR bytes."""
        return self._message.data


class WrenchMessage:
    """
    A WrenchStamped.

    :param frame: frame_id of the header
    :ivar force: the force inside the message, shape (3,), N
    :ivar torque: the torque inside the message, shape (3,), N m
    """

    def __init__(self, frame: str) -> None:
        message = WrenchStamped()
        message.header.frame_id = frame
        self._message = FixedLayout(serialize_message(message))
        self._message.skip_stamp()
        _, self.force, self.torque = WrenchSample.read(self._message)

    def stamp(self, time: float) -> None:
        """
        Set the stamp of the header.

        :param time: s
        """
        _stamp(self._message, time)

    @property
    def data(self) -> bytes:
        """The message as CDR bytes."""
        return self._message.data


def _stamp(message: FixedLayout, time: float) -> None:
    seconds = int(time)
    nanoseconds = min(int((time - seconds) * 1e9), 999_999_999)
    message.words[:2] = seconds, nanoseconds
