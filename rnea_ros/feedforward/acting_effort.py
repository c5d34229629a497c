# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The effort that acts before the first command, and after a tick that was blocked."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import Array
from .inputs import JointStateMonitor
from .settings import ResolvedSettings

BACKLOG_TIME = 0.02
"""
Time after a blocked tick until messages are current, s.

A process that was suspended first reads old messages, then those of the pause.
"""

MAX_WAIT = 0.1
"""Longest wait for a joint state after a blocked tick, s."""


class ActingEffort:
    """
    Finds the effort from which commands start.

    :param states: measured state of all joints
    :ivar known: False while waiting after a blocked tick
    :ivar watchdog_effort: returns what a watchdog commands, shape (m,), N m or N; None for nothing
    """

    def __init__(self, states: JointStateMonitor) -> None:
        self._states = states
        self._unknown_since = 0.0
        self.known = True
        self.watchdog_effort: Callable[[], Array | None] = lambda: None

    def measured(self, settings: ResolvedSettings) -> Array | None:
        """
        Return the measured effort of the commanded joints; None if unknown or not to be used.

        It is not used with ``hardware_compensates``: the measured effort then includes the robot's
        own compensation, which must not be commanded.

        :param settings: the settings in force
        :return: shape (m,), N m or N
        """
        effort, given = self._states.effort[settings.joint_indices], settings.parameters
        used = given.start_from_measured_effort and not given.hardware_compensates
        return effort if used and np.isfinite(effort).all() else None

    def invalidate(self, now: float) -> None:
        """
        Mark the effort as unknown: a tick was blocked, and a watchdog may have commanded.

        :param now: monotonic time, s
        """
        self.known, self._unknown_since = False, now

    def find(self, now: float, settings: ResolvedSettings) -> Array | None:
        """
        Return the effort once messages are current: measured since the block, or the watchdog's.

        :param now: monotonic time, s
        :param settings: the settings in force
        :return: shape (m,), N m or N; None while waiting, or to start from the node's last command
        """
        self._unknown_since = min(self._unknown_since, now)  # simulated time can be set back
        waited = now - self._unknown_since
        newer = self._states.age(now, settings.joint_indices) < waited
        self.known = waited >= (BACKLOG_TIME if newer else MAX_WAIT)
        if not self.known:
            return None
        effort = self.measured(settings) if newer else None
        return self.watchdog_effort() if effort is None else effort
