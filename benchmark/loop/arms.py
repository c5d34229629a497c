# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Several arms on one machine: a process and a namespace for each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
import tempfile
import time

from .contenders import OURS, LoopContender
from .lateness import Lateness, pooled
from .motion import StateRound
from .stage import Stage, first_command
from .ticks import read_ticks
from .turn import SETTLING


@dataclass(frozen=True)
class Arms:
    """
    What several nodes cost together.

    :param rate: Hz
    :param cpu: share of one core that each process used
    :param memory: of all processes, MB
    :param lateness: of all ticks
    """

    rate: float
    cpu: list[float]
    memory: float
    lateness: Lateness


def many_arms(count: int, rate: float, seconds: float, motion: StateRound, domain: int) -> Arms:
    """
    Measure as many nodes at once.

    :param count: of arms
    :param rate: Hz
    :param seconds: how long
    :param motion: what each is fed with, by one process for all
    :param domain: DDS domain
    """
    namespaces = [f'/arm{number}' for number in range(1, count + 1)]
    with tempfile.TemporaryDirectory() as name, Stage(motion, domain, Path(name)) as stage:
        feeder = stage.feed(rate, namespaces)
        ticks = int(2.0 * rate * (seconds + 10.0))
        players = [stage.play(OURS, rate, ticks, namespace) for namespace in namespaces]
        first_command(feeder, players)
        time.sleep(SETTLING)
        begin, used = time.monotonic(), [player.child.cpu for player in players]
        time.sleep(seconds)
        end = time.monotonic()
        cpu = [
            (player.child.cpu - before) / (end - begin)
            for player, before in zip(players, used, strict=True)
        ]
        memory = sum(player.child.memory for player in players)
        errors = [
            Lateness(1.0 / rate, read_ticks(player.log, begin, end)[:, 1]) for player in players
        ]
        for player in players:
            player.child.check()
    return Arms(rate, cpu, memory, pooled(errors))


def start_up(
    contender: LoopContender, starts: int, motion: StateRound, domain: int
) -> list[float]:
    """
    Return how long a contender takes from the start of its process to its first command, s.

    :param contender: it
    :param starts: how often
    :param motion: what it is fed with
    :param domain: DDS domain
    """
    seconds = []
    for _ in range(starts):
        with tempfile.TemporaryDirectory() as name, Stage(motion, domain, Path(name)) as stage:
            feeder = stage.feed(500.0)
            player = stage.play(contender, 500.0, 1000)
            seconds.append(first_command(feeder, [player]) - player.child.started)
    return seconds
