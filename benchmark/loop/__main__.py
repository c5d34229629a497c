# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""``python -m benchmark.loop``: measure the control loop, print, and write the pages."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import os
import platform
import sys

import rclpy

from ..machine import machine
from ..page import DOCS, rewrite
from .arms import many_arms, start_up
from .child import ChildError
from .contenders import ECHO, OURS, Condition, LoopContender
from .domain import own_domain
from .effort import FULL, QUICK, LoopEffort
from .motion import motion
from .report import LoopRun, report
from .rounds import results_of, turns_of
from .turn import Turn, take_turn

PICTURE = 'control_loop.png'


def measure(effort: LoopEffort) -> LoopRun:
    """
    Measure everything, each contender in separate processes.

    :param effort: how long
    :raises ChildError: a process did not do what it must
    """
    on, states = loop_machine(), motion()
    with own_domain() as domain:
        def take(
            contender: LoopContender, rate: float, condition: Condition, seconds: float
        ) -> Turn:
            return take_turn(contender, rate, condition, seconds, states, domain)

        _tell('starts')
        start_up(OURS, 1, states, domain)  # fills the cache
        starts = {
            contender: start_up(contender, effort.starts, states, domain)
            for contender in (OURS, ECHO)
        }
        results = results_of(turns_of(effort.parts, take))
        arms = []
        for rate in effort.arm_rates:
            for count in effort.arms:
                _tell(f'{count} arms at {rate:g} Hz')
                arms.append(many_arms(count, rate, effort.arm_seconds, states, domain))
    return LoopRun(on, results, arms, starts)


def loop_machine() -> str:
    """Return what was measured on: the machine, its system, and what carries the messages."""
    return ', '.join([
        machine(),
        f'{platform.system()} {platform.release()}',
        str(rclpy.get_rmw_implementation_identifier()),
        f'{os.getloadavg()[0]:.1f} processes already at work',
    ])


def write(run: LoopRun) -> None:
    """Write the part of the page, and the picture."""
    from .pictures import draw

    rewrite('loop', report(run))
    draw(DOCS / PICTURE, run.results)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; return the exit status."""
    parser = argparse.ArgumentParser(prog='python -m benchmark.loop', description=__doc__)
    parser.add_argument('--quick', action='store_true', help='a short run; it writes nothing')
    parser.add_argument('--write', action='store_true', help='write benchmarks.md')
    options = parser.parse_args(arguments)
    try:
        run = measure(QUICK if options.quick else FULL)
    except ChildError as error:
        print(error, file=sys.stderr)
        return 1
    print(report(run))
    if options.write and not options.quick:
        write(run)
    return 0


def _tell(what: str) -> None:
    print(f'measuring: {what}', file=sys.stderr, flush=True)


if __name__ == '__main__':
    sys.exit(main())
