# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""cyclictest of rt-tests: a loop in C that only sleeps, the floor for every other."""

from __future__ import annotations

from pathlib import Path
import re
import shutil
import subprocess
import tempfile

import numpy as np

from ..robots import Array
from .lateness import Lateness

MAX_LATENCY = 100_000
"""Up to how late a tick is counted by the microsecond, us."""

HEADING = re.compile(r'# (Max Latencies|Histogram Overflows): (\d+)')


def installed() -> bool:
    """Return whether cyclictest is there."""
    return shutil.which('cyclictest') is not None


def cyclictest(rate: float, seconds: float, priority: int = 0) -> Lateness:
    """
    Return the period errors of cyclictest.

    :param rate: Hz
    :param seconds: how long
    :param priority: of SCHED_FIFO; 0 for a thread as others are
    :raises RuntimeError: it did not run
    """
    policy = ['--policy=fifo', f'--priority={priority}'] if priority else ['--policy=other']
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, 'histogram')
        finished = subprocess.run(
            [
                # --laptop: the processor may sleep, as for the other contenders.
                'cyclictest', '--laptop', '--quiet', '--threads=1', *policy,
                f'--interval={1e6 / rate:.0f}', f'--loops={rate * seconds:.0f}',
                f'--histogram={MAX_LATENCY}', f'--histfile={path}',
            ],
            capture_output=True,
            text=True,
            timeout=10.0 * seconds + 10.0,
        )
        if finished.returncode != 0 or not path.exists():
            raise RuntimeError(f'cyclictest failed: {finished.stderr.strip()}')
        return Lateness(1.0 / rate, parse_histogram(path.read_text(encoding='utf-8')))


def parse_histogram(text: str) -> Array:
    """
    Return the period errors in a histogram of one thread, in order of size, s.

    Of those beyond its end one is the greatest; the others count as its end.

    :param text: what cyclictest writes
    :raises ValueError: it has no histogram
    """
    headings = {name: int(value) for name, value in HEADING.findall(text)}
    pairs = [line.split() for line in text.splitlines() if line[:1].isdigit()]
    if not pairs or 'Max Latencies' not in headings:
        raise ValueError(f'no histogram of cyclictest: {text[:80]!r}')
    microseconds, counts = np.array(pairs, dtype=np.int64).T
    beyond = np.full(headings.get('Histogram Overflows', 0), microseconds[-1])
    beyond[-1:] = headings['Max Latencies']
    errors: Array = np.concatenate([np.repeat(microseconds, counts), beyond]) * 1e-6
    return errors
