# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Checks of every tick: the age of the joint states, the time between ticks, and warning flags.

Stale joint states interrupt the control, and so does a pause between ticks as long as the same
timeout. Joint states are stale too if they repeat old values while the reference moves. A flag is
only a warning: the control continues.
"""

from __future__ import annotations

from collections import Counter
import math

from .measured import JointStateMonitor, StateCheck
from .motion import Reference
from .reasons import Reason
from .settings import ResolvedSettings

FROZEN_AFTER = 0.08
"""Unchanged joint states during a motion raise a flag after this time, s."""

NEVER = 1e9
"""A timeout that no age reaches, s, but that of a joint without any valid value, infinity."""

FLAGS = (
    Reason.JOINT_STATES_LATE,
    Reason.JOINT_STATES_FROZEN,
    Reason.UNCOMMANDED_STALE,
    Reason.REFERENCE_STALE,
    Reason.LIMITS_CANNOT_HOLD,
    Reason.ADDITIONAL_EFFORT_CUT,
)


class TickMonitor:
    """
    Checks the inputs once a tick.

    Each timeout trips at the nearest tick: ages are measured half a period ahead, times between
    ticks half a period short.

    :param settings: timeouts and period
    :ivar dt: time in which this tick may change the command: time since the last tick, at most a
        period, s
    :ivar elapsed: time since the last tick, s
    :ivar stale: whether joint states are too old, missing, repeated, or of two sources
    :ivar check: the check of the joint states
    :ivar blocked: whether the time since the last tick exceeds the timeout of the joint states:
        even if joint states are new, the old command was in force for too long
    :ivar flags: raised flags; replaced, never changed, because other threads read them
    :ivar flag_counts: number of times that each flag was raised; replaced, never changed
    """

    def __init__(
        self, states: JointStateMonitor, reference: Reference, settings: ResolvedSettings
    ) -> None:
        self._states = states
        self._reference = reference
        self._period = settings.period
        self._timeout = settings.joint_states_timeout
        self._timeout_of_others = settings.uncommanded_timeout or NEVER
        self._last_tick = math.inf
        self._last_rest = 0.0
        self._conditions = (False,) * len(FLAGS)
        self.dt = self._period
        self.elapsed = 0.0
        self.stale = True
        self.check = StateCheck(states, settings)
        self.blocked = False
        self.flags: frozenset[Reason] = frozenset()
        self.flag_counts: Counter[Reason] = Counter()

    def check_times(self, now: float, *, follows: bool) -> None:
        """Check tick and joint states; ``follows``: whether joints are to follow the reference."""
        elapsed, self._last_tick = now - self._last_tick, now
        self.elapsed = elapsed
        half_period_ahead = now + 0.5 * self._period
        self.blocked = self.exceeds_timeout(elapsed)
        self.check.run(self._reference.position, now, follows=follows)
        self.stale = (
            self.check.repeating
            or half_period_ahead - self.check.received > self._timeout
            or half_period_ahead - self.check.others_received > self._timeout_of_others
            or self._states.contested
        )
        # The first tick, and a tick after simulated time was set back, count as a whole period.
        self.dt = min(elapsed, self._period) if elapsed >= 0.0 else self._period

    def overdue(self, now: float) -> tuple[Reason, float, float]:
        """Return why joint states are stale, for how long, and the timeout, s."""
        commanded = now - self.check.received
        if self.exceeds_timeout(commanded + self._period):
            return Reason.JOINT_STATES_STALE, commanded, self._timeout
        if self.check.repeating:
            return Reason.JOINT_STATES_FROZEN, self.check.unchanged_for, self._timeout
        others = now - self.check.others_received
        return Reason.JOINT_STATES_STALE, others, self._timeout_of_others

    def exceeds_timeout(self, duration: float) -> bool:
        """Return whether a duration exceeds the joint states' timeout by half a period."""
        return duration - 0.5 * self._period > self._timeout

    def set_flags(self, now: float, *, overloaded: bool, cut: bool) -> None:
        """Raise and clear flags; ``overloaded``: effort limits are below the holding effort."""
        if not self._reference.moving:
            self._last_rest = now
        in_motion = now - self._last_rest > FROZEN_AFTER
        repeats = in_motion and self.check.unchanged_for > FROZEN_AFTER
        repeats |= self.check.repeating
        self._states.frozen = repeats or self.check.old
        conditions = (
            self.check.late,
            repeats,
            self.check.others_late,
            self._reference.stale,
            overloaded,
            cut,
        )
        if conditions == self._conditions:
            return
        self._conditions = conditions
        flags = frozenset(flag for flag, holds in zip(FLAGS, conditions, strict=True) if holds)
        if flags - self.flags:
            self.flag_counts = self.flag_counts + Counter(flags - self.flags)
        self.flags = flags
