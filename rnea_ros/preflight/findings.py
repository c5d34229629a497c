# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Causes, findings and verdicts, and the format of their figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, IntEnum

from .fit import Hypothesis
from .selection import Estimate


class Cause(Enum):
    """A possible fault, or the reason why a joint cannot be judged; the second text is short."""

    NO_EFFORT = 'no effort reported', 'no effort'
    ANOTHER_ROBOT = 'URDF of another robot', 'another robot'
    INVERTED_AXIS = 'inverted axis', 'axis inverted'
    INVERTED_EFFORT = 'inverted effort', 'effort inverted'
    GRAVITY_DIRECTION = 'wrong gravity direction', 'gravity direction'
    WRONG_SCALE = 'gear ratio, unit or current', 'ratio, unit or current'
    MISSING_TOOL = 'tool missing in the model', 'tool missing'
    SURPLUS_TOOL = 'extra tool in the model', 'extra tool'
    COMPENSATED = 'hardware compensates gravity', 'gravity compensated'
    CURRENT = 'current-based effort', 'current-based'
    OFFSET = 'offset', 'offset'
    UNEXPLAINED = 'unexplained', 'unexplained'
    FRICTION = 'friction dominates', 'friction dominates'
    UNJUDGED = 'too little gravity to judge', 'not judged'

    def __init__(self, text: str, short: str) -> None:
        self.text, self.short = text, short


BY_HYPOTHESIS = frozenset({
    Cause.INVERTED_AXIS, Cause.INVERTED_EFFORT, Cause.GRAVITY_DIRECTION, Cause.WRONG_SCALE,
    Cause.MISSING_TOOL, Cause.SURPLUS_TOOL, Cause.COMPENSATED,
})
"""Causes that depend on the best hypothesis; another hypothesis may fit as well."""


IDENTIFY = 'if robot and URDF belong together, identify masses and friction: docs/identify.md'
"""Remedy for a model that is wrong in many places."""


class ModelVerdict(IntEnum):
    """The verdict; its number is the exit code of the command."""

    ACCEPTED = 0
    REJECTED = 1
    UNDECIDED = 2


@dataclass(frozen=True)
class Finding:
    """A cause that was found."""

    cause: Cause
    text: str  # one sentence with the figures
    joints: tuple[int, ...] = ()  # numbers of the joints concerned; empty for the whole robot
    must_be_fixed: bool = True  # the model cannot be used before a repair
    remedy: str = ''  # advice for the user, as a parameter of the node to set
    factor: Estimate | None = None  # measured over modelled effort, if the cause is a factor


def describe(hypothesis: Hypothesis, names: tuple[str, ...]) -> str:
    """Return the faults of a hypothesis in words."""
    parts = [f'inverted axis of {names[joint]}' for joint in sorted(hypothesis.flipped)]
    parts += [f'factor of {names[joint]}' for joint in sorted(hypothesis.scaled)]
    parts += ['factor of all efforts'] * hypothesis.all_scaled
    parts += ['factor of gravity'] * hypothesis.gravity_scaled
    parts += ['direction of gravity'] * hypothesis.gravity_turned
    parts += [f'load on {link}' for link in sorted(hypothesis.loaded)]
    return ' and '.join(parts) or 'no fault'


def number(estimate: Estimate) -> str:
    """Return an estimate with its interval."""
    value = round(estimate.value, 2) + 0.0  # never -0.00
    return f'{value:.2f} +- {estimate.half_width:.2f}'


def vector(values: Iterable[float]) -> str:
    """Return the components of a vector with three decimals."""
    return ', '.join(f'{value:.3f}' for value in values)
