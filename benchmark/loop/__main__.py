# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""``python -m benchmark.loop``: the control loop beside a plain node and a bare loop."""

from __future__ import annotations

from dataclasses import dataclass, field
import os
import platform
import shutil
import subprocess
import sys

import numpy as np
import rclpy

from .. import BenchmarkError
from ..pictures import draw_loop
from ..report import machine, progress, run, table, verdict
from ..robots import Array
from .processes import own_domain
from .turn import (
    BARE,
    OURS,
    OURS_FIFO,
    PLAIN,
    PRIORITY,
    TRIGGERED,
    LoopContender,
    Turn,
    take_turn,
)

RATE = 1000.0  # Hz, of targets and picture
RATES = (250.0, 500.0, RATE, 2000.0)
CONTENDERS = (OURS, OURS_FIFO, TRIGGERED, PLAIN, BARE)
LATE = {False: 1e-4, True: 1e-3}  # share of late ticks, idle and under stress
CONDITIONS = {False: 'idle', True: 'under stress'}


@dataclass
class LoopBenchmark:
    """All that a run measures, each contender in a process of its own."""

    turns: list[Turn] = field(default_factory=list)

    def measure(self, quick: bool) -> str:
        """Measure everything; return the report."""
        on = ', '.join([
            machine(), f'{platform.system()} {platform.release()}',
            str(rclpy.get_rmw_implementation_identifier()),
            f'{os.getloadavg()[0]:.1f} processes already at work',
        ])
        contenders = [each for each in CONTENDERS if each is not OURS_FIFO or _may_be_fifo()]
        with own_domain():
            progress('compilation')
            take_turn(OURS, RATE, False, 0.5)
            for stress in CONDITIONS:
                for rate in (RATE,) if quick else RATES:
                    seconds = 2.0 if quick else 30.0 if rate == RATE else 6.0
                    for contender in (OURS,) if quick and stress else contenders:
                        self.turns.append(_turn(contender, rate, stress, seconds))
        parts = [f'Measured on: {on}.', f'Targets at {RATE:g} Hz:', table(self._targets())]
        for stress, name in CONDITIONS.items():
            cells = {
                (f'{turn.rate:g} Hz: {turn.contender.name}', column): text
                for turn in self.turns if turn.stress is stress
                for column, text in _texts(turn).items()
            }
            parts += [f'All times in \N{MICRO SIGN}s, {name}:', table(cells)]
        return '\n\n'.join(parts)

    def _targets(self) -> dict[tuple[str, str], str]:
        turns = {(t.contender, t.stress): t for t in self.turns if t.rate == RATE}
        ours, bare, plain = (turns[contender, False] for contender in (OURS, BARE, PLAIN))
        more, share = ours.cpu - bare.cpu, ours.cpu / plain.cpu
        targets = [
            ('CPU share', 'below 15%', f'{ours.cpu:.1%}', ours.cpu < 0.15),
            ('CPU share minus that of the bare loop', 'up to 10%', f'{more:.1%}', more <= 0.1),
            ('CPU share / that of the plain rclpy node', 'up to 1/3', f'{share:.2f}',
             share <= 1.0 / 3.0),
            ('process start to first command, warm cache', 'below 3 s', f'{ours.start:.2f} s',
             ours.start < 3.0),
        ]
        for (contender, stress), turn in turns.items():
            if contender in (OURS, OURS_FIFO):
                late, ticks = turn.lateness.late, turn.lateness.ticks
                targets.append((
                    f'{contender.name}, {CONDITIONS[stress]}: late ticks',
                    f'up to 1 in {1.0 / LATE[stress]:.0f}', f'{late} of {ticks}',
                    late <= LATE[stress] * ticks,
                ))
        cells = {}
        for what, bound, measured, reached in targets:
            cells[what, 'target'] = bound
            cells[what, 'measured'] = f'{measured} {verdict(reached)}'
        return cells


def _turn(contender: LoopContender, rate: float, stress: bool, seconds: float) -> Turn:
    """Return a turn; machines stall, so a failed one is repeated once."""
    progress(f'{contender.name}, {rate:g} Hz, {CONDITIONS[stress]}')
    try:
        return take_turn(contender, rate, stress, seconds)
    except BenchmarkError as error:
        progress(f'once more, because {error}')
        return take_turn(contender, rate, stress, seconds)


def _may_be_fifo() -> bool:
    command = shutil.which('chrt')
    return command is not None and subprocess.run(
        [command, '--fifo', str(PRIORITY), 'true'], capture_output=True
    ).returncode == 0


def _texts(turn: Turn) -> dict[str, str]:
    """Return the columns of a turn; times in us."""
    errors = dict.fromkeys(('error p50', 'p99', 'p99.9', 'max', 'late ticks'), '')
    if turn.contender is not TRIGGERED:
        lateness = turn.lateness
        texts = [*map(_microseconds, lateness.percentiles), f'{lateness.late} of {lateness.ticks}']
        errors = dict(zip(errors, texts, strict=True))
    return errors | {
        'latency p50, p99': _p50_and_p99(turn.latency),
        'tick p50, p99': _p50_and_p99(turn.compute),
        'CPU': f'{turn.cpu:.1%}',
        'memory': f'{turn.memory:.0f} MB',
    }


def _p50_and_p99(times: Array) -> str:
    return ', '.join(map(_microseconds, np.percentile(times, (50.0, 99.0)))) if times.size else ''


def _microseconds(seconds: float) -> str:
    return f'{seconds * 1e6:.0f}'


if __name__ == '__main__':
    benchmark = LoopBenchmark()
    sys.exit(run('loop', benchmark.measure, lambda: draw_loop(benchmark.turns, RATE)))
