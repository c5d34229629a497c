# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""``python -m benchmark.loop.soak``: memory and jitter over time; fails where either grows."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
import sys
import tempfile
import time

import numpy as np
from scipy.stats import theilslopes

from .. import BenchmarkError
from ..report import rewrite
from ..robots import Array
from .arm import FedArm
from .processes import own_domain
from .ticks import Lateness
from .turn import BARE, OURS, Player, feed_to_first_command

SAMPLES = 180  # intervals of a run, unless they would be shorter than MIN_INTERVAL
MIN_SAMPLES = 8
MIN_INTERVAL = 2.0  # s

WARM_UP = 0.2  # share of the run in which memory may grow
MEMORY_RISE = 2.0  # MB that memory may rise by in the rest
PARTS = 4  # a leak goes on: memory must rise from each of so many parts of the rest to the next
STEADY = 0.05  # share of the allowed rise that counts as a rise from one part to the next
JITTER_RATIO = 1.5  # how many times greater jitter may become than that of a loop that only sleeps


def memory_growth(times: Array, memory: Array) -> tuple[float, bool]:
    """Return how much memory, MB, rose after the warm-up, and whether by too much and steadily."""
    warm = times >= times[0] + WARM_UP * (times[-1] - times[0])
    rise = float(theilslopes(memory[warm], times[warm])[0] * np.ptp(times[warm]))
    levels = [np.median(part) for part in np.array_split(memory[warm], PARTS)]
    goes_on = bool((np.diff(levels) > STEADY * MEMORY_RISE).all())
    return rise, rise > MEMORY_RISE and goes_on


def jitter_growth(p99: Array, sleeper: Array) -> tuple[float, float, bool]:
    """
    Return median p99 of the last third / of the first, for both, and whether jitter grew.

    It grew beyond its spread, and by more than that of the loop that only sleeps.
    """
    first, _, last = np.array_split(p99, 3)
    ours, other = (
        float(np.median(parts[2]) / np.median(parts[0]))
        for parts in (np.array_split(errors, 3) for errors in (p99, sleeper))
    )
    apart = bool(np.percentile(last, 25.0) > np.percentile(first, 75.0))
    return ours, other, apart and ours > JITTER_RATIO * max(other, 1.0)


def soak(minutes: float, rate: float) -> Array:
    """
    Run the node beside a loop without messages, which only sleeps.

    :return: of each interval its end, s, memory, MB, late ticks, ticks, and p99 and greatest
        period error of the node and of the other, s; shape (intervals, 8)
    :raises BenchmarkError: a process did not do what it must
    """
    interval = max(60.0 * minutes / SAMPLES, MIN_INTERVAL)
    capacity = int(2.0 * rate * interval)
    rows = []
    with (
        own_domain(), tempfile.TemporaryDirectory() as directory, FedArm(rate) as arm,
        Player(OURS, rate, Path(directory), capacity) as node,
        Player(BARE, rate, Path(directory), capacity, namespace='/sleeper') as sleeper,
    ):
        feed_to_first_command(arm, node)
        start = time.monotonic()
        for _ in range(max(int(60.0 * minutes / interval), MIN_SAMPLES)):
            begin = time.monotonic()
            arm.feed(interval)
            end = time.monotonic()
            ours, other = (
                Lateness(1.0 / rate, player.ticks(begin, end)[:, 1]) for player in (node, sleeper)
            )
            rows.append([
                end - start, node.memory, ours.late, ours.ticks, *ours.percentiles[1::2],
                *other.percentiles[1::2],
            ])
    return np.array(rows)


def report(rate: float, rows: Array) -> tuple[str, bool]:
    """Return what a soak found in words, and whether something grew."""
    times, memory, late, ticks, p99, greatest, other_p99, other_greatest = rows.T
    rise, memory_grows = memory_growth(times, memory)
    ours, other, jitter_grows = jitter_growth(p99, other_p99)
    verdicts = {True: '**grows**', False: 'does not grow'}
    return '\n'.join([
        f'{times[-1] / 60.0:.0f} minutes at {rate:g} Hz: {late.sum():.0f} late ticks '
        f'of {ticks.sum():.0f}, maximum period error {1e3 * greatest.max():.1f} ms '
        f'(loop that only sleeps: {1e3 * other_greatest.max():.1f} ms).',
        '',
        f'- Memory {verdicts[memory_grows]}: {memory[0]:.1f} MB at the start, {memory[-1]:.1f} MB '
        f'at the end, {rise:+.2f} MB after the warm-up ({MEMORY_RISE:g} MB allowed).',
        f'- Jitter {verdicts[jitter_grows]}: median p99 of the last third / of the first third = '
        f'{ours:.2f} (loop that only sleeps: {other:.2f}).',
    ]), memory_grows or jitter_grows


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; return the exit code."""
    parser = argparse.ArgumentParser(prog='python -m benchmark.loop.soak', description=__doc__)
    parser.add_argument('--minutes', type=float, default=30.0, help='how long')
    parser.add_argument('--rate', type=float, default=1000.0, help='Hz')
    parser.add_argument('--write', action='store_true', help='write the figures into docs/')
    options = parser.parse_args(arguments)
    try:
        text, grows = report(options.rate, soak(options.minutes, options.rate))
    except BenchmarkError as error:
        print(error, file=sys.stderr)
        return 1
    print(text)
    if options.write:
        rewrite('soak', text)
    return int(grows)


if __name__ == '__main__':
    sys.exit(main())
