# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What may be wrong with a model, as a combination of elementary faults."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..recordings import Kind
from .columns import Prediction


@dataclass(frozen=True)
class Hypothesis:
    """
    What is wrong with a model; nothing by default.

    :param flipped: joints whose axis points the other way, in position and in effort
    :param scaled: joints whose effort is that of the model times an unknown factor
    :param all_scaled: the efforts of all joints have an unknown factor in common
    :param gravity_scaled: gravity torques have an unknown factor, inertial ones have not
    :param gravity_turned: gravity is an unknown vector
    :param loaded: links that carry an unknown load; negative where the model has one too many
    """

    flipped: frozenset[int] = frozenset()
    scaled: frozenset[int] = frozenset()
    all_scaled: bool = False
    gravity_scaled: bool = False
    gravity_turned: bool = False
    loaded: frozenset[str] = frozenset()

    def with_one_more(self, joints: int, prediction: Prediction) -> Iterator[Hypothesis]:
        """Yield the hypotheses in which one thing more is wrong."""
        at_rest = prediction.samples.kind is Kind.STILL
        if not self.all_scaled:
            yield replace(self, all_scaled=True)
        # At rest a factor of gravity is a factor of everything.
        if not self.gravity_scaled and not at_rest:
            yield replace(self, gravity_scaled=True)
        if not self.gravity_turned:
            yield replace(self, gravity_turned=True)
        for tip in prediction.tips:
            if tip.link not in self.loaded:
                yield replace(self, loaded=self.loaded | {tip.link})
        for joint in range(joints):
            if joint not in self.scaled:
                yield replace(self, scaled=self.scaled | {joint})
            if joint not in self.flipped:
                yield replace(self, flipped=self.flipped | {joint})

    def with_one_less(self) -> Iterator[Hypothesis]:
        """Yield the hypotheses in which one thing less is wrong."""
        if self.all_scaled:
            yield replace(self, all_scaled=False)
        if self.gravity_scaled:
            yield replace(self, gravity_scaled=False)
        if self.gravity_turned:
            yield replace(self, gravity_turned=False)
        for link in self.loaded:
            yield replace(self, loaded=self.loaded - {link})
        for joint in self.scaled:
            yield replace(self, scaled=self.scaled - {joint})
        for joint in self.flipped:
            yield replace(self, flipped=self.flipped - {joint})
