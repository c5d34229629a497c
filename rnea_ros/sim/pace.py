# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""How fast the robot's time runs: with the clock on the wall, or in lockstep with the control."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ..ros import PeriodicSchedule, PolledSubscription

MOST_STEPS = 100
"""What is made up for after a stall, in steps; simulated time stays behind by the rest."""

ANSWER_TIMEOUT = 2.0
"""How long the robot's time waits for a command, s of the machine's."""

TELLINGS = 10
"""How often a state is told meanwhile: it, or the command, may have been lost or withheld."""


class Pace(Protocol):
    """When the robot moves, and by which command."""

    def start(self) -> None:
        """Let the robot's time begin."""

    def steps(self) -> int:
        """Wait until the robot's time goes on; return by how many steps."""

    def command(self) -> Any | None:
        """Return the newest command that came by itself, None where there is no new one."""

    def tell(self, state: Callable[[], None]) -> Any | None:
        """
        Tell a state, and return the command that answers it, None where none does.

        :param state: tells it; more than once where nobody answers
        """


class RealTime:
    """
    The robot's time runs with the machine's; after a stall it catches up.

    :param commands: where they come from
    :param timestep: of the physics, s
    :param lose: told what a stall took beyond :data:`MOST_STEPS`, s
    """

    def __init__(
        self,
        commands: PolledSubscription[Any],
        timestep: float,
        lose: Callable[[float], None],
    ) -> None:
        self._commands = commands
        self._timestep = timestep
        self._lose = lose
        self._schedule = PeriodicSchedule(timestep)

    def start(self) -> None:
        """Count from now on."""
        self._schedule.start()

    def steps(self) -> int:
        """Wait for the next time step; return how many are due."""
        missed = self._schedule.missed
        self._schedule.wait()
        due = 1 + self._schedule.missed - missed
        steps = min(due, MOST_STEPS)
        self._lose((due - steps) * self._timestep)
        return steps

    def command(self) -> Any | None:
        """Return the newest command, None where there is no new one."""
        return self._commands.take()

    def tell(self, state: Callable[[], None]) -> Any | None:
        """Tell a state and return None: nobody waits for an answer."""
        state()
        return None


class Lockstep:
    """
    The robot's time stands still from a state that is told to the command that answers it.

    However long the control takes, and whatever else the machine does, comes to no delay: a run
    is the same on every machine. Before the first command time runs with the machine's, and so it
    does from a state on that nobody answers in :data:`ANSWER_TIMEOUT`, until the next command.

    :param commands: where they come from
    :param real_time: the pace while nobody answers
    :param warn: takes a sentence when somebody ceases to answer
    """

    def __init__(
        self,
        commands: PolledSubscription[Any],
        real_time: RealTime,
        warn: Callable[[str], None],
    ) -> None:
        self._commands = commands
        self._real_time = real_time
        self._warn = warn
        self._answered = False

    def start(self) -> None:
        """Let the robot's time begin, with the machine's."""
        self._real_time.start()

    def steps(self) -> int:
        """Return 1, at once while states are answered."""
        return 1 if self._answered else self._real_time.steps()

    def command(self) -> Any | None:
        """Return the newest command, None where there is no new one."""
        message = self._commands.take()
        self._answered = self._answered or message is not None
        return message

    def tell(self, state: Callable[[], None]) -> Any | None:
        """Tell a state, and return the command that comes after, None where none does in time."""
        if not self._answered:
            return self._real_time.tell(state)
        for _ in range(TELLINGS):
            state()
            self._commands.wait(ANSWER_TIMEOUT / TELLINGS)
            message = self._commands.take()
            if message is not None:
                return message
        self._answered = False
        self._warn(f'no command answered a state in {ANSWER_TIMEOUT:g} s: time goes on without')
        self._real_time.start()  # the time that was waited is not made up for
        return None
