# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
When silence on a command topic is an emergency, and what is commanded then.

ros2_control applies the last command for ever. So silence is harmless after a command of zeros,
and an emergency after any other: whoever sent it has died, or hangs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
import enum
import math

ZEROS_DURATION = 0.5
"""How long zeros are repeated, so that one that is lost does not matter, s."""

LONGEST_PERIOD = 1.0
"""Commands that come less often are not waited for, s."""

GAPS = 5
"""The time between two commands is taken from so many of the last."""

LATE = 2.5
"""How much of the time between two looks counts as silence at most, in periods."""


class State(enum.Enum):
    """What the watchdog makes of what it hears."""

    QUIET = 'quiet'        # no command yet, or the last one was zero
    WATCHING = 'watching'  # the last command is not zero, and the next is expected
    RAMPING = 'ramping'    # it did not come: from the last command to zero
    ZEROING = 'zeroing'    # zeros are repeated
    ACTED = 'acted'        # nothing is sent any more, until somebody commands again


ACTING = (State.RAMPING, State.ZEROING)


class SilenceMonitor:
    """
    Hears commands, looks at the time, and says what to command instead of a publisher that died.

    The silence that is allowed is the usual time between two commands plus ``timeout``. Time in
    which nobody looked, because the machine stalled, hardly counts: the publisher may have stalled
    with it.

    :param timeout: silence beyond the usual time between two commands at which to act, s
    :param ramp_duration: from the last command to zero, s; 0: at once
    :param period: time between two looks, s
    """

    def __init__(self, timeout: float, ramp_duration: float, period: float) -> None:
        self._timeout = timeout
        self._ramp_duration = ramp_duration
        self._period = period
        self._allowed = timeout
        self._gaps: deque[float] = deque(maxlen=GAPS)
        self._last: list[float] = []
        self._heard = -math.inf
        self._looked = math.inf
        self._began = 0.0
        self.state = State.QUIET
        self.silence = 0.0
        """How long it was silent before the action or the hand back that came last, s."""

        self.acted = 0
        """How often silence was an emergency."""

        self.handed_back = 0
        """How often commands came again while it acted."""

        self.refused = 0
        """How many commands were none."""

    @property
    def last_command(self) -> Sequence[float]:
        """The last command that was heard, N m or N; empty before the first."""
        return self._last

    def age(self, now: float) -> float:
        """Return the time since the last command, s; infinite before the first."""
        return now - self._heard

    def hear(self, command: Sequence[float], now: float) -> None:
        """
        Take a command of somebody else's; a living publisher is never interfered with.

        What ros2_control drops, a value that is not finite or nothing at all, is no command: the
        one before it still acts.

        :param command: efforts, N m or N; the newest length is the one that counts
        :param now: monotonic time, s
        """
        if not command or not all(map(math.isfinite, command)):
            self.refused += 1
            return
        self._leave_out_stall(now)
        gap = self.age(now)
        if math.isfinite(gap):
            self._learn(gap)
        if self.state is State.RAMPING or (self.state is State.ZEROING and any(command)):
            self.handed_back += 1
            self.silence = gap
        self._last = list(command)
        self._heard = now
        if any(command):
            self.state = State.WATCHING
        elif self.state is State.RAMPING:
            # The watchdog's own last command may arrive after these zeros: zeros must be the last.
            self.state, self._began = State.ZEROING, now
        elif self.state is not State.ZEROING:
            self.state = State.QUIET

    def look(self, now: float) -> list[float] | None:
        """
        Return what is to be commanded now, None for nothing.

        :param now: monotonic time, s; looks are a period apart
        """
        self._leave_out_stall(now)
        if self.state is State.WATCHING and self.age(now) > self._allowed:
            self.state, self._began = State.RAMPING, now
            self.silence = self.age(now)
            self.acted += 1
        if self.state is State.RAMPING:
            passed = now - self._began + self._period
            if passed < self._ramp_duration:
                left = 1.0 - passed / self._ramp_duration
                return [left * effort for effort in self._last]
            self.state, self._began = State.ZEROING, now
        if self.state is State.ZEROING:
            if now - self._began < ZEROS_DURATION:
                return self.zeros()
            self.state = State.ACTED
        return None

    def zeros(self) -> list[float]:
        """Return a command of zeros as long as the last command."""
        return [0.0] * len(self._last)

    def _leave_out_stall(self, now: float) -> None:
        """Where a look comes late, count no more than :data:`LATE` periods of it as silence."""
        unseen = now - self._looked
        self._looked = now
        self._heard += max(unseen - LATE * self._period, 0.0)

    def _learn(self, gap: float) -> None:
        """Allow for the time that usually passes from one command to the next."""
        gap = min(gap, LONGEST_PERIOD)
        if gap > self._allowed:
            self._gaps.clear()  # another publisher, or another rate
        self._gaps.append(gap)
        usual = sorted(self._gaps)[(len(self._gaps) - 1) // 2]
        self._allowed = self._timeout + usual
