# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Stalls: joint states or ticks that pause for longer than ``joint_states_timeout``.

When joint states stop or repeat, :mod:`.monitoring` finds them stale, :mod:`.control_tick`
interrupts the control, and :mod:`.ramp_down` commands gravity, then zero. This module decides
whether the control returns: a busy computer stalls for up to some tenths of a second. The control
returns once joint states have been fresh for :data:`SETTLING_TIME`, if they are fresh again within
``hold_duration``.
A further stall before that begins another ``hold_duration``, and counts as a return. A position
jump, a stop and any other fault exclude a return.

After a blocked tick, as at the start, commands start from the effort that acts:
:class:`ActingEffort`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
import math

import numpy as np

from ..arrays import Array
from .measured import JointStateMonitor
from .reasons import Reason
from .settings import ResolvedSettings

SETTLING_TIME = 0.1
"""Joint states must be fresh for this long before the control returns, s."""

MAX_RETURNS = 20
"""
Maximum number of returns within :data:`RETURN_WINDOW`; a further stall excludes a return.

A desktop stalls a few times a minute. An arm that stalls twice a second is not under control.
"""

RETURN_WINDOW = 10.0
"""Time in which returns are counted, s."""

BUSY = 'run fewer processes, set realtime.priority, or raise joint_states_timeout'
CAUSES = {
    Reason.JOINT_STATES_STALE: ('no joint states', BUSY),
    Reason.TICK_BLOCKED: ('no tick of the loop', BUSY),
    Reason.JOINT_STATES_FROZEN: (
        'joint states repeated while the reference moved',
        'look for lost reads of the driver, or a joint that sticks',
    ),
}
"""What happened, and what to do, by reason."""


@dataclass(frozen=True)
class Stall:
    """A stall after which the control has returned: its duration and the permitted one, s."""

    reason: Reason
    duration: float
    timeout: float

    def __str__(self) -> str:
        cause, advice = CAUSES[self.reason]
        return (
            f'{cause} for {self.duration:.2f} s (limit {self.timeout:g} s): held gravity, '
            f'cancelled the motion, resumed control. If this repeats, {advice}'
        )


class StallRecovery:
    """
    Decides whether the control returns after a stall.

    :ivar newest: the newest stall after which the control returned, None before the first;
        replaced, never changed, because other threads read it
    :ivar counts: number of returns by reason; replaced, never changed
    """

    def __init__(self, settings: ResolvedSettings) -> None:
        self._longest_block = settings.joint_states_timeout + settings.hold_duration
        self._hold_duration = settings.hold_duration
        self._returns: deque[float] = deque(maxlen=MAX_RETURNS)
        self._reason: Reason | None = None
        self._duration = self._timeout = self._stalled_since = self._held_since = 0.0
        self._fresh_since = math.inf
        self.newest: Stall | None = None
        self.counts: Counter[Reason] = Counter()

    @property
    def may_return(self) -> bool:
        """Whether the control may still return."""
        return self._reason is not None

    def begin(self, reason: Reason, now: float, duration: float, timeout: float) -> None:
        """Begin a stall, with its duration so far and the permitted one, s."""
        self.exclude_return()
        too_long = reason is Reason.TICK_BLOCKED and duration > self._longest_block
        if not (too_long or self._too_many_returns(now)):
            self._reason, self._duration, self._timeout = reason, duration, timeout
            self._stalled_since, self._held_since = now - duration, now

    def exclude_return(self) -> None:
        """Exclude a return until the next stall."""
        self._reason, self._fresh_since = None, math.inf

    def check_return(self, now: float, *, fresh: bool, jumped: bool) -> bool:
        """
        Judge the stall, once a tick; return whether the control returns now.

        :param fresh: whether joint states are not stale, and the last tick was not blocked
        :param jumped: whether several positions in a row were rejected as jumps
        """
        if not fresh and self._fresh_since < math.inf:
            self._held_since = now
            self._returns.append(now)
            if self._too_many_returns(now):
                self.exclude_return()
        self._held_since = min(self._held_since, now)
        held = now - self._held_since >= self._hold_duration
        if jumped or (held and not fresh):
            self.exclude_return()
        if self._reason is None or not fresh:
            self._fresh_since = math.inf
            return False
        self._fresh_since = min(self._fresh_since, now)
        if now - self._fresh_since < SETTLING_TIME:
            return False
        blocked = self._reason is Reason.TICK_BLOCKED
        duration = self._duration if blocked else self._fresh_since - self._stalled_since
        self.newest = Stall(self._reason, duration, self._timeout)
        self.counts = self.counts + Counter((self._reason,))
        self._returns.append(now)
        self.exclude_return()
        return True

    def _too_many_returns(self, now: float) -> bool:
        """Return whether a stall now is one too many; simulated time can be set back."""
        full = len(self._returns) == MAX_RETURNS
        return full and 0.0 <= now - self._returns[0] < RETURN_WINDOW


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
        Return the commanded joints' measured effort, shape (m,); None if it must not be used.

        It is not used with ``hardware_compensates``: the measured effort then includes the robot's
        own compensation, which must not be commanded.
        """
        effort, given = self._states.effort[settings.joint_indices], settings
        used = given.start_from_measured_effort and not given.hardware_compensates
        return effort if used and np.isfinite(effort).all() else None

    def find(self, now: float, settings: ResolvedSettings, *, blocked: bool) -> Array | None:
        """
        Return the effort once messages are current: measured since the block, or the watchdog's.

        :param blocked: whether this tick was blocked: a watchdog may have commanded meanwhile
        :return: shape (m,), N m or N; None while waiting or if the effort is known already, or to
            start from the node's last command
        """
        if blocked:
            self.known, self._unknown_since = False, now
        if self.known:
            return None
        self._unknown_since = min(self._unknown_since, now)  # simulated time can be set back
        waited = now - self._unknown_since
        newer = self._states.age(now, settings.joint_indices) < waited
        self.known = waited >= (BACKLOG_TIME if newer else MAX_WAIT)
        if not self.known:
            return None
        effort = self.measured(settings) if newer else None
        return self.watchdog_effort() if effort is None else effort
