# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Whether the control can go on, as far as times tell: of joint states, and between ticks."""

from __future__ import annotations

from collections import Counter
import math

import numpy as np

from .inputs import Indices, JointStateMonitor
from .reasons import Reason
from .settings import ResolvedSettings
from .trajectory import Reference


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


FROZEN_AFTER = 0.08
"""Joint states that repeat their values for so long during a commanded motion are flagged, s."""

FLAGS = (
    Reason.JOINT_STATES_LATE,
    Reason.JOINT_STATES_FROZEN,
    Reason.REFERENCE_STALE,
    Reason.LIMITS_CANNOT_HOLD,
)


class Flags:
    """
    Looks at the inputs once a tick.

    :param states: the measured joint states
    :param reference: the wanted motion
    :param commanded: numbers of the commanded joints
    :param period: of the control, s
    """

    def __init__(
        self, states: JointStateMonitor, reference: Reference, commanded: Indices, period: float
    ) -> None:
        self._states = states
        self._reference = reference
        self._commanded = commanded
        self._period = period
        self._still_at = 0.0
        self._held = (False,) * len(FLAGS)
        self.raised: frozenset[Reason] = frozenset()
        self.counts: Counter[Reason] = Counter()

    def update(self, now: float, *, overloaded: bool) -> None:
        """
        Raise and drop flags.

        :param now: monotonic time, s
        :param overloaded: whether effort limits are below what holds the robot where it is
        """
        if not self._reference.moving:
            self._still_at = now
        in_motion = now - self._still_at > FROZEN_AFTER
        holds = (
            self._states.late(now, self._period),
            in_motion and self._states.frozen_for(self._commanded) > FROZEN_AFTER,
            self._reference.stale,
            overloaded,
        )
        if holds == self._held:
            return
        self._held = holds
        raised = frozenset(reason for reason, does in zip(FLAGS, holds, strict=True) if does)
        # Replaced, not changed: another thread may be reading them.
        if raised - self.raised:
            self.counts = self.counts + Counter(raised - self.raised)
        self.raised = raised
