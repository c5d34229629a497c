# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The factor of each joint's gravity that fits the measured efforts best, for ``gravity_factor``.

A wrong mass is a constant factor only for the joint that carries this link alone. Of the joints
before it the factor is a least-squares fit over the recorded poses, which leaves a rest. Offsets
are not fitted beside it: in a small range of poses they would take a part of gravity.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..command_line import text_table
from ..recordings.robust import rms
from .assessment import LOAD_TOLERANCE, MODEL_TOLERANCE, SENSOR_TOLERANCE, Assessment
from .faults import Cause, Finding
from .selection import ABSENT, Estimate, interval

MAX_REST = 0.5  # greatest share of the error that a factor of use leaves
MAX_FACTOR = 2.0  # of the parameter; a greater one is no matter of masses

FIRST = frozenset({
    Cause.NO_EFFORT, Cause.INVERTED_AXIS, Cause.INVERTED_EFFORT, Cause.GRAVITY_DIRECTION,
    Cause.MISSING_TOOL, Cause.COMPENSATED,
})
"""Causes that have another remedy, and make the factors of other joints wrong."""

IDENTIFY = 'identify'  # remedy for errors that no factor explains
HEADER = ('joint', 'factor', 'error', 'with factor', '')


@dataclass(frozen=True)
class GravityFactor:
    """The factor of a joint: measured effort = motion + factor * gravity + friction."""

    name: str
    factor: Estimate
    before: float  # RMS error of the model without friction, N m or N
    after: float  # the same with the factor
    problem: str  # why the factor is of no use; empty if it helps

    @property
    def row(self) -> tuple[str, ...]:
        """Cells for :data:`HEADER`."""
        found = (str(self.factor), f'{self.after:.2f}') if self.factor.is_known else ('-', '-')
        return self.name, found[0], f'{self.before:.2f}', found[1], self.problem


def gravity_factors(
    assessment: Assessment, findings: Iterable[Finding]
) -> tuple[GravityFactor, ...]:
    """Return the factors of all joints; none if a fault with another remedy was found."""
    if any(finding.must_be_fixed and finding.cause in FIRST for finding in findings):
        return ()
    prediction, block = assessment.prediction, assessment.samples.block
    gravity = prediction.gravity
    error = prediction.effort - assessment.separate.fit.friction - prediction.rigid
    # With sums over blocks: factor - 1 = sum g error / sum g^2, also without one block each.
    sums = np.array([
        [(gravity * other)[block == k].sum(axis=0) for other in (error, gravity)]
        for k in np.unique(block)
    ])
    total = sums.sum(axis=0)
    with np.errstate(divide='ignore', invalid='ignore'):
        factor = 1.0 + total[0] / total[1]
        without = 1.0 + (total - sums)[:, 0] / (total - sums)[:, 1]
        before, after = rms(error), rms(error - (factor - 1.0) * gravity)
        left = after / before
    load = rms(gravity)
    little = load <= SENSOR_TOLERANCE * load.max()
    tolerance = LOAD_TOLERANCE * load + SENSOR_TOLERANCE * load.max()

    def of_joint(joint: int) -> GravityFactor:
        found, rest = Estimate(float(factor[joint]), np.inf), left[joint]
        if not little[joint]:
            found = interval(found.value, without[:, joint])
        if found.half_width > MODEL_TOLERANCE:
            problem = 'too little gravity' if little[joint] else 'too uncertain'
        elif rest > MAX_REST and before[joint] > tolerance[joint]:
            problem = f'{100.0 * rest:.0f} % of the error remain: {IDENTIFY}'
        elif not found.excludes(1.0, LOAD_TOLERANCE):
            problem = 'may be 1'
        elif rest > MAX_REST:
            problem = 'little gain'
        else:
            in_range = ABSENT < found.lower < found.upper <= MAX_FACTOR
            problem = '' if in_range else 'out of range'
        name = assessment.joints[joint].name
        return GravityFactor(name, found, float(before[joint]), float(after[joint]), problem)

    return tuple(map(of_joint, range(len(assessment.joints))))


def parameter_value(factors: Sequence[GravityFactor], names: Sequence[str]) -> list[float]:
    """Return the value of ``gravity_factor`` for joints by name; empty if no factor helps."""
    helpful = {each.name: round(each.factor.value, 3) for each in factors if not each.problem}
    return [helpful.get(name, 1.0) for name in names] if helpful else []


def text(factors: Sequence[GravityFactor], names: Sequence[str]) -> str:
    """Return a table, and a line for a parameter file; empty if there is nothing to do."""
    values = parameter_value(factors, names)
    if not values and not any(each.problem.endswith(IDENTIFY) for each in factors):
        return ''
    lines = [
        '\n', 'gravity_factor until masses are identified; error: RMS without friction, N m or N',
        '', text_table([HEADER, *(each.row for each in factors)], left=(0, len(HEADER) - 1)), '',
    ]
    if values:
        lines.append('if efforts have the unit of commands, for poses like the recorded ones:')
        lines.append(f'    gravity_factor: {values}')
    return '\n'.join(lines)
