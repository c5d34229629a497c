# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""One turn of a contender: fed for a while, on an idle machine or under stress."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
import json
from pathlib import Path
import tempfile
import time
from typing import Any

import numpy as np

from .. import BenchmarkError
from ..robots import Array
from .arm import FOLLOWING, MOVING_JOINT, PARAMETERS, FedArm, efforts, positions
from .processes import Child
from .stress import stress
from .ticks import Lateness

PRIORITY = 80  # of SCHED_FIFO
FIRST_COMMAND = 120.0  # longest time to it, s; the compilation of kernels takes minutes
SETTLING = 1.5  # from the first command until ramps and filters have ended, s
STRESS_BEGINS = 4.0  # until the processes of the stress are all at work, s


@dataclass(frozen=True)
class LoopContender:
    """A loop to measure: its name in tables, one of :data:`.PLAYERS`, its own parameters."""

    name: str
    player: str
    parameters: dict[str, Any] = field(default_factory=dict, hash=False)


OURS = LoopContender('this node', 'this_node')
TRIGGERED = LoopContender('this node, triggered', 'this_node', {'trigger': 'joint_states'})
OURS_FIFO = LoopContender('this node, SCHED_FIFO', 'this_node', {'realtime.priority': PRIORITY})
PLAIN = LoopContender('plain rclpy node', 'plain_node')
BARE = LoopContender('bare loop', 'bare_loop')


@dataclass(frozen=True)
class Turn:
    """
    What was measured of a contender.

    :ivar start: time from the start of its process to its first command, s
    :ivar lateness: period errors; without meaning for :data:`TRIGGERED`
    :ivar latency: from a state's sending to the receipt of its command, s
    :ivar compute: durations of ticks, s
    :ivar cpu: share of one core that its process used
    :ivar memory: of its process, MB
    """

    contender: LoopContender
    rate: float
    stress: bool
    start: float
    lateness: Lateness
    latency: Array
    compute: Array
    cpu: float
    memory: float


class Player(Child):
    """
    A contender that runs.

    :param directory: of its files
    :param capacity: number of ticks in its log
    :param namespace: of its node; the fed arm is in the first
    :param more: further parameters
    """

    def __init__(
        self, contender: LoopContender, rate: float, directory: Path, capacity: int,
        namespace: str = '/', **more: Any,
    ) -> None:
        values = {**PARAMETERS, 'rate': rate, **contender.parameters, **more}
        parameters, self._log, output = (
            directory / f'{contender.player}.{suffix}' for suffix in ('yaml', 'ticks', 'output')
        )
        # JSON is YAML, and the only part of it that needs no library.
        parameters.write_text(json.dumps({'/**': {'ros__parameters': values}}), encoding='utf-8')
        super().__init__(
            output, '-m', 'benchmark.loop.players', contender.player, str(self._log),
            str(capacity), '--ros-args', '--params-file', str(parameters),
            '-r', f'__ns:={namespace}',
        )

    def ticks(self, begin: float, end: float) -> Array:
        """Return start, lateness, duration of the ticks between two times, shape (n, 3), s."""
        self.check()
        rows = np.fromfile(self._log).reshape(-1, 3)
        rows = rows[np.argsort(rows[:, 0])]
        ticks: Array = rows[(rows[:, 0] >= begin) & (rows[:, 0] < end)]
        if not ticks.size:
            raise BenchmarkError(f'no tick in {end - begin:.0f} s:\n{self.output}')
        return ticks


def feed_to_first_command(arm: FedArm, player: Player) -> float:
    """Return the time until the first command, s; then ramps and filters settle."""
    begin = time.monotonic()
    arm.feed(FIRST_COMMAND, lambda: bool(arm.commands) or player.ended)
    player.check()
    if not arm.commands:
        raise BenchmarkError(f'no command in {FIRST_COMMAND:g} s:\n{player.output}')
    seconds = time.monotonic() - begin
    arm.feed(SETTLING)
    return seconds


def take_turn(contender: LoopContender, rate: float, under_stress: bool, seconds: float) -> Turn:
    """Measure a contender once; BenchmarkError if a process did not do what it must."""
    follows = under_stress and contender.player == OURS.player
    capacity = int(2.0 * rate * (seconds + 10.0))
    expected = positions() if contender is BARE else efforts()
    with (
        tempfile.TemporaryDirectory() as directory,
        FedArm(rate) as arm,
        Player(contender, rate, Path(directory), capacity,
               **(FOLLOWING if follows else {})) as player,
        ExitStack() as stack,
    ):
        start = feed_to_first_command(arm, player)
        if under_stress:
            stack.enter_context(stress(Path(directory)))
            arm.feed(STRESS_BEGINS)
        begin, used = time.monotonic(), player.cpu
        arm.feed(seconds)
        end, used = time.monotonic(), player.cpu - used
        ticks = player.ticks(begin, end)
        return Turn(
            contender, rate, under_stress, start, Lateness(1.0 / rate, ticks[:, 1]),
            arm.latencies(expected[:, MOVING_JOINT]), ticks[:, 2],
            used / (end - begin), player.memory,
        )
