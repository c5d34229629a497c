# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Which hypothesis the measurement supports, and how sure its parameters are.

Hypotheses are compared by the Bayesian information criterion, which pays for a better fit and
charges for parameters; standard errors are the greater of least squares' and of the jackknife
over blocks, which sees that neighbouring samples err alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
import math
from statistics import NormalDist

import numpy as np

from .columns import Prediction
from .fit import Equations, Fit
from .hypothesis import Hypothesis

EVIDENCE = 10.0
"""
Another hypothesis is believed where its criterion is lower by so much.

Kass and Raftery, Bayes Factors, 1995: differences above 10 are very strong evidence.
"""

ABSENT = 0.3
"""A factor below it may be what a model's errors leave where gravity is compensated."""

CONFIDENCE = 0.99
"""
Of intervals: the truth lies outside of one in a hundred.

Where an interval decides, it must also clear a tolerance, so that alarms are rarer still.
"""


@dataclass(frozen=True)
class Estimate:
    """A number with the half width of its confidence interval, infinite where nothing is known."""

    value: float
    half_width: float

    @property
    def lower(self) -> float:
        """The interval's lower end."""
        return self.value - self.half_width

    @property
    def upper(self) -> float:
        """The interval's upper end."""
        return self.value + self.half_width

    @property
    def is_known(self) -> bool:
        """Whether the measurement says anything about it."""
        return math.isfinite(self.half_width)

    def is_inverted(self, tolerance: float) -> bool:
        """Whether a factor is an inverted sign: away from 0, and -1 within a tolerance."""
        return self.upper < -ABSENT and abs(self.value + 1.0) <= tolerance + self.half_width

    def excludes(self, value: float, tolerance: float = 0.0) -> bool:
        """Whether the whole interval is further from a value than a tolerance."""
        return abs(self.value - value) - self.half_width > tolerance


class Solution:
    """
    A hypothesis solved, with confidence intervals of whatever is computed from its parameters.

    :param equations: of the hypothesis
    :param prediction: model and measurement
    """

    def __init__(self, equations: Equations, prediction: Prediction) -> None:
        self._equations = equations
        self._block = prediction.samples.block
        self._numbers = np.unique(self._block)
        everything = np.ones(len(self._block), dtype=bool)
        self.prediction = prediction
        self.fit = equations.solve(everything, len(self._numbers))

    @cached_property
    def _without_one(self) -> list[Fit]:
        """Fits that leave out one block each."""
        others = len(self._numbers) - 1
        return [self._equations.solve(self._block != k, others) for k in self._numbers]

    @property
    def criterion(self) -> float:
        """The Bayesian information criterion; every block counts as one independent sample."""
        blocks = len(self._numbers)
        misfit = 2.0 * blocks * float(np.log(self.fit.scatter).sum())
        return misfit + self.fit.rank * math.log(blocks * self.fit.scatter.size)

    def estimate(self, function: Callable[[Fit], float], error: float = 0.0) -> Estimate:
        """
        Return what a function makes of the parameters, with its confidence interval.

        :param function: of a fit
        :param error: a standard error that it has at least
        """
        value = function(self.fit)
        if not math.isfinite(error):
            return Estimate(value, math.inf)
        left_out = np.array([function(fit) for fit in self._without_one])
        count = len(left_out)
        jackknife = math.sqrt((count - 1) * float(np.mean((left_out - left_out.mean()) ** 2)))
        return Estimate(value, student_quantile(count - 1) * max(jackknife, error))

    def parameter(self, kind: str, number: int, add: float = 0.0) -> Estimate:
        """
        Return a parameter of the fit.

        :param kind: first half of its label
        :param number: second half of its label
        :param add: added to its value: 1 makes a factor of the difference from 1
        """
        label = (kind, number)
        return self.estimate(lambda fit: fit.values[label] + add, self.fit.errors[label])


def student_quantile(freedom: int, confidence: float = CONFIDENCE) -> float:
    """
    Return how many standard errors an interval reaches to either side.

    Student's distribution by the expansion of Cornish and Fisher; 1 % off at 5 degrees of freedom.

    :param freedom: degrees of freedom
    :param confidence: of the two-sided interval
    """
    z: float = NormalDist().inv_cdf(0.5 + 0.5 * confidence)
    terms = (
        (z**3 + z) / 4.0,
        (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / 96.0,
        (3.0 * z**7 + 19.0 * z**5 + 17.0 * z**3 - 15.0 * z) / 384.0,
    )
    return z + math.fsum(term / freedom ** (k + 1) for k, term in enumerate(terms))


class Selection:
    """
    The hypotheses tried on a measurement; each is solved once.

    :param prediction: model and measurement
    """

    def __init__(self, prediction: Prediction) -> None:
        self.prediction = prediction
        self._n = prediction.rigid.shape[1]
        self._solutions: dict[Hypothesis, Solution] = {}
        self._flipped: dict[frozenset[int], Prediction] = {frozenset(): prediction}

    def solution(self, hypothesis: Hypothesis) -> Solution:
        """Return a hypothesis solved."""
        if hypothesis not in self._solutions:
            if hypothesis.flipped not in self._flipped:
                flipped = self.prediction.flipped(sorted(hypothesis.flipped))
                self._flipped[hypothesis.flipped] = flipped
            prediction = self._flipped[hypothesis.flipped]
            equations = Equations(prediction, hypothesis)
            self._solutions[hypothesis] = Solution(equations, prediction)
        return self._solutions[hypothesis]

    def _worse(self, hypothesis: Hypothesis) -> float:
        return self.solution(hypothesis).criterion

    def best(self) -> Solution:
        """
        Return the hypothesis with the strongest support.

        From nothing wrong on, one thing more is believed where the evidence for it is strong, the
        one with the strongest first; and what has become needless by it is dropped again. Of
        hypotheses that no strong evidence tells apart, the one with fewest parameters is taken.
        """
        best = Hypothesis()
        while True:
            more = self._simplest(best.with_one_more(self._n, self.prediction))
            if self._worse(more) > self._worse(best) - EVIDENCE:
                return self.solution(best)
            best = more
            less = list(best.with_one_less())
            while less and self._worse(simpler := self._simplest(less)) <= self._worse(best):
                best, less = simpler, list(simpler.with_one_less())

    def _simplest(self, hypotheses: Iterable[Hypothesis]) -> Hypothesis:
        """Return which has fewest parameters of those that have the most support."""
        tried = list(hypotheses)
        most = min(self._worse(hypothesis) for hypothesis in tried)
        near = [other for other in tried if self._worse(other) < most + EVIDENCE]
        return min(near, key=lambda other: (self.solution(other).fit.rank, self._worse(other)))

    def rivals(self, best: Solution) -> list[Hypothesis]:
        """Return what explains the measurement about as well, with no more parameters."""
        hypothesis = best.fit.hypothesis
        return [
            rival
            for less in hypothesis.with_one_less()
            for rival in less.with_one_more(self._n, self.prediction)
            if rival != hypothesis
            and self._worse(rival) < best.criterion + EVIDENCE
            and self._worse(rival) < self._worse(less) - EVIDENCE
        ]
