# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The processes of a turn: a feeder, and contenders with their files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .child import Child
from .contenders import LoopContender
from .motion import StateRound
from .parameters import write_parameters

FIRST_COMMAND = 120.0
"""Longest time to a first command, s; the compilation of kernels takes minutes."""


@dataclass(frozen=True)
class Player:
    """
    A contender that runs.

    :param child: its process
    :param log: file of its ticks
    """

    child: Child
    log: Path


class Stage:
    """
    Starts processes that end with the ``with`` block.

    :param motion: what contenders are fed with
    :param domain: DDS domain
    :param directory: for files
    """

    def __init__(self, motion: StateRound, domain: int, directory: Path) -> None:
        self._motion = motion
        self._domain = domain
        self.directory = directory
        self._stack = ExitStack()

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def feed(
        self, rate: float, namespaces: Sequence[str] = ('/',), notes: Path | None = None
    ) -> Child:
        """
        Start the feeder.

        :param rate: Hz
        :param namespaces: of the arms
        :param notes: file that it writes, None for none
        """
        noting = [] if notes is None else ['--notes', str(notes)]
        feeder = self._start(
            'benchmark.loop.feeder', '--rate', str(rate), '--namespaces', *namespaces, *noting
        )
        feeder.wait_for('ready')
        return feeder

    def play(
        self, contender: LoopContender, rate: float, ticks: int, namespace: str = '/', **more: Any
    ) -> Player:
        """
        Start a contender.

        :param contender: it
        :param rate: Hz
        :param ticks: how many its log holds
        :param namespace: of its node
        :param more: further parameters
        """
        name = namespace.strip('/') or 'arm'
        path, log = self.directory / f'{name}.yaml', self.directory / f'{name}.ticks'
        write_parameters(path, rate, self._motion, **contender.given, **more)
        child = self._start(
            contender.module, '--log', str(log), '--capacity', str(ticks),
            '--ros-args', '--params-file', str(path), '-r', f'__ns:={namespace}',
        )
        return Player(child, log)

    def sleep(self, rate: float, ticks: int) -> Player:
        """
        Start a loop that only sleeps.

        :param rate: Hz
        :param ticks: how many its log holds
        """
        log = self.directory / 'sleeper.ticks'
        child = self._start(
            'benchmark.loop.sleeper', '--rate', str(rate),
            '--log', str(log), '--capacity', str(ticks),
        )
        child.wait_for('ready')
        return Player(child, log)

    def _start(self, module: str, *arguments: str) -> Child:
        return self._stack.enter_context(Child(module, *arguments, domain=self._domain))


def first_command(feeder: Child, players: Sequence[Player]) -> float:
    """
    Return when every arm of a feeder had been commanded, monotonic time, s.

    :param feeder: which takes the commands
    :param players: the contenders that send them
    """
    children = [player.child for player in players]
    return float(feeder.wait_for('commanded', FIRST_COMMAND, children))
