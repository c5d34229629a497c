# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A hypothesis: a combination of elementary faults of a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..recordings import Kind
from .columns import Prediction


@dataclass(frozen=True)
class Hypothesis:
    """
    The faults of a model; none by default.

    :param flipped: numbers of joints with an inverted axis, in position and effort
    :param scaled: numbers of joints whose effort has an unknown factor
    :param all_scaled: whether the efforts of all joints have a common unknown factor
    :param gravity_scaled: whether gravity has an unknown factor, but the efforts of motion have
        none
    :param gravity_turned: whether gravity is an unknown vector
    :param loaded: names of links with an unknown load, negative for an extra tool of the model
    """

    flipped: frozenset[int] = frozenset()
    scaled: frozenset[int] = frozenset()
    all_scaled: bool = False
    gravity_scaled: bool = False
    gravity_turned: bool = False
    loaded: frozenset[str] = frozenset()

    def with_one_fault_more(self, joints: int, prediction: Prediction) -> Iterator[Hypothesis]:
        """Yield the hypotheses with one more fault."""
        at_rest = prediction.samples.kind is Kind.STILL
        if not self.all_scaled:
            yield replace(self, all_scaled=True)
        # At rest a factor of gravity equals a factor of all efforts.
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

    def with_one_fault_less(self) -> Iterator[Hypothesis]:
        """Yield the hypotheses with one fault less."""
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
