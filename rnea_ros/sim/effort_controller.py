# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
What ros2_control makes of the efforts that it is sent.

The rules are those of forward_command_controller on an effort interface, and of the limiter
between it and the hardware. They are kept where they hurt too: a client that works with the
simulated robot has met them before it meets the real one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..urdf import Limits


class EffortController:
    """
    Takes efforts at any time, hands them to the hardware once a cycle.

    - An array with a value that is not finite is dropped; what was commanded before stays.
    - An empty array commands nothing.
    - Any other wrong length makes the next cycle fail: the controller goes inactive for good, the
      hardware keeps the last efforts, and what is sent later is not looked at.
    - The last efforts stay for ever where nothing new comes.
    - Every cycle, efforts are cut to the effort limit, and to zero in the direction that leads
      further beyond a position or velocity limit, the support against gravity included.

    :param limits: of the joints, in the order of the efforts
    :param warn: takes a sentence when a command is dropped
    :param fail: takes a sentence when the controller goes inactive
    """

    def __init__(
        self,
        limits: Sequence[Limits],
        warn: Callable[[str], None],
        fail: Callable[[str], None],
    ) -> None:
        self._warn = warn
        self._fail = fail
        self._position_lower = np.array([limit.lower for limit in limits])
        self._position_upper = np.array([limit.upper for limit in limits])
        self._velocity = np.array([limit.velocity for limit in limits])
        self._effort = np.array([limit.effort for limit in limits])
        # ros2_control lets an effort without a limit of its own pass whole, wherever the joint is.
        self._limited = np.isfinite(self._effort)
        self._received: Array | None = None
        self._efforts: Array | None = None
        self._active = True

    @property
    def active(self) -> bool:
        """Whether commands still reach the hardware."""
        return self._active

    def receive(self, efforts: ArrayLike) -> None:
        """
        Take a message.

        :param efforts: its data, of any length, N m or N
        """
        received = np.array(efforts, dtype=np.float64)
        if not np.isfinite(received).all():
            self._warn('a command with a value that is not finite was dropped')
            return
        self._received = received

    def update(self, positions: Array, velocities: Array) -> Array | None:
        """
        Return what the hardware is told in this cycle, shape (n,); None before the first command.

        :param positions: measured, shape (n,), rad or m
        :param velocities: measured, shape (n,), rad/s or m/s
        """
        if self._active and self._received is not None and self._received.size > 0:
            if self._received.shape == self._effort.shape:
                self._efforts = self._received
            else:
                self._active = False
                self._fail(
                    f'a command has {self._received.size} efforts, not {self._effort.size}: '
                    'the controller is inactive from now on'
                )
        if self._efforts is not None:
            # The cut value replaces the command, as in the hardware's command interface: an
            # inactive controller does not bring back what was cut once.
            self._efforts = self._cut(self._efforts, positions, velocities)
        return self._efforts

    def _cut(self, efforts: Array, positions: Array, velocities: Array) -> Array:
        too_low = (positions <= self._position_lower) & (velocities <= 0.0)
        too_high = (positions >= self._position_upper) & (velocities >= 0.0)
        no_lower = (too_low | (velocities < -self._velocity)) & self._limited
        no_higher = (too_high | (velocities > self._velocity)) & self._limited
        lower = np.where(no_lower, 0.0, -self._effort)
        upper = np.where(no_higher, 0.0, self._effort)
        return np.minimum(np.maximum(efforts, lower), upper)
