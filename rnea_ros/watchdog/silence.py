# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The watchdog's parameters and rules: when silence is an emergency, and the commands then.

ros2_control applies the last command without end. Silence after a command of zeros is harmless.
After any other command it is an emergency: the publisher has died or hangs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
import enum
import math

from ..errors import InputError
from ..parameters import check_ranges, declarations_of, parameter

MAX_JOINTS = 1000  # longer commands are rejected: they would delay the watchdog
ZEROS_DURATION = 0.5  # how long zeros are repeated, in case one is lost, s
MAX_PERIOD = 1.0  # longest time between two commands that the watchdog waits for, s
GAPS = 5  # number of times between two commands from which the usual one is taken
MAX_STEP = 2.5  # greatest part of the time between two updates that counts as silence, periods


class Action(enum.Enum):
    """What the watchdog does after a silence."""

    ZERO = 'zero'  # ramp from the last command to zero
    DEACTIVATE_CONTROLLER = 'deactivate_controller'  # ramp to zero, then deactivate the controller


@dataclass(frozen=True)
class WatchdogSettings:
    """The watchdog's parameters."""

    command_topic: str = parameter(
        'effort_controller/commands', 'topic of the effort controller'
    )
    timeout: float = parameter(
        0.1, 'silence after which it acts, beyond the usual time between two commands, s',
        span=(0.005, 60.0),
    )
    ramp_duration: float = parameter(
        0.2, 'duration of the ramp from the last command to zero, s; 0: at once', span=(0.0, 60.0)
    )
    rate: float = parameter(
        250.0, 'rate of its checks, and of its commands while it acts, Hz', span=(50.0, 1000.0)
    )
    action: Action = parameter(Action.ZERO)
    controller_manager: str = parameter(
        'controller_manager', 'name of the node that deactivates the controller'
    )

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.timeout < 2.0 * self.period:
            raise InputError(
                'timeout', f'{self.timeout} s is shorter than two periods at {self.rate} Hz'
            )

    @property
    def period(self) -> float:
        """Time between two checks, s."""
        return 1.0 / self.rate


PARAMETERS = declarations_of(WatchdogSettings, read_only=True)


class WatchState(enum.Enum):
    """State of the watchdog."""

    QUIET = 'quiet'        # no command yet, or the last one was zero
    WATCHING = 'watching'  # the last command was not zero, and the next one is expected
    RAMPING = 'ramping'    # it did not come: the watchdog ramps from the last command to zero
    ZEROING = 'zeroing'    # the watchdog repeats zeros
    ACTED = 'acted'        # the watchdog sends nothing until another command comes


ACTING = (WatchState.RAMPING, WatchState.ZEROING)


class SilenceMonitor:
    """
    Receives commands, measures the silence after them, and returns what the watchdog sends.

    The allowed silence, s, is the usual time between two commands plus ``timeout``. If the machine
    stalls, little of that time counts: the publisher may have stalled too. The ramp from the last
    command to zero takes ``ramp_duration``, s. ``period``, s, is the time between two updates.
    """

    def __init__(self, timeout: float, ramp_duration: float, period: float) -> None:
        self._timeout, self._ramp_duration, self._period = timeout, ramp_duration, period
        self._allowed = timeout
        self._gaps: deque[float] = deque(maxlen=GAPS)
        self._received_at, self._updated_at, self._began = -math.inf, math.inf, 0.0
        self.state = WatchState.QUIET
        self.last_command: list[float] = []  # the last valid one, unit of the controller
        self.silence = 0.0  # before the last action or hand-back, s
        self.acted = 0  # how often the watchdog took over
        self.handed_back = 0  # how often commands came again while it acted
        self.rejected = 0  # number of invalid commands

    @property
    def counts(self) -> dict[str, int]:
        """The three counts by name."""
        return {name: getattr(self, name) for name in ('acted', 'handed_back', 'rejected')}

    def age(self, now: float) -> float:
        """Return the time since the last command, s; infinite before the first."""
        return now - self._received_at

    def receive(self, command: Sequence[float], now: float) -> None:
        """
        Take a command of another node; while such commands come, the watchdog sends nothing.

        Like ros2_control it drops an empty command and one with a value that is not finite.
        """
        if not 0 < len(command) <= MAX_JOINTS or not all(map(math.isfinite, command)):
            self.rejected += 1
            return
        self._leave_out_stall(now)
        gap = self.age(now)
        if math.isfinite(gap):
            self._learn(gap)
        if self.state is WatchState.RAMPING or (self.state is WatchState.ZEROING and any(command)):
            self.handed_back += 1
            self.silence = gap
        self.last_command = list(command)
        self._received_at = now
        if any(command):
            self.state = WatchState.WATCHING
        elif self.state is WatchState.RAMPING:
            # The watchdog's last command may arrive after these zeros: end with zeros.
            self.state, self._began = WatchState.ZEROING, now
        elif self.state is not WatchState.ZEROING:
            self.state = WatchState.QUIET

    def command_at(self, now: float) -> list[float] | None:
        """Return the command to send now, unit of the controller; None for nothing."""
        self._leave_out_stall(now)
        if self.state is WatchState.WATCHING and self.age(now) > self._allowed:
            self.state, self._began = WatchState.RAMPING, now
            self.silence = self.age(now)
            self.acted += 1
        if self.state is WatchState.RAMPING:
            passed = now - self._began + self._period
            if passed < self._ramp_duration:
                left = 1.0 - passed / self._ramp_duration
                return [left * effort for effort in self.last_command]
            self.state, self._began = WatchState.ZEROING, now
        if self.state is WatchState.ZEROING:
            if now - self._began < ZEROS_DURATION:
                return self.zeros()
            self.state = WatchState.ACTED
        return None

    def zeros(self) -> list[float]:
        """Return a command of zeros as long as the last command."""
        return [0.0] * len(self.last_command)

    def _leave_out_stall(self, now: float) -> None:
        """After a late update, count at most :data:`MAX_STEP` periods as silence."""
        elapsed = now - self._updated_at
        self._updated_at = now
        self._received_at += max(elapsed - MAX_STEP * self._period, 0.0)

    def _learn(self, gap: float) -> None:
        """Set the allowed silence from the usual time between two commands."""
        gap = min(gap, MAX_PERIOD)
        if gap > self._allowed:
            self._gaps.clear()  # another publisher, or another rate
        self._gaps.append(gap)
        usual = sorted(self._gaps)[(len(self._gaps) - 1) // 2]
        self._allowed = self._timeout + usual
