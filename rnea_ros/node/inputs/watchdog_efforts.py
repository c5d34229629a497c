# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
What the watchdog commands: after a stall of this node, the effort that acts.

The watchdog repeats its commands on ``<command_topic>/watchdog``, which this node can read without
a subscription of its own on the command topic.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...arrays import Array
from ...ros import PolledSubscription


class WatchdogEfforts:
    """
    Keeps the watchdog's newest command of the last moments; for the loop's thread.

    :param subscription: of the watchdog's commands, std_msgs/Float64MultiArray
    :param command_scale: the driver's unit per N m or N, shape (m,)
    :param interval: time between two looks at the topic, s: shorter than a stall
    """

    def __init__(
        self, subscription: PolledSubscription[Any], command_scale: Array, interval: float
    ) -> None:
        self._subscription = subscription
        self._command_scale = command_scale
        self._interval = interval
        self._next_look = -math.inf
        self._effort: Array | None = None

    def take(self, now: float) -> None:
        """
        Look at the topic if it is time, and forget what came earlier.

        :param now: time of the tick, s
        """
        if now >= self._next_look:
            self._next_look, self._effort = now + self._interval, None
            self.newest()

    def newest(self) -> Array | None:
        """Return the watchdog's command, shape (m,), N m or N; None if it sent none lately."""
        message = self._subscription.take()
        if message is not None and len(message.data) == self._command_scale.size:
            effort = np.asarray(message.data) / self._command_scale
            if np.isfinite(effort).all():
                self._effort = effort
        return self._effort
