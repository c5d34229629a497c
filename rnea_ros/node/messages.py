# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Messages that are made once, and sent again and again with other numbers."""

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
