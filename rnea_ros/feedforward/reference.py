# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The motion that is wanted now: one in force, the next one that waits for its start, or none."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .trajectory import Setpoint, Trajectory

Array: TypeAlias = NDArray[np.float64]


class Reference:
    """
    Samples the motion in force, and replaces it when the next one starts.

    Start times are monotonic here. Positions, velocities and accelerations have shape (m,), in the
    order of the controller's joints.

    :param m: the number of joints
    :param setpoint_timeout: how long a streamed set-point counts, s; then its position is held
    """

    def __init__(self, m: int, setpoint_timeout: float) -> None:
        self._timeout = setpoint_timeout
        self._current: Trajectory | Setpoint | None = None
        self._started = math.inf
        self._next: Trajectory | Setpoint | None = None
        self._next_start: float | None = None
        self._holding = False
        self.stale = False
        self.position = np.zeros(m)
        self.velocity = np.zeros(m)
        self.acceleration = np.zeros(m)

    @property
    def given(self) -> bool:
        """Whether there is a motion to follow or a position to hold."""
        return self._current is not None or self._holding

    @property
    def moving(self) -> bool:
        """Whether the wanted velocity is other than zero."""
        return bool(self.velocity.any())

    def accept(self, motion: Trajectory | Setpoint, start: float | None) -> None:
        """
        Let a motion replace the one in force from its start on.

        :param motion: the motion
        :param start: monotonic time, s; None for the next sample
        """
        self._next, self._next_start = motion, start

    def hold(self, position: Array) -> None:
        """
        Hold a position and drop every motion.

        :param position: shape (m,), rad or m
        """
        self.clear()
        self._holding = True
        self.position[:] = position

    def clear(self) -> None:
        """Want nothing: neither a motion nor a position."""
        self._current = self._next = None
        self._holding = self.stale = False
        self.velocity[:] = 0.0
        self.acceleration[:] = 0.0

    def sample(self, now: float) -> bool:
        """
        Write what is wanted into position, velocity and acceleration.

        :param now: monotonic time, s
        :return: whether anything is wanted
        """
        if self._next is not None and (self._next_start is None or self._next_start <= now):
            self._current, self._next = self._next, None
            self._started = now if self._next_start is None else self._next_start
            self.stale = False
        current = self._current
        if isinstance(current, Setpoint):
            self._sample_setpoint(current, now)
        elif current is not None:
            over = current.sample(
                now - self._started, self.position, self.velocity, self.acceleration
            )
            if over:
                self.hold_reached()
        return self.given

    def hold_reached(self) -> None:
        """Hold the position that is wanted now, and keep what waits for its start."""
        self._current = None
        self._holding = True
        self.velocity[:] = 0.0
        self.acceleration[:] = 0.0

    def _sample_setpoint(self, setpoint: Setpoint, now: float) -> None:
        self.position[:] = setpoint.q
        if now - self._started > self._timeout:
            # It commands velocity or acceleration still, or it is done with: only the first is
            # stale.
            self.stale = bool(setpoint.qd.any() or setpoint.qdd.any())
            self.hold_reached()
        else:
            self.velocity[:] = setpoint.qd
            self.acceleration[:] = setpoint.qdd
