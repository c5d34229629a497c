# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""``python -m benchmark``: measure, print, and write the pages."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
import sys

from .compare import Result, batches, memory_of_calls, single_calls
from .contenders import PINOCCHIO, Computation
from .effort import FULL, QUICK, Effort
from .growth import growth
from .machine import machine
from .others import missing
from .page import DOCS, rewrite
from .processes import plain_python, start_up
from .report import BenchmarkRun, report
from .robots import Robot, robots_to_compare
from .timing import DisagreementError, on_cores, usable_cores

PLAIN_PYTHON = 'rnea_ros without numba'


def measure(effort: Effort) -> BenchmarkRun:
    """
    Measure everything, on one core.

    :param effort: how long
    :raises DisagreementError: contenders do not compute the same
    """
    on, cores = machine(), usable_cores()
    with on_cores({max(cores)}):
        robots = robots_to_compare()
        results = []
        for robot in robots:
            _tell(f'{robot.name}, {robot.joints} joints')
            results += single_calls(robot, effort)
            results += batches(robot, effort, cores)
        _tell('without numba')
        results += _without_numba(robots, results)
        memory = memory_of_calls(robots[-1])
        _tell('growing chains')
        grown = growth(effort)
        start = None
        if effort.starts:
            _tell('starts of processes')
            start = start_up(effort.starts)
    return BenchmarkRun(on, missing(), robots, results, memory, grown, start)


def _without_numba(robots: list[Robot], results: Sequence[Result]) -> list[Result]:
    """Return checked inverse dynamics as plain Python, beside Pinocchio's time in this process."""
    quantity = Computation.INVERSE_DYNAMICS
    pinocchio = {
        result.joints: result.seconds for result in results
        if (result.quantity, result.contender) == (quantity, PINOCCHIO)
    }
    return [
        Result(quantity, PLAIN_PYTHON, robot.joints, seconds, pinocchio[robot.joints] / seconds)
        for robot, seconds in zip(robots, plain_python(robots), strict=True)
    ]


def write(run: BenchmarkRun, directory: Path) -> None:
    """
    Write the measured part of the page, and the pictures.

    :param run: what was measured
    :param directory: of the documents
    """
    from .pictures import draw_comparison, draw_growth

    rewrite('measured', report(run), directory)
    draw_comparison(directory / 'performance.png', run.results, run.robots)
    draw_growth(directory / 'cost.png', run.growth)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; return the exit status."""
    parser = argparse.ArgumentParser(prog='python -m benchmark', description=__doc__)
    parser.add_argument('--quick', action='store_true', help='a short run; it writes nothing')
    parser.add_argument('--write', action='store_true', help='write benchmarks.md')
    options = parser.parse_args(arguments)
    try:
        run = measure(QUICK if options.quick else FULL)
    except DisagreementError as error:
        print(f'The contenders do not compute the same: {error}', file=sys.stderr)
        return 1
    print(report(run))
    if options.write and not options.quick:
        write(run, DOCS)
    return 0


def _tell(what: str) -> None:
    print(f'measuring: {what}', file=sys.stderr, flush=True)


if __name__ == '__main__':
    sys.exit(main())
