# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Comparison of control laws: the same motion under three of them, with equal gains."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
import sys

import numpy as np

from ...command_line import text_table
from ...drawing import new_figure
from ...node.publishers import TERMS
from .arm import DemoRun
from .client import positions
from .robot import GOOD_MODEL, perfect, realistic
from .session import Phase, Session

PHASES = (
    ('feedback', 'feedback only'),
    ('gravity_feedback', 'gravity + feedback'),
    ('computed_torque', 'computed torque'),
)
HOLD, MAX_DRIFT = 4.0, 0.1  # gravity compensation: duration, s; drift that ends it, rad or m
MIN_ERROR = 0.05  # lower end of the drawn errors, mrad
MAX_GAP = 0.1  # between drawn terms of the effort, s
NEEDED_GAIN, NEEDED_GAIN_PERFECT = 1.5, 10.0  # error of gravity + feedback / computed torque


class LawComparison:
    """One run of the comparison, with a simulated robot that equals the node's model or not."""

    def __init__(self, options: DemoRun, *, perfect_model: bool = False) -> None:
        self._options, arm = options, options.arm
        self._perfect = perfect_model
        self.robot = perfect(arm) if perfect_model else realistic(arm, GOOD_MODEL)

    def run(self) -> int:
        """Run all phases; return the exit code."""
        hint = '' if self._perfect else ' Without these differences: --perfect-model.'
        print(f'{self.robot.difference}{hint}')
        if not self._options.real_time:
            print('Simulated time waits for the control. With the clock: --real-time.')
        print('starting the simulated robot and the feedforward node ...')
        with Session.started(self._options, self.robot, terms=TERMS) as session:
            held = session.hold(HOLD, MAX_DRIFT).states
            stamps, measured = positions(held, self._options.arm.joints)
            drift, time = 1e3 * float(np.abs(measured - measured[0]).max()), np.ptp(stamps)
            why = '' if time > HOLD - 0.1 else ' (errors of the model exceed the friction)'
            print(
                f'held by gravity compensation for {time:.1f} s: drift {drift:.3f} '
                f'{self._options.arm.unit}{why}'
            )
            phases = [self._follow(session, mode, title) for mode, title in PHASES]
        return self.report(phases)

    def _follow(self, session: Session, mode: str, title: str) -> Phase:
        """Follow the motion under one law, with equal stiffness and damping for all laws."""
        plan = self._options.arm.plan
        # Computed torque itself multiplies its gains by the mass matrix.
        scale = 1.0 if mode == 'computed_torque' else plan.inertia
        return session.follow(plan.motion, title, mode, (scale * plan.kp, scale * plan.kd))

    def report(self, phases: Sequence[Phase]) -> int:
        """Print the table, draw the picture; return 1 if computed torque improves too little."""
        print(f'\n{comparison_table(phases, timing=self._options.real_time)}\n')
        path = draw_comparison(self._options, phases)
        feedback, gravity, best = (phase.rms() for phase in phases)
        print(
            f'RMS error of computed torque: 1/{gravity / best:.1f} of gravity + feedback, '
            f'1/{feedback / best:.0f} of feedback only'
        )
        print(f'picture: {path}')
        if not self._options.arm.shipped:
            needed = 1.0
        else:
            needed = NEEDED_GAIN_PERFECT if self._perfect else NEEDED_GAIN
        if gravity / best < needed:
            print(f'expected at most 1/{needed:g} of gravity + feedback', file=sys.stderr)
            return 1
        return 0


def comparison_table(phases: Sequence[Phase], *, timing: bool) -> str:
    """Return the phases as a table of text; the timing of the control needs real time."""
    header = ('phase', 'RMS error', 'peak error')
    rows: list[tuple[str, ...]] = [(*header, 'rate', 'late ticks', 'CPU') if timing else header]
    for phase in phases:
        errors = (f'{1e3 * error:.2f} {phase.unit}' for error in (phase.rms(), phase.peak()))
        times = (f'{phase.rate:.1f} Hz', str(phase.late), f'{100.0 * phase.cpu:.1f} %')
        rows.append((phase.title, *errors, *(times if timing else ())))
    return text_table(rows, left=(0,))


def draw_comparison(options: DemoRun, phases: Sequence[Phase]) -> Path:
    """Draw positions, errors and the terms of the last phase's effort."""
    motion = phases[0].motion
    title = f'{options.arm.model.name}: the same motion, the same gains, {options.rate:g} Hz'
    joint = int(np.argmax([np.abs(phases[0].errors()[1]).max(axis=0)]))
    name = phases[0].joints[joint]
    figure = new_figure(10.0, 11.0, window=options.show)
    tracking, errors, efforts = axes = figure.subplots(3, 1, sharex=True)

    t = np.linspace(0.0, motion.duration, 1000)
    reference = motion.of_joints([name]).at(t)[0]
    tracking.plot(t, reference, 'k:', label='reference', zorder=10)
    for phase in phases:
        times, error = phase.errors()
        measured = motion.of_joints([name]).at(times)[0][:, 0] + error[:, joint]
        tracking.plot(times, measured, label=phase.title)
        norm = 1e3 * np.abs(error).max(axis=1)
        errors.semilogy(times, np.maximum(norm, MIN_ERROR), label=phase.title)
    tracking.set(ylabel=f'{name}, rad or m', title=title)
    errors.set(ylabel=f'greatest error of any joint, {phases[0].unit}')

    last = phases[-1]
    for term, rows in last.received.terms.items():
        times = np.array([row[0] for row in rows]) - last.start
        during = (times >= 0.0) & (times <= motion.duration)
        values = np.array([row[1] for row in rows])[during, joint]
        if values.any():  # a zero term would hide the others
            times = times[during]
            lost = np.flatnonzero(np.diff(times) > MAX_GAP) + 1  # messages: no line across them
            efforts.plot(
                np.insert(times, lost, np.nan), np.insert(values, lost, np.nan), label=term
            )
    efforts.set(ylabel=f'effort of {name}, N m or N', title=f'terms of the effort, {last.title}')
    efforts.set(xlabel='time, s')
    return options.save(figure, axes, 'demo.png')
