# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Contenders in a race: the same work, in turns so short that noise of the machine hits all alike.

A race has many rounds. In each, every contender in turn repeats its call for a few milliseconds.
The fastest round of a contender is the time of its undisturbed call. The speed of one contender
relative to another is the median, over the rounds, of the ratio of their times in that round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import timeit
from typing import Any

import numpy as np

from . import BenchmarkError
from .robots import Array, State

TURN = 2e-3  # shortest turn of a contender, s; a longer call is a turn
AGREEMENT = 1e-9  # permitted difference of results, as a share of the largest number

Arguments = tuple[Any, ...]
Read = Callable[[Any, Arguments], Array]


def returned(result: Any, arguments: Arguments) -> Array:
    """Return the result of a call that returns an array."""
    return np.array(result)


@dataclass(frozen=True)
class Contender:
    """
    A call to time.

    :param prepare: makes the call's arguments, in the library's types and order of joints
    :param read: takes the result from what was returned and the arguments
    :param samples: how many results a call computes
    """

    name: str
    call: Callable[..., Any]
    prepare: Callable[[State], Arguments]
    read: Read = returned
    samples: int = 1

    def numbers(self, state: State) -> Array:
        """Return the numbers that the contender computes for a state, sorted."""
        arguments = self.prepare(state)
        return np.sort(self.read(self.call(*arguments), arguments), axis=None)


def race(
    contenders: Sequence[Contender], states: Sequence[State], rounds: int, reference: str
) -> dict[str, tuple[float, float]]:
    """
    Return the time of each contender for one result, s, and how much faster than one it is.

    :param states: one for each round, in turn
    :param reference: the name of that one
    :raises BenchmarkError: they do not compute the same
    """
    check_agreement(contenders, states)
    timers = {
        contender.name: [_timer(contender, state) for state in states] for contender in contenders
    }
    calls = {name: _calls_in_a_turn(of_states[0]) for name, of_states in timers.items()}
    seconds = {contender.name: np.empty(rounds) for contender in contenders}
    for k in range(rounds):
        first = k % len(contenders)
        for contender in (*contenders[first:], *contenders[:first]):
            name = contender.name
            elapsed = timers[name][k % len(states)].timeit(calls[name])
            seconds[name][k] = elapsed / (calls[name] * contender.samples)
    return {
        name: (float(times.min()), float(np.median(seconds[reference] / times)))
        for name, times in seconds.items()
    }


def check_agreement(contenders: Sequence[Contender], states: Sequence[State]) -> None:
    """
    Check that contenders compute the same numbers as the first of them, in whatever order.

    Each library has its own order of joints, and of linear and angular parts.

    :raises BenchmarkError: they do not, with the difference
    """
    for state in states:
        expected = contenders[0].numbers(state)
        largest = np.abs(expected).max()
        for contender in contenders[1:]:
            difference = np.abs(contender.numbers(state) - expected).max()
            if not difference <= AGREEMENT * largest:
                raise BenchmarkError(
                    f'{contender.name} differs from {contenders[0].name} by {difference:.3g}, '
                    f'of {largest:.3g}'
                )


def _timer(contender: Contender, state: State) -> timeit.Timer:
    """Return a timer of the bare call, its function and arguments bound to local names."""
    values = (contender.call, *contender.prepare(state))
    call, *arguments = names = [f'x{i}' for i in range(len(values))]
    return timeit.Timer(
        f'{call}({", ".join(arguments)})', f'{", ".join(names)}, = values',
        globals={'values': values},
    )


def _calls_in_a_turn(timer: timeit.Timer) -> int:
    calls = 1
    while (elapsed := timer.timeit(calls)) < TURN / 2.0:
        calls *= 2
    return max(1, round(calls * TURN / elapsed))
