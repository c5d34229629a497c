# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The targets of the control loop, and whether a run reached them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..figures import Figure
from .contenders import (
    BARE,
    CYCLICTEST,
    CYCLICTEST_FIFO,
    ECHO,
    OURS,
    OURS_FIFO,
    PLAIN,
    TRIGGERED,
    Condition,
    LoopContender,
)
from .turn import Turn

RATE = 1000.0
"""At which most of them are meant, Hz."""

MORE_THAN_BARE = 0.10
SHARE = 0.15
OF_PLAIN = 1.0 / 3.0
OF_CYCLICTEST = 1.5
MARGIN = 100e-6
LATE = {Condition.IDLE: 1e-4, Condition.STRESS: 1e-3}
DELAY = 1e-3
OF_ECHO = 1.5
START = 3.0


def figures(
    results: Sequence[Turn], starts: Mapping[LoopContender, Sequence[float]]
) -> list[Figure]:
    """
    Return the figures to reach, as a run measured them; those that it did not are left out.

    :param results: of the contenders
    :param starts: from the start of a process to its first command, by contender, s
    """
    found = {
        (result.contender, result.condition): result for result in results if result.rate == RATE
    }

    def of(contender: LoopContender, condition: Condition = Condition.IDLE) -> Turn | None:
        return found.get((contender, condition))

    figures = [*_shares(of(OURS), of(BARE), of(PLAIN))]
    for ours, floor in ((OURS, CYCLICTEST), (OURS_FIFO, CYCLICTEST_FIFO)):
        for condition in LATE:
            figures += _times(of(ours, condition), of(floor, condition))
    figures += _trajectories(of(OURS, Condition.TRAJECTORIES))
    figures += _latency(of(TRIGGERED), of(ECHO))
    return figures + _start(starts)


def _figure(what: str, target: str, measured: str, reached: bool) -> Figure:
    return Figure(what, None, target, measured, bool(reached))


def _shares(ours: Turn | None, bare: Turn | None, plain: Turn | None) -> list[Figure]:
    if ours is None or ours.cpu is None:
        return []
    found = [_figure(
        'CPU share at 1 kHz', f'below {SHARE:.0%}', f'{ours.cpu:.1%}', ours.cpu < SHARE
    )]
    if bare is not None and bare.cpu is not None:
        more = ours.cpu - bare.cpu
        found.append(_figure(
            'CPU share minus that of the bare loop', f'up to {MORE_THAN_BARE:.0%}',
            f'{more:.1%}', more <= MORE_THAN_BARE,
        ))
    if plain is not None and plain.cpu is not None:
        found.append(_figure(
            'CPU share / that of the plain rclpy node', 'up to 1/3',
            f'{ours.cpu / plain.cpu:.2f}', ours.cpu <= OF_PLAIN * plain.cpu,
        ))
    return found


def _times(ours: Turn | None, floor: Turn | None) -> list[Figure]:
    if ours is None or ours.lateness is None:
        return []
    name = f'{ours.contender.name}, {ours.condition.value}'
    found, lateness = [], ours.lateness
    share, most = lateness.late / lateness.ticks, LATE[ours.condition]
    measured = f'{lateness.late} of {lateness.ticks}'
    if floor is not None and floor.lateness is not None:
        p99, least = lateness.percentiles[1], floor.lateness.percentiles[1]
        bound = OF_CYCLICTEST * least + MARGIN
        found.append(_figure(
            f'{name}: period error, p99',
            f'up to {bound * 1e6:.0f} \N{MICRO SIGN}s (cyclictest: {least * 1e6:.0f})',
            f'{p99 * 1e6:.0f} \N{MICRO SIGN}s', p99 <= bound,
        ))
        measured += f' (cyclictest {floor.lateness.late} of {floor.lateness.ticks})'
    found.append(_figure(
        f'{name}: late ticks', f'up to 1 in {1.0 / most:.0f}', measured, share <= most
    ))
    return found


def _trajectories(ours: Turn | None) -> list[Figure]:
    if ours is None or not ours.after.size:
        return []
    before, after = float(ours.before.max()), float(ours.after.max())
    return [_figure(
        f'maximum period error after {ours.after.size} trajectories of 10,000 points',
        f'up to {DELAY * 1e3:g} ms more than before ({before * 1e3:.2f} ms)',
        f'{after * 1e3:.2f} ms', after - before <= DELAY,
    )]


def _start(starts: Mapping[LoopContender, Sequence[float]]) -> list[Figure]:
    if not starts.get(OURS):
        return []
    median = float(np.median(starts[OURS]))
    measured = f'{median:.2f} s'
    if starts.get(ECHO):
        measured += f' (rclpy echo {np.median(starts[ECHO]):.2f} s)'
    return [_figure(
        'process start to first command, warm cache',
        f'below {START:g} s', measured, median < START,
    )]


def _latency(ours: Turn | None, echo: Turn | None) -> list[Figure]:
    if ours is None or echo is None or not (ours.latency.size and echo.latency.size):
        return []
    found = []
    for percentile in (50.0, 99.0):
        taken = float(np.percentile(ours.latency, percentile))
        bound = OF_ECHO * float(np.percentile(echo.latency, percentile))
        found.append(_figure(
            f'triggered: from state to command, p{percentile:g}',
            f"up to {bound * 1e6:.0f} \N{MICRO SIGN}s, {OF_ECHO:g} times the echo's",
            f'{taken * 1e6:.0f} \N{MICRO SIGN}s', taken <= bound,
        ))
    return found
