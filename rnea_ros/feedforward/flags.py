# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What is wrong while the control goes on: raised and dropped, counted when raised."""

from __future__ import annotations

from collections import Counter

from .joint_state import Indices, JointStateMonitor
from .reasons import Reason
from .reference import Reference

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
