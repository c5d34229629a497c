# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Messages to plain data and back.

Only this module knows how messages are laid out, and :mod:`.trajectory_decoder`, which takes one
apart that is too large for rclpy.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

Array: TypeAlias = NDArray[np.float64]


def seconds(stamp: Any) -> float:
    """Return a builtin_interfaces Time or Duration in seconds."""
    return float(stamp.sec + 1e-9 * stamp.nanosec)


def joint_state_arrays(message: Any) -> tuple[Array, Array, Array]:
    """Return position, velocity and effort of a JointState, possibly empty, without a copy."""
    return np.asarray(message.position), np.asarray(message.velocity), np.asarray(message.effort)


def wrench_parts(message: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return force and torque of a WrenchStamped, three numbers each."""
    force, torque = message.wrench.force, message.wrench.torque
    return (force.x, force.y, force.z), (torque.x, torque.y, torque.z)


def imu_parts(
    message: Any,
) -> tuple[Sequence[float] | None, Sequence[float] | None, Sequence[float] | None]:
    """
    Return orientation (x, y, z, w), angular velocity and linear acceleration of an Imu.

    A part is None where its covariance says, by a first element of -1, that there is none.
    """
    q, w, a = message.orientation, message.angular_velocity, message.linear_acceleration
    return (
        None if message.orientation_covariance[0] == -1.0 else (q.x, q.y, q.z, q.w),
        None if message.angular_velocity_covariance[0] == -1.0 else (w.x, w.y, w.z),
        None if message.linear_acceleration_covariance[0] == -1.0 else (a.x, a.y, a.z),
    )


class CommandMessage:
    """
    A Float64MultiArray that is allocated once and written through a numpy view.

    :param m: the number of efforts
    """

    def __init__(self, m: int) -> None:
        self.message = Float64MultiArray(data=array('d', bytes(8 * m)))
        # A view of the message's own array: rclpy may have copied the one that was assigned.
        self.view = np.frombuffer(self.message.data, dtype=np.float64)


class EffortMessage:
    """
    A JointState that carries named efforts and nothing else, allocated once.

    :param joints: names, in the order of the efforts
    """

    def __init__(self, joints: Sequence[str]) -> None:
        self.message = JointState(name=list(joints), effort=array('d', bytes(8 * len(joints))))
        self.view = np.frombuffer(self.message.effort, dtype=np.float64)

    def stamp(self, time: float) -> None:
        """
        Set the header's stamp.

        :param time: s
        """
        stamp = self.message.header.stamp
        stamp.sec = int(time)
        stamp.nanosec = min(int((time - stamp.sec) * 1e9), 999_999_999)
