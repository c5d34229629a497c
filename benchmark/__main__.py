# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""``python -m benchmark``: the dynamics beside other libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
import os
import sys

from .contenders import (
    BATCH,
    CHECKED,
    INVERSE_DYNAMICS,
    MANY_SAMPLES,
    PINOCCHIO,
    SPECIALISED,
    SPECIALISED_BATCH,
    WORKSPACE,
    Pinocchio,
    mujoco_call,
    our_batches,
    our_calls,
)
from .pictures import draw_dynamics
from .report import duration, machine, progress, run, table, verdict
from .robots import Robot, robots_to_compare
from .timing import race

SAMPLES = 8192  # of a batch

TIMES_FASTER: Mapping[str, Mapping[str, Sequence[float]]] = {
    INVERSE_DYNAMICS: {
        CHECKED: (1.2, 1.2, 2.0), WORKSPACE: (3.0, 3.0, 3.0), SPECIALISED: (0.0, 5.0),
    },
    'gravity torques': {CHECKED: (1.2, 1.2, 2.0), WORKSPACE: (2.0, 2.0, 2.0)},
    'mass matrix': {CHECKED: (1.2, 1.2, 1.2), WORKSPACE: (1.5, 1.5, 2.0, 2.0)},
    'forward dynamics': {CHECKED: (1.0, 1.0, 1.0), WORKSPACE: (1.0, 1.0, 1.0)},
    'derivatives of the inverse dynamics': {CHECKED: (1.5, 1.5, 1.5), WORKSPACE: (1.5, 1.5, 1.5)},
    'derivatives of the forward dynamics': {CHECKED: (1.5, 1.5, 1.5), WORKSPACE: (1.5, 1.5, 1.5)},
    'regressor': {CHECKED: (1.0, 1.0, 1.0)},
    MANY_SAMPLES: {BATCH: (10.0, 10.0, 8.0), SPECIALISED_BATCH: (0.0, 25.0)},
}
"""Minimum speed relative to Pinocchio, with as many joints as :data:`JOINTS` says; 0: none."""

JOINTS = (6, 7, 32, 112)

@dataclass(frozen=True)
class Result:
    """A contender's time for one result, s, and how many times faster than Pinocchio it is."""

    quantity: str
    contender: str
    robot: Robot
    seconds: float
    ratio: float

    @property
    def name(self) -> str:
        """Quantity and contender."""
        return f'{self.quantity}: {self.contender}'

    @property
    def text(self) -> str:
        """Speed and time."""
        return f'{self.ratio:.3g} ({duration(self.seconds)})'

    @property
    def target(self) -> float:
        """The minimum speed relative to Pinocchio, 0 for none."""
        bounds = TIMES_FASTER.get(self.quantity, {}).get(self.contender, ())
        return dict(zip(JOINTS, bounds, strict=False)).get(self.robot.model.nv, 0.0)


@dataclass
class DynamicsBenchmark:
    """All that a run measures, on one core."""

    results: list[Result] = field(default_factory=list)

    def measure(self, quick: bool) -> str:
        """Measure everything; return the report."""
        rounds, on = 20 if quick else 300, machine()
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # to the end of the process
        for robot in robots_to_compare():
            progress(robot.title)
            pinocchio = Pinocchio(robot)
            calls = pinocchio.calls()
            calls[INVERSE_DYNAMICS].append(mujoco_call(robot))
            races = {
                quantity: ([*ours, *calls[quantity]], robot.states(), rounds)
                for quantity, ours in our_calls(robot).items()
            }
            batches = [*our_batches(robot, SAMPLES), pinocchio.batch(SAMPLES)]
            races[MANY_SAMPLES] = (batches, [robot.samples(SAMPLES)], rounds // 6)
            for quantity, (contenders, states, count) in races.items():
                self.results += [
                    Result(quantity, name, robot, *times)
                    for name, times in race(contenders, states, count, PINOCCHIO).items()
                ]
        return '\n\n'.join([
            f'Measured on one core of: {on}.',
            'Speed relative to Pinocchio (2 is twice as fast), and time per result:',
            table({(result.name, result.robot.title): result.text for result in self.results}),
            'Targets for the speed relative to Pinocchio (at least), in brackets:',
            table({
                (result.name, result.robot.title):
                f'{result.ratio:.3g} ({result.target:g}) {verdict(result.ratio >= result.target)}'
                for result in self.results if result.target
            }),
        ])


if __name__ == '__main__':
    benchmark = DynamicsBenchmark()
    sys.exit(run('measured', benchmark.measure, lambda: draw_dynamics(benchmark.results)))
