# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""One turn of a contender: fed for a while, on an idle machine or under stress."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
import json
import os
from pathlib import Path
import tempfile
import time
from typing import Any

import rclpy

from rnea_ros.shared_memory import on_loopback

from ..robots import Array
from ..timing import BenchmarkError
from .arm import FOLLOWING, MOVING_JOINT, PARAMETERS, FedArm, Motion
from .child import Child
from .domain import own_domain
from .stress import stress
from .ticks import Lateness, read_ticks

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


@contextmanager
def ros() -> Iterator[None]:
    """Run ROS in this process and its children, on loopback and a domain that nobody uses."""
    with own_domain() as domain:
        os.environ.update(on_loopback(os.environ), ROS_DOMAIN_ID=str(domain))
        rclpy.init()
        try:
            yield
        finally:
            rclpy.try_shutdown()


@dataclass(frozen=True)
class Player:
    """A contender that runs: its process, and the file of its ticks."""

    child: Child
    log: Path

    def ticks(self, begin: float, end: float) -> Array:
        """Return the ticks between two times as :func:`.read_ticks`; BenchmarkError without."""
        self.child.check()
        ticks = read_ticks(self.log, begin, end)
        if not ticks.size:
            raise BenchmarkError(f'no tick in {end - begin:.0f} s:\n{self.child.output}')
        return ticks


@contextmanager
def playing(
    contender: LoopContender, rate: float, ticks: int, namespace: str = '/', **more: Any
) -> Iterator[Player]:
    """Run a contender, with a log of so many ticks and further parameters."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        values = {**PARAMETERS, 'rate': rate, **contender.parameters, **more}
        parameters = directory / 'parameters.yaml'
        # JSON is YAML, and the only part of it that needs no library.
        parameters.write_text(json.dumps({'/**': {'ros__parameters': values}}), encoding='utf-8')
        with Child(
            directory / 'output', '-m', 'benchmark.loop.players', contender.player,
            str(directory / 'ticks'), str(ticks),
            '--ros-args', '--params-file', str(parameters), '-r', f'__ns:={namespace}',
        ) as child:
            yield Player(child, directory / 'ticks')


def feed_to_first_command(arm: FedArm, player: Player) -> float:
    """Return the time until the first command, s; then ramps and filters settle."""
    begin = time.monotonic()

    def over() -> bool:
        player.child.check()
        return bool(arm.commands)

    arm.feed(FIRST_COMMAND, over)
    if not arm.commands:
        raise BenchmarkError(f'no command in {FIRST_COMMAND:g} s:\n{player.child.output}')
    seconds = time.monotonic() - begin
    arm.feed(SETTLING)
    return seconds


def take_turn(
    contender: LoopContender, rate: float, under_stress: bool, seconds: float, motion: Motion
) -> Turn:
    """
    Measure a contender once.

    :raises BenchmarkError: a process did not do what it must
    """
    follows = under_stress and contender.player == OURS.player
    capacity = int(2.0 * rate * (seconds + 10.0))
    expected = motion.positions if contender is BARE else motion.efforts
    with (
        FedArm(rate, motion) as arm,
        playing(contender, rate, capacity, **(FOLLOWING if follows else {})) as player,
        ExitStack() as stack,
    ):
        start = feed_to_first_command(arm, player)
        if under_stress:
            stack.enter_context(stress(player.log.parent))
            arm.feed(STRESS_BEGINS)
        begin, used = time.monotonic(), player.child.cpu
        arm.feed(seconds)
        end, used = time.monotonic(), player.child.cpu - used
        ticks = player.ticks(begin, end)
        return Turn(
            contender, rate, under_stress, start, Lateness(1.0 / rate, ticks[:, 1]),
            arm.latencies(expected[:, MOVING_JOINT]), ticks[:, 2],
            used / (end - begin), player.child.memory,
        )
