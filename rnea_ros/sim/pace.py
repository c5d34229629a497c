# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Pace of simulated time: real time, or in lockstep with the control."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ros import PeriodicSchedule, PolledSubscription

MAX_STEPS = 100  # after a stall; simulated time lags by the rest

ANSWER_TIMEOUT = 5.0
"""
Longest wait of simulated time for a command, s of real time.

Among fourteen busy processes on two cores a node was once without a processor for 3 s.
"""

PUBLICATIONS = 25  # of a state during the wait, as the state or the command may be lost


class RealTime:
    """
    Decides when the robot moves, and with which command: simulated time follows real time.

    After a stall it catches up. ``lose`` is called with the lag beyond :data:`MAX_STEPS`, s.
    ``ended`` ends the wait for a command.
    """

    def __init__(
        self, commands: PolledSubscription[Any], timestep: float, lose: Callable[[float], None]
    ) -> None:
        self._commands = commands
        self._timestep = timestep
        self._lose = lose
        self._schedule = PeriodicSchedule(timestep)
        self.ended = False

    def start(self) -> None:
        """Start the schedule now."""
        self._schedule.start()

    def steps(self) -> int:
        """Wait for the next time step; return the number of due steps."""
        missed = self._schedule.missed
        self._schedule.wait()
        due = 1 + self._schedule.missed - missed
        steps = min(due, MAX_STEPS)
        self._lose((due - steps) * self._timestep)
        return steps

    def command(self) -> Any | None:
        """Return the latest command, None without a new one."""
        return self._commands.take()

    def exchange(self, publish_state: Callable[[], None]) -> Any | None:
        """Publish a state; return the command that answers it, None without waiting for one."""
        publish_state()
        return None


class Lockstep(RealTime):
    """
    Simulated time stops after each published state until a command answers it.

    Computation times and other load do not delay the control in simulated time, so runs are equal
    on every machine. Simulated time follows real time before the first command, and after a state
    without a command within :data:`ANSWER_TIMEOUT`, until the next command.

    To be watched, it is not faster than real time. ``warn`` is called when commands stop while
    ``publishers`` still counts a publisher: without one the control has ended.
    """

    def __init__(
        self, commands: PolledSubscription[Any], timestep: float, lose: Callable[[float], None],
        warn: Callable[[str], None], publishers: Callable[[], int], *, watched: bool = False
    ) -> None:
        super().__init__(commands, timestep, lose)
        self._warn = warn
        self._publishers = publishers
        self._watched = watched
        self._answered = False

    def steps(self) -> int:
        """Return 1 while commands answer the states, without waiting unless it is watched."""
        if self._answered and not self._watched:
            return 1
        steps = super().steps()
        return 1 if self._answered else steps

    def command(self) -> Any | None:
        """Return the latest command that answers no state, None without a new one."""
        message = super().command()
        self._answered = self._answered or message is not None
        return message

    def exchange(self, publish_state: Callable[[], None]) -> Any | None:
        """Publish a state; return the next command, None after a timeout."""
        if not self._answered:
            return super().exchange(publish_state)
        for _ in range(PUBLICATIONS):
            publish_state()
            self._commands.wait(ANSWER_TIMEOUT / PUBLICATIONS)
            message = self._commands.take()
            if message is not None or self.ended:
                return message
        self._answered = False
        if self._publishers():
            text = f'no command within {ANSWER_TIMEOUT:g} s: simulated time now follows real time'
            self._warn(text)
        self.start()  # do not catch up the wait
        return None
