# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""How the cost of inverse dynamics grows with the number of bodies in a chain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rnea_ros.textbook import newton_euler, nonrecursive
from rnea_ros.textbook.textbook_tree import bodies_of

from .contenders import PINOCCHIO, WORKSPACE, Computation, Pinocchio, our_calls
from .effort import Effort
from .robots import Array, Robot, State, chain
from .timing import Arguments, Contender, race

RECURSION = 'recursion, in numpy'
NO_RECURSION = 'no recursion, in numpy'

BODIES = (1, 2, 5, 10, 20, 50, 100, 150, 200, 300, 500, 700, 1000)

MAX_JOINTS = {
    # Its Data has four arrays of n x n x n numbers: 32 GB for 1000 bodies.
    PINOCCHIO: 200,
    # A second a call.
    NO_RECURSION: 300,
}

SLOW_ROUNDS = 3

SMALL = 100
"""Largest number of bodies in the fit of the cost of a call and of each body."""

LARGE = 50
"""Smallest number of bodies in the fit of the growth: the call itself then costs little."""


@dataclass(frozen=True)
class Growth:
    """
    What inverse dynamics of a chain takes by one formulation.

    :param bodies: numbers of bodies, shape (k,)
    :param seconds: of a call, shape (k,)
    """

    bodies: Array
    seconds: Array

    @property
    def exponent(self) -> float:
        """The p that fits seconds ~ bodies^p best where there are many bodies."""
        many = self.bodies >= LARGE
        slope, _ = np.polyfit(np.log(self.bodies[many]), np.log(self.seconds[many]), 1)
        return float(slope)

    @property
    def call_and_body(self) -> tuple[float, float]:
        """The a and b, s, that fit seconds = a + b bodies best where there are few bodies."""
        few = self.bodies <= SMALL
        body, call = np.polyfit(self.bodies[few], self.seconds[few], 1, w=1.0 / self.seconds[few])
        return float(call), float(body)


def growth(effort: Effort) -> dict[str, Growth]:
    """Return what each formulation takes, by its name."""
    points: dict[str, list[tuple[int, float]]] = {}
    for count in BODIES:
        if count <= effort.most_bodies:
            for name, seconds in _of_chain(chain(count), effort).items():
                points.setdefault(name, []).append((count, seconds))
    return {name: Growth(*np.array(pairs).T) for name, pairs in points.items()}


def _of_chain(robot: Robot, effort: Effort) -> dict[str, float]:
    """Return seconds by formulation, of those that can do it."""
    ours = next(
        contender for contender in our_calls(robot)[Computation.INVERSE_DYNAMICS]
        if contender.name == WORKSPACE
    )
    fast = [ours]
    if robot.joints <= MAX_JOINTS[PINOCCHIO]:
        fast += Pinocchio(robot).calls()[Computation.INVERSE_DYNAMICS]
    slow = [ours, _reference(robot, RECURSION, newton_euler.inverse_dynamics)]
    if robot.joints <= MAX_JOINTS[NO_RECURSION]:
        slow.append(_reference(robot, NO_RECURSION, nonrecursive.inverse_dynamics))
    seconds: dict[str, float] = {}
    for contenders, rounds in ((fast, effort.growth_rounds), (slow, SLOW_ROUNDS)):
        times = race(contenders, robot.states(1), rounds)
        seconds.update({name: times.best(name) for name in times.seconds if name not in seconds})
    return seconds


def _reference(robot: Robot, name: str, call: Callable[..., Array]) -> Contender:
    model = robot.model
    bodies = bodies_of(model.tree)

    def prepare(state: State) -> Arguments:
        return (bodies, *state, model.gravity)

    return Contender(name, call, prepare)
