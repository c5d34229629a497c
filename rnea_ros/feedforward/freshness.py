# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Whether the control can go on, as far as times tell: of joint states, and between ticks."""

from __future__ import annotations

import math

import numpy as np

from .joint_state import JointStateMonitor
from .settings import ResolvedSettings


class Freshness:
    """
    Looks at the times once a tick.

    Whoever is nearest to a timeout acts: half a period is taken off it, so that jitter does not
    put the end off by one tick.

    :param states: the measured joint state
    :param settings: timeouts and period
    :ivar dt: time in which a tick may change commands: since the one before, at most a period, s
    :ivar stale: whether joint states are too old, or have not come yet
    :ivar blocked: whether the tick before is as long ago as joint states may be old; newer ones
        may have come meanwhile, but the effort of older ones went on acting
    """

    def __init__(self, states: JointStateMonitor, settings: ResolvedSettings) -> None:
        self._states = states
        self._period = settings.settings.period
        self._timeouts = (
            (settings.in_model, settings.joint_states_timeout),
            (
                np.setdiff1d(np.arange(states.position.size), settings.in_model),
                settings.uncommanded_timeout,
            ),
        )
        self._ticked = math.inf
        self.dt = self._period
        self.stale = True
        self.blocked = False

    def tick(self, now: float) -> None:
        """
        Look at a tick.

        :param now: monotonic time, s
        """
        elapsed, self._ticked = now - self._ticked, now
        half = 0.5 * self._period
        (commanded, timeout), (others, others_timeout) = self._timeouts
        self.blocked = self.outlasts(elapsed)
        self.stale = self._states.age(now + half, commanded) > timeout or bool(
            others.size and self._states.age(now + half, others) > others_timeout
        )
        # The first tick, and one after simulated time was set back, count as a whole period.
        self.dt = min(elapsed, self._period) if elapsed >= 0.0 else self._period

    def outlasts(self, duration: float) -> bool:
        """
        Return whether joint states are too old after a time.

        :param duration: s
        """
        _, timeout = self._timeouts[0]
        return duration - 0.5 * self._period > timeout
