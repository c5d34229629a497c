# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The targets of the dynamics, and whether a run reached them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .compare import Memory, Result
from .contenders import (
    BATCH,
    CHECKED,
    SPECIALISED,
    SPECIALISED_BATCH,
    WORKSPACE,
    Computation,
)
from .processes import TO_FIRST_TORQUE, StartUp

TIMES_FASTER: Mapping[tuple[Computation, str], Mapping[int, float]] = {
    (Computation.INVERSE_DYNAMICS, CHECKED): {6: 1.2, 7: 1.2, 32: 2.0},
    (Computation.INVERSE_DYNAMICS, WORKSPACE): {6: 3.0, 7: 3.0, 32: 3.0},
    (Computation.INVERSE_DYNAMICS, SPECIALISED): {7: 5.0},
    (Computation.GRAVITY, CHECKED): {6: 1.2, 7: 1.2, 32: 2.0},
    (Computation.GRAVITY, WORKSPACE): {6: 2.0, 7: 2.0, 32: 2.0},
    (Computation.MASS_MATRIX, CHECKED): {6: 1.2, 7: 1.2, 32: 1.2},
    (Computation.MASS_MATRIX, WORKSPACE): {6: 1.5, 7: 1.5, 32: 2.0, 120: 2.0},
    (Computation.FORWARD_DYNAMICS, CHECKED): {6: 1.0, 7: 1.0, 32: 1.0},
    (Computation.FORWARD_DYNAMICS, WORKSPACE): {6: 1.0, 7: 1.0, 32: 1.0},
    (Computation.INVERSE_DERIVATIVES, CHECKED): {6: 1.5, 7: 1.5, 32: 1.5},
    (Computation.INVERSE_DERIVATIVES, WORKSPACE): {6: 1.5, 7: 1.5, 32: 1.5},
    (Computation.FORWARD_DERIVATIVES, CHECKED): {6: 1.5, 7: 1.5, 32: 1.5},
    (Computation.FORWARD_DERIVATIVES, WORKSPACE): {6: 1.5, 7: 1.5, 32: 1.5},
    (Computation.REGRESSOR, CHECKED): {6: 1.0, 7: 1.0, 32: 1.0},
    (Computation.BATCH, BATCH): {6: 10.0, 7: 10.0, 32: 8.0},
    (Computation.BATCH, SPECIALISED_BATCH): {7: 25.0},
}
"""Minimum speed relative to Pinocchio, by number of joints."""

SECONDS_COLD = 20.0
SECONDS_COLD_FIRST = 5.0
SECONDS_WARM_FIRST = 0.4
MEGABYTES = 120.0


@dataclass(frozen=True)
class Figure:
    """
    A figure to reach.

    :param what: words
    :param joints: of the robot, None where it is of no single one
    :param target: the bound, in words
    :param measured: in words
    :param reached: whether what was measured keeps the bound
    """

    what: str
    joints: int | None
    target: str
    measured: str
    reached: bool


def figures(
    results: Sequence[Result], memory: Memory, start: StartUp | None
) -> list[Figure]:
    """
    Return the figures to reach, as a run measured them.

    :param results: of the races
    :param memory: of workspace calls
    :param start: None where it was not measured
    """
    return [
        *_times_faster(results),
        Figure(
            'memory allocated by a workspace call', None,
            f'below one result array, {memory.array} bytes', f'{memory.held} bytes',
            memory.held < memory.array,
        ),
        *(_starts(start) if start else ()),
    ]


def _times_faster(results: Sequence[Result]) -> list[Figure]:
    found = []
    for (quantity, contender), least in TIMES_FASTER.items():
        for result in results:
            is_measured = (result.quantity, result.contender) == (quantity, contender)
            if is_measured and result.joints in least:
                target = least[result.joints]
                found.append(Figure(
                    f'{quantity.value}: {contender}',
                    result.joints,
                    f'{target:g}',
                    f'{result.ratio:.3g}',
                    result.ratio >= target,
                ))
    return found


def _starts(start: StartUp) -> list[Figure]:
    cold = sum(start.cold.values())
    cold_first, warm_first = (
        sum(steps[step] for step in TO_FIRST_TORQUE) for steps in (start.cold, start.warm)
    )
    return [
        Figure(
            'import, model and first call of every function, cold cache', None,
            f'below {SECONDS_COLD:g} s', f'{cold:.1f} s', cold < SECONDS_COLD,
        ),
        Figure(
            'import, model and first inverse dynamics, cold cache', None,
            f'below {SECONDS_COLD_FIRST:g} s', f'{cold_first:.1f} s',
            cold_first < SECONDS_COLD_FIRST,
        ),
        Figure(
            'import, model and first inverse dynamics, warm cache', None,
            f'below {SECONDS_WARM_FIRST:g} s', f'{warm_first:.2f} s',
            warm_first < SECONDS_WARM_FIRST,
        ),
        Figure(
            'memory of a process with one arm, beyond that of numpy', None,
            f'below {MEGABYTES:g} MB', f'{start.megabytes:.0f} MB',
            start.megabytes < MEGABYTES,
        ),
    ]
