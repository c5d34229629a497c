# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The effort controller of ros2_control and its joint limiter, simulated.

The rules are those of forward_command_controller on an effort interface, and of the limiter
between it and the hardware. Unwelcome rules are included, so that a client meets them in
simulation before it commands a real robot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..urdf import JointLimits


class EffortController:
    """
    Receives efforts at any time and passes them to the hardware once per cycle.

    - An array with a non-finite value is dropped; the previous command stays.
    - An empty array is ignored.
    - Any other wrong length makes the next cycle fail: the controller becomes inactive for ever,
      the hardware keeps the last efforts, and later messages are ignored.
    - Without new messages the last efforts stay for ever.
    - In every cycle efforts are cut to the effort limit. Beyond a position or velocity limit they
      are cut to zero in the outward direction, even if they support the arm against gravity.

    ``warn`` is called with a sentence when a command is dropped, ``fail`` when a cycle fails.
    """

    def __init__(
        self, limits: Sequence[JointLimits], warn: Callable[[str], None],
        fail: Callable[[str], None],
    ) -> None:
        self._warn = warn
        self._fail = fail
        self._position_lower = np.array([limit.lower for limit in limits])
        self._position_upper = np.array([limit.upper for limit in limits])
        self._velocity = np.array([limit.velocity for limit in limits])
        self._effort = np.array([limit.effort for limit in limits])
        # ros2_control does not limit joints without an effort limit, not even at position limits.
        self._limited = np.isfinite(self._effort)
        self._received: Array | None = None
        self._efforts: Array | None = None
        self.active = True  # whether commands reach the hardware

    def receive(self, efforts: ArrayLike) -> None:
        """Receive a message: efforts of any length, N m or N."""
        received = np.array(efforts, dtype=np.float64)
        if not np.isfinite(received).all():
            self._warn('a command with a non-finite value was dropped')
            return
        self._received = received

    def update(self, positions: Array, velocities: Array) -> Array | None:
        """Return the efforts for the hardware in this cycle; None before the first command."""
        if self.active and self._received is not None and self._received.size > 0:
            if self._received.shape == self._effort.shape:
                self._efforts = self._received
            else:
                self.active = False
                self._fail(
                    f'a command has {self._received.size} efforts, not {self._effort.size}: '
                    'the controller is inactive from now on'
                )
        if self._efforts is not None:
            # The cut value replaces the command, as in the command interface of the hardware, so
            # an inactive controller never restores it.
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
