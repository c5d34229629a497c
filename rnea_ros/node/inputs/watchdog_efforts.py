# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The watchdog's last command: the effort on the robot after a stall of this node.

The watchdog repeats its commands on ``<command_topic>/watchdog``, so that this node need not
subscribe to the command topic.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...arrays import Array
from ...feedforward.settings import ResolvedSettings
from ...ros import PolledSubscription

INTERVAL = 0.2  # time between two polls, s: longer than the control waits after a blocked tick


class WatchdogEfforts:
    """Keeps the watchdog's newest command of the last :data:`INTERVAL`; for the loop's thread."""

    def __init__(
        self, subscription: PolledSubscription[Any], settings: ResolvedSettings
    ) -> None:
        self._subscription = subscription
        self._command_scale = np.array(settings.units.command_scale)
        self._polled_at = -math.inf
        self._effort: Array | None = None

    def take_messages(self, now: float) -> None:
        """Poll the topic if it is time, and forget what came before the last poll."""
        if not 0.0 <= now - self._polled_at < INTERVAL:  # simulated time can be set back
            self._polled_at, self._effort = now, None
            self.newest()

    def newest(self) -> Array | None:
        """Return the watchdog's command, shape (m,), N m or N; None if it sent none lately."""
        message = self._subscription.take()
        if message is not None and len(message.data) == self._command_scale.size:
            effort = np.asarray(message.data) / self._command_scale
            if np.isfinite(effort).all():
                self._effort = effort
        return self._effort
