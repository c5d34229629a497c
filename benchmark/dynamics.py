# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The dynamics beside other libraries: races, starts of processes, targets and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
import os
import subprocess
import sys
import tempfile

from .contenders import (
    BATCH,
    CHECKED,
    PINOCCHIO,
    SPECIALISED,
    SPECIALISED_BATCH,
    WORKSPACE,
    Computation,
    Pinocchio,
    mujoco_call,
    our_batches,
    our_calls,
)
from .report import duration, machine, progress, table, verdict
from .robots import ROOT, STATES, Robot, robots_to_compare
from .timing import BenchmarkError, Contender, on_cores, race, usable_cores

ARM = 'Panda arm'  # the robot whose figures users compare
SAMPLES = 8192  # of a batch
STARTS = 5  # processes that start with a filled cache

COLUMNS = {
    CHECKED: 'checked call', BATCH: 'checked call', WORKSPACE: 'workspace',
    SPECIALISED: 'specialised', SPECIALISED_BATCH: 'specialised', PINOCCHIO: 'Pinocchio',
}
"""The columns that users compare, by contender."""

TIMES_FASTER: Mapping[tuple[Computation, str], Sequence[float]] = {
    (Computation.INVERSE_DYNAMICS, CHECKED): (1.2, 1.2, 2.0),
    (Computation.INVERSE_DYNAMICS, WORKSPACE): (3.0, 3.0, 3.0),
    (Computation.INVERSE_DYNAMICS, SPECIALISED): (0.0, 5.0),
    (Computation.GRAVITY, CHECKED): (1.2, 1.2, 2.0),
    (Computation.GRAVITY, WORKSPACE): (2.0, 2.0, 2.0),
    (Computation.MASS_MATRIX, CHECKED): (1.2, 1.2, 1.2),
    (Computation.MASS_MATRIX, WORKSPACE): (1.5, 1.5, 2.0, 2.0),
    (Computation.FORWARD_DYNAMICS, CHECKED): (1.0, 1.0, 1.0),
    (Computation.FORWARD_DYNAMICS, WORKSPACE): (1.0, 1.0, 1.0),
    (Computation.INVERSE_DERIVATIVES, CHECKED): (1.5, 1.5, 1.5),
    (Computation.INVERSE_DERIVATIVES, WORKSPACE): (1.5, 1.5, 1.5),
    (Computation.FORWARD_DERIVATIVES, CHECKED): (1.5, 1.5, 1.5),
    (Computation.FORWARD_DERIVATIVES, WORKSPACE): (1.5, 1.5, 1.5),
    (Computation.REGRESSOR, CHECKED): (1.0, 1.0, 1.0),
    (Computation.BATCH, BATCH): (10.0, 10.0, 8.0),
    (Computation.BATCH, SPECIALISED_BATCH): (0.0, 25.0),
}
"""Minimum speed relative to Pinocchio, with as many joints as :data:`JOINTS` says; 0: none."""

JOINTS = (6, 7, 32, 112)

START = """
import sys, time
begin = time.perf_counter()
import rnea_ros
model = rnea_ros.RobotModel.from_urdf(sys.argv[1])
model.inverse_dynamics(*[[0.0] * model.nv] * 3)
print(time.perf_counter() - begin)
"""
"""Prints the seconds to the first inverse dynamics."""

PLAIN_PYTHON = """
import sys, timeit, rnea_ros
model = rnea_ros.RobotModel.from_urdf(sys.argv[1])
call = lambda: model.inverse_dynamics(*[[0.5] * model.nv] * 3)
print(min(timeit.repeat(call, number=100)) / 100)
"""
"""Prints the seconds of an inverse dynamics."""


@dataclass(frozen=True)
class Result:
    """A contender's time for one result, s, and how many times faster than Pinocchio it is."""

    quantity: Computation
    contender: str
    robot: Robot
    seconds: float
    ratio: float

    @property
    def name(self) -> str:
        """Quantity and contender."""
        return f'{self.quantity.value}: {self.contender}'

    @property
    def text(self) -> str:
        """Speed and time."""
        return f'{self.ratio:.3g} ({duration(self.seconds)})'

    @property
    def target(self) -> float:
        """The minimum speed relative to Pinocchio, 0 for none."""
        bounds = TIMES_FASTER.get((self.quantity, self.contender), ())
        return dict(zip(JOINTS, bounds, strict=False)).get(self.robot.model.nv, 0.0)


@dataclass
class DynamicsBenchmark:
    """All that a run measures, on one core."""

    results: list[Result] = field(default_factory=list)

    def measure(self, quick: bool) -> str:
        """
        Measure everything; return the report.

        :raises BenchmarkError: contenders do not compute the same, or a process failed
        """
        rounds, on = 20 if quick else 300, machine()
        with on_cores({max(usable_cores())}):
            for robot in robots_to_compare():
                progress(robot.title)
                pinocchio = Pinocchio(robot)
                calls = pinocchio.calls()
                calls[Computation.INVERSE_DYNAMICS].append(mujoco_call(robot))
                for quantity, ours in our_calls(robot).items():
                    self._race(quantity, robot, [*ours, *calls[quantity]], STATES, rounds)
                contenders = [*our_batches(robot, SAMPLES), pinocchio.batch(SAMPLES)]
                self._race(Computation.BATCH, robot, contenders, SAMPLES, rounds // 6)
            progress('starts of processes')
            with tempfile.TemporaryDirectory() as cache:
                cold, *warm = (_python(START, NUMBA_CACHE_DIR=cache) for _ in range(1 + STARTS))
            plain = _python(PLAIN_PYTHON, RNEA_ROS_PURE_PYTHON='1')
        start = 'import, model and first inverse dynamics'
        processes = {
            (f'{start}, cold cache', 'UR5e'): f'{cold:.2f} s',
            (f'{start}, warm cache', 'UR5e'): f'{min(warm):.2f} s',
            ('inverse dynamics without numba', 'UR5e'): duration(plain),
        }
        return '\n\n'.join([f'Measured on one core of: {on}.', *self._tables(), table(processes)])

    def _race(
        self, quantity: Computation, robot: Robot, contenders: Sequence[Contender], count: int,
        rounds: int,
    ) -> None:
        batch = quantity is Computation.BATCH
        states = [robot.samples(count)] if batch else robot.states(count)
        times = race(contenders, states, rounds)
        self.results += [
            Result(quantity, name, robot, times.best(name), times.ratio(name, PINOCCHIO))
            for name in times.seconds
        ]

    def _tables(self) -> list[str]:
        return [
            f'{ARM}, speed relative to Pinocchio (2 is twice as fast), and time per result:',
            table({
                (result.quantity.value, COLUMNS[result.contender]): result.text
                for result in self.results
                if result.robot.name == ARM and result.contender in COLUMNS
            }),
            'All robots, speed relative to Pinocchio and time per result:',
            table({(result.name, result.robot.title): result.text for result in self.results}),
            'Targets for the speed relative to Pinocchio (at least), in brackets:',
            table({
                (result.name, result.robot.title):
                f'{result.ratio:.3g} ({result.target:g}) {verdict(result.ratio >= result.target)}'
                for result in self.results if result.target
            }),
            'A new process:',
        ]


def _python(code: str, **environment: str) -> float:
    """Return the number that a new process prints."""
    process = subprocess.run(
        [sys.executable, '-c', code, str(ROOT / 'urdf' / 'ur5e.urdf')], cwd=ROOT,
        env={**os.environ, **environment}, capture_output=True, text=True,
    )
    if process.returncode != 0:
        raise BenchmarkError(f'a new process failed: {process.stderr}')
    return float(process.stdout)
