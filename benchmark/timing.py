# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Contenders in a race: the same work, in turns so short that noise of the machine hits all alike.

A race has many rounds. In each, every contender in turn repeats its call for a few milliseconds.
The fastest round of a contender is the time of its undisturbed call. The speed of one contender
relative to another is the median, over the rounds, of the ratio of their times in that round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
import os
import timeit
from typing import Any

import numpy as np

from .robots import Array, State

TURN = 2e-3
"""Seconds that a contender's turn takes at least; a call that takes longer is a turn."""

AGREEMENT = 1e-9
"""Results may differ by this much of the largest number among them."""

Arguments = tuple[Any, ...]


class DisagreementError(Exception):
    """Contenders do not compute the same numbers."""


def _returned(result: Any, arguments: Arguments) -> Array:
    return np.array(result)


@dataclass(frozen=True)
class Contender:
    """
    A call to time.

    :param name: of the library, and of its way to be called
    :param call: called with the arguments that ``prepare`` makes of a state; only this is timed
    :param prepare: makes the arguments, in the library's own types and its own order of joints
    :param read: the numbers, in our order of joints, from what was returned and the arguments
    :param samples: how many results a call computes
    """

    name: str
    call: Callable[..., Any]
    prepare: Callable[[State], Arguments]
    read: Callable[[Any, Arguments], Array] = _returned
    samples: int = 1

    def result(self, state: State) -> Array:
        """Return what the contender computes for a state."""
        arguments = self.prepare(state)
        return self.read(self.call(*arguments), arguments)


@dataclass(frozen=True)
class Times:
    """
    What a race took.

    :param seconds: for one result, by contender and round
    """

    seconds: dict[str, Array]

    def best(self, name: str) -> float:
        """Return the time of a contender's fastest round, s."""
        return float(self.seconds[name].min())

    def ratio(self, name: str, to: str) -> float:
        """Return how many times faster a contender is than another."""
        return float(np.median(self.seconds[to] / self.seconds[name]))


def race(contenders: Sequence[Contender], states: Sequence[State], rounds: int) -> Times:
    """
    Return the times of contenders, which are first checked to compute the same.

    :param contenders: at least one
    :param states: each is a round's in turn
    :param rounds: at least one
    :raises DisagreementError: they do not compute the same
    """
    check_agreement(contenders, states)
    stopwatches = {
        contender.name: [_stopwatch(contender, state) for state in states]
        for contender in contenders
    }
    turns = {name: _calls_in_a_turn(timers[0]) for name, timers in stopwatches.items()}
    seconds = {contender.name: np.empty(rounds) for contender in contenders}
    for k in range(rounds):
        first = k % len(contenders)
        for contender in (*contenders[first:], *contenders[:first]):
            name, calls = contender.name, turns[contender.name]
            elapsed = stopwatches[name][k % len(states)].timeit(calls)
            seconds[name][k] = elapsed / (calls * contender.samples)
    return Times(seconds)


def check_agreement(contenders: Sequence[Contender], states: Sequence[State]) -> None:
    """
    Check that contenders compute what the first of them does.

    :raises DisagreementError: they do not, with the difference
    """
    for state in states:
        expected = contenders[0].result(state)
        largest = np.abs(expected).max()
        for contender in contenders[1:]:
            difference = np.abs(contender.result(state) - expected).max()
            if not difference <= AGREEMENT * largest:
                raise DisagreementError(
                    f'{contender.name} differs from {contenders[0].name} by {difference:.3g}, '
                    f'of {largest:.3g}'
                )


def _stopwatch(contender: Contender, state: State) -> timeit.Timer:
    """Return a timer of the bare call, its function and arguments bound to local names."""
    given = (contender.call, *contender.prepare(state))
    call, *arguments = names = [f'x{i}' for i in range(len(given))]
    return timeit.Timer(
        f'{call}({", ".join(arguments)})', f'{", ".join(names)}, = given', globals={'given': given}
    )


def _calls_in_a_turn(timer: timeit.Timer) -> int:
    calls = 1
    while (elapsed := timer.timeit(calls)) < TURN / 2.0:
        calls *= 2
    return max(1, round(calls * TURN / elapsed))


def usable_cores() -> set[int]:
    """Return the numbers of the cores that this process may use."""
    if hasattr(os, 'sched_getaffinity'):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


@contextmanager
def on_cores(cores: set[int]) -> Iterator[None]:
    """Keep this thread, and what it starts, on some cores, where the system lets it."""
    before = usable_cores()
    if hasattr(os, 'sched_setaffinity'):
        os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        if hasattr(os, 'sched_setaffinity'):
            os.sched_setaffinity(0, before)
