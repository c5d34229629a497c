# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A motion under one control law, as recorded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from .client import Received, positions
from .motion import Reference


@dataclass(frozen=True)
class Phase:
    """
    The motion under one control law.

    :param title: name of the control law in table and picture
    :param motion: reference motion
    :param joints: names of the commanded joints
    :param received: recorded joint states and terms
    :param start: start of the motion in the robot's time, s
    :param rate: achieved control rate, Hz
    :param late: number of ticks more than half a period late
    :param cpu: CPU share of the node's process, 1 for a whole core
    """

    title: str
    motion: Reference
    joints: tuple[str, ...]
    received: Received
    start: float
    rate: float
    late: int
    cpu: float

    def errors(self) -> tuple[Array, Array]:
        """Return times since the start, shape (k,), s, and errors, shape (k, m), rad or m."""
        stamps, measured = positions(self.received.states, self.joints)
        t = stamps - self.start
        during = (t >= 0.0) & (t <= self.motion.duration)
        reference, _, _ = self.motion.state(t[during])
        return t[during], measured[during] - reference

    def rms(self) -> float:
        """Return the root mean square of the error over joints and time, rad or m."""
        return float(np.sqrt(np.mean(self.errors()[1] ** 2)))

    def peak(self) -> float:
        """Return the greatest error of any joint, rad or m."""
        return float(np.abs(self.errors()[1]).max())
