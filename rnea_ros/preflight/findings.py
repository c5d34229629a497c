# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Causes, findings and verdicts, and the format of their figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, IntEnum

from .fit import Hypothesis
from .selection import Estimate


class Cause(str, Enum):
    """A possible fault, or the reason why a joint cannot be judged."""

    NO_EFFORT = 'no effort reported'
    ANOTHER_ROBOT = 'URDF of another robot'
    INVERTED_AXIS = 'inverted axis'
    INVERTED_EFFORT = 'inverted effort'
    GRAVITY_DIRECTION = 'wrong gravity direction'
    WRONG_SCALE = 'gear ratio, unit or current'
    MISSING_TOOL = 'tool missing in the model'
    SURPLUS_TOOL = 'extra tool in the model'
    COMPENSATED = 'hardware compensates gravity'
    CURRENT = 'current-based effort'
    OFFSET = 'offset'
    UNEXPLAINED = 'unexplained'
    FRICTION = 'friction dominates'
    UNJUDGED = 'too little gravity to judge'


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
    """
    A cause that was found.

    :param cause: kind of the cause
    :param text: one sentence with the figures
    :param joints: numbers of the joints concerned; empty for the whole robot
    :param must_be_fixed: whether the model cannot be used before a repair
    :param remedy: advice for the user, as a parameter of the node to set
    :param factor: measured over modelled effort, if the cause is a factor
    """

    cause: Cause
    text: str
    joints: tuple[int, ...] = ()
    must_be_fixed: bool = True
    remedy: str = ''
    factor: Estimate | None = None


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
