# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The races: every quantity of every robot, by every contender that can compute it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat
import tracemalloc

from .contenders import (
    BATCH,
    BATCH_ON_ALL_CORES,
    PINOCCHIO,
    SPECIALISED_BATCH,
    WORKSPACE,
    Computation,
    Pinocchio,
    our_batch,
    our_batch_on,
    our_calls,
)
from .effort import Effort
from .others import others
from .robots import Robot
from .timing import Contender, race

MAX_NUMBERS = 2**24
"""In an array of samples."""


@dataclass(frozen=True)
class Result:
    """
    What a contender took.

    :param quantity: what it computed
    :param contender: its name
    :param joints: of the robot
    :param seconds: for one result, undisturbed
    :param ratio: how many times faster it is than Pinocchio
    """

    quantity: Computation
    contender: str
    joints: int
    seconds: float
    ratio: float


def single_calls(robot: Robot, effort: Effort) -> list[Result]:
    """Return what calls for one state take."""
    pinocchio = Pinocchio(robot).calls()
    results = []
    for quantity, ours in our_calls(robot).items():
        contenders = [*ours, *pinocchio[quantity]]
        if quantity is Computation.INVERSE_DYNAMICS:
            contenders += others(robot)
        results += _raced(quantity, robot, contenders, effort.rounds)
    return results


def _raced(
    quantity: Computation, robot: Robot, contenders: Sequence[Contender], rounds: int
) -> list[Result]:
    times = race(contenders, robot.states(), rounds)
    return [
        Result(quantity, name, robot.joints, times.best(name), times.ratio(name, PINOCCHIO))
        for name in times.seconds
    ]


def batches(robot: Robot, effort: Effort, cores: set[int]) -> list[Result]:
    """Return what a sample takes among many: on one thread, and by us on all cores too."""
    count = effort.samples
    contenders = [our_batch(robot, count), Pinocchio(robot).batch(count)]
    if robot.can_specialise:
        contenders.append(our_batch(robot, count, specialised=True))
    times = race(contenders, [robot.samples(count)], effort.batch_rounds)
    results = [
        Result(
            Computation.BATCH, name, robot.joints, times.best(name), times.ratio(name, PINOCCHIO)
        )
        for name in (BATCH, SPECIALISED_BATCH, PINOCCHIO) if name in times.seconds
    ]
    # More samples, to be worth the threads; these two race for the gain over one thread.
    count = min(len(cores) * effort.samples_a_core, MAX_NUMBERS // robot.joints)
    contenders = [our_batch(robot, count), our_batch_on(robot, count, cores)]
    wide = race(contenders, [robot.samples(count)], effort.batch_rounds)
    results.insert(1, Result(
        Computation.BATCH,
        BATCH_ON_ALL_CORES,
        robot.joints,
        wide.best(BATCH_ON_ALL_CORES),
        wide.ratio(BATCH_ON_ALL_CORES, BATCH) * times.ratio(BATCH, PINOCCHIO),
    ))
    return results


@dataclass(frozen=True)
class Memory:
    """
    What calls of the workspace hold at any time beyond what they held before, at most.

    :param held: bytes; Python's own argument tuples are among them
    :param array: bytes of an array that one of them could have made
    """

    held: int
    array: int


def memory_of_calls(robot: Robot) -> Memory:
    """Return what calls of the workspace allocate."""
    state = robot.states(1)[0]
    held = [
        _held(contender.call, *contender.prepare(state))
        for contenders in our_calls(robot).values()
        for contender in contenders
        if contender.name == WORKSPACE
    ]
    return Memory(max(held), state[0].nbytes)


def _held(call: Callable[..., object], *arguments: object) -> int:
    call(*arguments)
    tracemalloc.start()
    try:
        call(*arguments)
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        for _ in repeat(None, 1000):
            call(*arguments)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak - before
