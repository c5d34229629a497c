# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Select the hypothesis with the best support, and estimate its parameters with intervals.

Hypotheses are compared by the Bayesian information criterion, which weighs the fit against the
number of parameters. Standard errors are the greater of those of least squares and of the
jackknife over blocks, which accounts for correlated errors of neighbouring samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
import math

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..recordings.robust import jackknife_covariance
from .fit import Fit, Hypothesis, HypothesisEquations, Prediction

EVIDENCE = 10.0
"""
A hypothesis replaces another if its criterion is lower by this difference.

Kass and Raftery, Bayes Factors, 1995: differences above 10 are very strong evidence.
"""

ABSENT = 0.3  # factor of gravity that counts as compensated; model errors leave a rest
CONFIDENCE = 0.99  # of intervals; rules need a tolerance too, so false alarms are rarer


@dataclass(frozen=True)
class Estimate:
    """A number with the half width of its confidence interval, infinite if undetermined."""

    value: float
    half_width: float

    def __str__(self) -> str:
        value = round(self.value, 2) + 0.0  # never -0.00
        return f'{value:.2f} +- {self.half_width:.2f}'

    @property
    def lower(self) -> float:
        """The lower end of the interval."""
        return self.value - self.half_width

    @property
    def upper(self) -> float:
        """The upper end of the interval."""
        return self.value + self.half_width

    @property
    def is_known(self) -> bool:
        """Whether the data determine the number."""
        return math.isfinite(self.half_width)

    def is_inverted(self, tolerance: float) -> bool:
        """Return whether a factor is below 0 and equals -1 within a tolerance."""
        return self.upper < -ABSENT and abs(self.value + 1.0) <= tolerance + self.half_width

    def excludes(self, value: float, tolerance: float = 0.0) -> bool:
        """Return whether the whole interval differs from a value by more than a tolerance."""
        return abs(self.value - value) - self.half_width > tolerance


def interval(value: float, without_one: ArrayLike, error: float = 0.0) -> Estimate:
    """Return a number with its interval, by those without one block each, and least error."""
    from scipy.special import stdtrit

    each = np.asarray(without_one, dtype=np.float64)[:, np.newaxis]
    if not np.isfinite(each).all():
        return Estimate(value, math.inf)
    deviation = max(math.sqrt(jackknife_covariance(each)[0, 0]), error)
    return Estimate(value, float(stdtrit(len(each) - 1, 0.5 + 0.5 * CONFIDENCE)) * deviation)


class Solution:
    """A fitted hypothesis, with confidence intervals of its parameters and functions of them."""

    def __init__(
        self, prediction: Prediction, hypothesis: Hypothesis, change: Array | None = None
    ) -> None:
        self._equations = HypothesisEquations(prediction, hypothesis, change)
        self._block = prediction.samples.block
        self._numbers = np.unique(self._block)
        all_samples = np.ones(len(self._block), dtype=bool)
        self.prediction = prediction
        self.fit = self._equations.solve(all_samples, len(self._numbers))

    @cached_property
    def _without_one(self) -> list[Fit]:
        """Fits without one block each, for the jackknife."""
        others = len(self._numbers) - 1
        return [self._equations.solve(self._block != k, others) for k in self._numbers]

    @property
    def criterion(self) -> float:
        """The Bayesian information criterion; every block counts as one independent sample."""
        blocks = len(self._numbers)
        misfit = 2.0 * blocks * float(np.log(self.fit.scatter).sum())
        return misfit + self.fit.rank * math.log(blocks * self.fit.scatter.size)

    def estimate(self, function: Callable[[Fit], float], error: float = 0.0) -> Estimate:
        """Return a function of the fit with its interval; ``error``: least standard error."""
        value = function(self.fit)
        if not math.isfinite(error):
            return Estimate(value, math.inf)
        return interval(value, [function(fit) for fit in self._without_one], error)

    def parameter(self, kind: str, number: int, add: float = 0.0) -> Estimate:
        """Return the parameter of a label; ``add`` 1 to factors, fitted as differences from 1."""
        label = (kind, number)
        return self.estimate(lambda fit: fit.values[label] + add, self.fit.errors[label])


class Selection:
    """Search over hypotheses; each is solved once."""

    def __init__(self, prediction: Prediction) -> None:
        self.prediction = prediction
        self._n = prediction.rigid.shape[1]
        self._solutions: dict[Hypothesis, Solution] = {}
        self._flipped: dict[frozenset[int], Prediction] = {frozenset(): prediction}

    def solution(self, hypothesis: Hypothesis) -> Solution:
        """Return the solution of a hypothesis."""
        if hypothesis not in self._solutions:
            if hypothesis.flipped not in self._flipped:
                flipped = self.prediction.flipped(sorted(hypothesis.flipped))
                self._flipped[hypothesis.flipped] = flipped
            self._solutions[hypothesis] = Solution(self._flipped[hypothesis.flipped], hypothesis)
        return self._solutions[hypothesis]

    def _criterion(self, hypothesis: Hypothesis) -> float:
        return self.solution(hypothesis).criterion

    def best(self) -> Solution:
        """
        Return the hypothesis with the strongest support.

        Starting without faults, the fault with the strongest evidence is added as long as the
        evidence is strong; faults that are not needed any more are removed. Of hypotheses with
        similar evidence the one with the fewest parameters is taken.
        """
        best = Hypothesis()
        while True:
            more = self._simplest(best.with_one_fault_more(self._n, self.prediction))
            if self._criterion(more) > self._criterion(best) - EVIDENCE:
                return self.solution(best)
            best = more
            less = list(best.with_one_fault_less())
            while less:
                simpler = self._simplest(less)
                if self._criterion(simpler) > self._criterion(best):
                    break
                best, less = simpler, list(simpler.with_one_fault_less())

    def _simplest(self, hypotheses: Iterable[Hypothesis]) -> Hypothesis:
        """Return the hypothesis with the fewest parameters among those with the best criterion."""
        tried = list(hypotheses)
        lowest = min(self._criterion(hypothesis) for hypothesis in tried)
        similar = [other for other in tried if self._criterion(other) < lowest + EVIDENCE]
        return min(
            similar, key=lambda other: (self.solution(other).fit.rank, self._criterion(other))
        )

    def rivals(self, best: Solution) -> list[Hypothesis]:
        """Return hypotheses that fit about as well with as many faults."""
        hypothesis = best.fit.hypothesis
        return [
            rival
            for less in hypothesis.with_one_fault_less()
            for rival in less.with_one_fault_more(self._n, self.prediction)
            if rival != hypothesis
            and self._criterion(rival) < best.criterion + EVIDENCE
            and self._criterion(rival) < self._criterion(less) - EVIDENCE
        ]
