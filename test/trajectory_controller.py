# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A trajectory controller as ros2_control's is: what it wants at a time, and what it says of it.

Written from what joint_trajectory_controller does, without any code of the package's.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NO_CONTROL_MSGS = 'control_msgs (a ROS package that is not on PyPI) is not installed'


@dataclass
class TrajectoryController:
    """
    Follows one quintic for all joints, and repeats its last point for ever, as it was given.

    :param start: where it begins
    :param way: from there to its end
    :param duration: of the motion in its own time, s
    :param last_acceleration: of the last point
    :param speed: the speed scaling factor
    :param tells_speed: whether it fills the field; those that do not leave it 0
    """

    start: Array
    way: Array
    duration: float
    last_acceleration: float = 0.0
    speed: float = 1.0
    tells_speed: bool = True
    time: float = field(default=0.0, init=False)

    def advance(self, period: float) -> None:
        """Let real time pass."""
        self.time += period * self.speed

    def share(self, time: float) -> tuple[float, float, float]:
        """Return the share of the way at a time, and its derivatives in the motion's own time."""
        T, end = self.duration, self.last_acceleration
        if time >= T:
            return 1.0, 0.0, end
        s = time / T
        # The quintic from rest to rest with these accelerations at its ends.
        ends = np.array([0.0, 0.0, 0.0, 1.0, 0.0, end * T * T])
        powers = np.array([[_derivative(k, p, at) for p in range(6)]
                           for at in (0.0, 1.0) for k in range(3)])
        c = np.linalg.solve(powers, ends)
        q, v, a = (sum(c[p] * _derivative(k, p, s) for p in range(6)) for k in range(3))
        return float(q), float(v / T), float(a / T**2)

    @property
    def reference(self) -> tuple[Array, Array, Array]:
        """What it says: position, velocity, acceleration."""
        q, v, a = self.share(self.time)
        return self.start + q * self.way, v * self.way, a * self.way

    @property
    def speed_field(self) -> float:
        """What it says of its speed."""
        return self.speed if self.tells_speed else 0.0


def _derivative(order: int, power: int, s: float) -> float:
    """Return a derivative of a power of s."""
    factor = 1.0
    for k in range(order):
        factor *= power - k
    return factor * s ** max(power - order, 0) if factor else 0.0


