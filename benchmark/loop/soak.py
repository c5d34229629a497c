# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""``python -m benchmark.loop.soak``: memory and jitter over time; fails where either grows."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
import sys
import tempfile
import time

import numpy as np

from ..page import rewrite
from ..robots import Array
from .child import ChildError
from .contenders import OURS
from .domain import own_domain
from .endurance import MEMORY_RISE, WARM_UP, Endurance, endurance
from .lateness import Lateness
from .motion import motion
from .stage import Player, Stage, first_command
from .ticks import read_blocks, read_ticks
from .turn import SETTLING

SAMPLES = 180
"""How many intervals a run has, as far as they last :data:`MIN_INTERVAL`."""

MIN_INTERVAL = 2.0
"""s"""

MIN_SAMPLES = 8
"""Intervals without which nothing can be said."""


@dataclass(frozen=True)
class Soak:
    """
    What was sampled, interval by interval.

    :param rate: Hz
    :param times: ends of the intervals since the beginning, shape (n,), s
    :param memory: MB, shape (n,)
    :param blocks: of memory that the interpreter held, shape (n,)
    :param errors: period error p50, p99, p99.9 and greatest, shape (n, 4), s
    :param sleeper: the same of a loop that only sleeps, shape (n, 4), s
    :param late: ticks over half a period late, of the whole run
    :param ticks: of the whole run
    """

    rate: float
    times: Array
    memory: Array
    blocks: Array
    errors: Array
    sleeper: Array
    late: int
    ticks: int

    @property
    def verdict(self) -> Endurance:
        """What grew."""
        return endurance(self.times, self.memory, self.errors[:, 1], self.sleeper[:, 1])


def soak(minutes: float, rate: float) -> Soak:
    """
    Run the node and a loop that only sleeps, side by side.

    :param minutes: how long
    :param rate: of both, Hz
    :raises ChildError: a process did not do what it must
    """
    interval = max(60.0 * minutes / SAMPLES, MIN_INTERVAL)
    count = max(int(60.0 * minutes / interval), MIN_SAMPLES)
    room = int(2.0 * rate * interval)
    rows = []
    with (
        own_domain() as domain,
        tempfile.TemporaryDirectory() as name,
        Stage(motion(), domain, Path(name)) as stage,
    ):
        feeder = stage.feed(rate)
        ours, sleeper = stage.play(OURS, rate, room), stage.sleep(rate, room)
        first_command(feeder, [ours])
        time.sleep(SETTLING)
        start = time.monotonic()
        for number in range(count):
            begin, end = (start + interval * k for k in (number, number + 1))
            time.sleep(max(end - time.monotonic(), 0.0))
            for child in (feeder, ours.child, sleeper.child):
                child.check()
            own = _lateness(ours, begin, end, rate)
            rows.append([
                end - start, ours.child.memory, read_blocks(ours.log), own.late, own.ticks,
                *_told(own), *_told(_lateness(sleeper, begin, end, rate)),
            ])
    table = np.array(rows)
    times, memory, blocks, late, ticks = table[:, :5].T
    return Soak(
        rate, times, memory, blocks, table[:, 5:9], table[:, 9:], int(late.sum()), int(ticks.sum())
    )


def report(run: Soak) -> str:
    """Return what a soak found, in words."""
    verdict, warm = run.verdict, int(WARM_UP * run.times.size)
    before, after = ('**grows**' if grows else 'does not grow' for grows in (
        verdict.memory_grows, verdict.jitter_grows
    ))
    return '\n'.join([
        f'{run.times[-1] / 60.0:.0f} minutes at {run.rate:g} Hz: {run.late} late ticks '
        f'of {run.ticks}, maximum period error {1e3 * run.errors[:, 3].max():.1f} ms '
        f'(loop that only sleeps: {1e3 * run.sleeper[:, 3].max():.1f} ms).',
        '',
        f'- Memory {before}: {run.memory[0]:.1f} MB at the start, {run.memory[-1]:.1f} MB at the '
        f'end, {verdict.memory_rise:+.2f} MB after the warm-up ({MEMORY_RISE:g} MB allowed). '
        f'The interpreter held {run.blocks[warm]:.0f} blocks after the warm-up, '
        f'{run.blocks[-1]:.0f} at the end.',
        f'- Jitter {after}: median p99 of the last third / of the first third = '
        f'{verdict.jitter:.2f} (loop that only sleeps: {verdict.baseline:.2f}).',
    ])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; return the exit status."""
    parser = argparse.ArgumentParser(prog='python -m benchmark.loop.soak', description=__doc__)
    parser.add_argument('--minutes', type=float, default=30.0, help='how long')
    parser.add_argument('--rate', type=float, default=1000.0, help='Hz')
    parser.add_argument('--write', action='store_true', help='write the figures into docs/')
    options = parser.parse_args(arguments)
    try:
        run = soak(options.minutes, options.rate)
    except ChildError as error:
        print(error, file=sys.stderr)
        return 1
    print(report(run))
    if options.write:
        rewrite('soak', report(run))
    return 0 if run.verdict.lasts else 1


def _lateness(player: Player, begin: float, end: float, rate: float) -> Lateness:
    errors = read_ticks(player.log, begin, end)[:, 1]
    if not errors.size:
        raise ChildError(f'no tick in {end - begin:.0f} s:\n{player.child.output}')
    return Lateness(1.0 / rate, errors)


def _told(lateness: Lateness) -> list[float]:
    return [*lateness.percentiles, lateness.greatest]


if __name__ == '__main__':
    sys.exit(main())
