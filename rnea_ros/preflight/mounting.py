# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Search for another order of the joints, and for zeros that are quarters of a turn off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations

import numpy as np

from ..arrays import Array
from ..recordings import Recording, take_samples
from ..robot import RobotModel
from .checkup import Checkup
from .faults import UNEXPLAINED_SHARE
from .fit import Hypothesis, Prediction
from .selection import EVIDENCE, Solution

QUARTER = 0.5 * np.pi
MAX_ROUNDS = 6  # of changes


@dataclass(frozen=True)
class Mounting:
    """A guess of the order and the zeros of n recorded joints, and how well it fits."""

    names: tuple[str, ...]  # of the model's joints
    order: tuple[int, ...]  # number of the recorded column of each joint
    quarters: tuple[int, ...]  # of a turn, to be added to each joint's position
    criterion: float = np.inf  # Bayesian information criterion
    doubts: tuple[int, ...] = ()  # numbers of joints outside of their limits, of inverted efforts
    unexplained: float = 1.0  # share of the efforts
    before: float = 1.0  # the same for the recorded order and zeros

    def matched(self, recorded: Sequence[str]) -> dict[str, str]:
        """Return recorded names by the model's."""
        columns = [recorded[column] for column in self.order]
        return dict(zip(self.names, columns, strict=True))

    def moved(self, position: Array) -> Array:
        """Return recorded positions with these zeros, shape (N, n)."""
        turns = np.zeros(len(self.order))
        turns[list(self.order)] = self.quarters
        return np.asarray(position + QUARTER * turns)

    def reordered(self) -> Iterator[Mounting]:
        """Yield this guess with two joints exchanged, or all reversed."""
        for one, other in combinations(range(len(self.order)), 2):
            order = [*self.order]
            order[one], order[other] = order[other], order[one]
            yield replace(self, order=tuple(order))
        yield replace(self, order=self.order[::-1])

    def turned(self, count: int) -> Iterator[Mounting]:
        """Yield this guess with a number of zeros moved."""
        joints = range(len(self.order))
        moves = [(joint, quarter) for joint in joints for quarter in (1, -1, 2)]
        for chosen in combinations(moves, count):
            quarters = [*self.quarters]
            for joint, quarter in chosen:
                quarters[joint] += quarter
            yield replace(self, quarters=tuple(quarters))

    def texts(self, recorded: Sequence[str], offset: Mapping[str, float]) -> Iterator[str]:
        """
        Yield what to set, and the evidence.

        :param recorded: the recorded names that were matched
        :param offset: the offsets to set, by all recorded names in the table's order
        """
        joints = {other: name for name, other in self.matched(recorded).items()}
        evidence = f'leaves {100.0 * self.unexplained:.0f} % of the efforts unexplained'
        evidence += f' (as it is: {100.0 * self.before:.0f} %)'
        if self.order != (*range(len(self.order)),):
            order = ','.join(joints.get(name, name) for name in offset)
            yield f'the joints have another order: --table joints={order} {evidence}'
        if any(self.quarters):
            yield f'zeros are quarters of a turn off: {setting("offset", offset)} {evidence}'


def setting(key: str, values: Mapping[str, float]) -> str:
    """Return a setting of a table, from its value for each recorded name."""
    return f'--table {key}=' + ','.join(f'{value:.4g}' for value in values.values())


def find_mounting(
    model: RobotModel, recording: Recording, checkup: Checkup
) -> Mounting | None:
    """
    Return the order and zeros that explain efforts better than the fault that was found.

    Each joint's effort may have its own factor and friction, as their units are not known yet.
    None if there are none, or if a joint has no effort.
    """
    names, n = checkup.joints, len(checkup.joints)
    samples = take_samples(recording)
    if len(checkup.assessment.joints) < n:
        return None
    rows = [model.position_indices(name).start for name in names]
    lower, upper = model.position_lower[rows], model.position_upper[rows]
    size = float(np.linalg.norm(samples.effort.std(axis=0)))

    def judged(guess: Mounting) -> Mounting:
        moved = replace(samples, position=guess.moved(samples.position))
        prediction = Prediction(model, guess.matched(recording.names), moved)
        solution = Solution(prediction, Hypothesis(scaled=frozenset(range(n))))
        q = moved.position[:, list(guess.order)]
        beyond = np.mean((q < lower) | (q > upper), axis=0) > 0.05
        inverted = [solution.fit.values['scale', joint] < -1.0 for joint in range(n)]
        return replace(
            guess, criterion=solution.criterion,
            doubts=(int(beyond.sum()), int(np.count_nonzero(guess.quarters)), sum(inverted)),
            unexplained=float(np.linalg.norm(solution.fit.scatter)) / size,
        )

    def improved(best: Mounting, most: int) -> Mounting:
        """Return the best guess after rounds of changes, each of at most so many zeros."""
        for _ in range(MAX_ROUNDS):
            turned = (best.turned(count + 1) for count in range(most))
            tried = [*map(judged, chain(best.reordered(), *turned))]
            lowest = min(guess.criterion for guess in tried)
            if lowest > best.criterion - EVIDENCE:
                break
            similar = [guess for guess in tried if guess.criterion < lowest + EVIDENCE]
            best = min(similar, key=lambda guess: (guess.doubts, guess.criterion))
        return best

    start = judged(Mounting(names, tuple(range(n)), n * (0,)))
    best = improved(start, 1)
    if best.unexplained > UNEXPLAINED_SHARE:  # two wrong zeros may hide each other
        best = improved(start, 2)
    explained = best.unexplained < UNEXPLAINED_SHARE  # else of another robot
    if explained and best.criterion < checkup.assessment.best.criterion - EVIDENCE:
        return replace(best, before=start.unexplained)
    return None
