# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Comparison of control laws: the same motion under three of them, with equal gains."""

from __future__ import annotations

from collections.abc import Sequence
import sys

import numpy as np

from ...node.publishers import TERMS
from .arm import DemoRun
from .client import positions
from .reports import comparison_table, draw_comparison
from .robot import GOOD_MODEL, perfect, realistic
from .session import Phase, Session

PHASES = (
    ('feedback', 'feedback only'),
    ('gravity_feedback', 'gravity + feedback'),
    ('computed_torque', 'computed torque'),
)
HOLD, MAX_DRIFT = 4.0, 0.1  # gravity compensation: duration, s; drift that ends it, rad or m
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
        path = self._options.output / 'demo.png'
        name, rate = self._options.arm.model.name, self._options.rate
        title = f'{name}: the same motion, the same gains, {rate:g} Hz'
        draw_comparison(path, phases, title, self._options.show)
        feedback, gravity, best = (phase.rms() for phase in phases)
        print(
            f'RMS error of computed torque: 1/{gravity / best:.1f} of gravity + feedback, '
            f'1/{feedback / best:.0f} of feedback only'
        )
        print(f'picture: {path.resolve()}')
        if not self._options.arm.shipped:
            needed = 1.0
        else:
            needed = NEEDED_GAIN_PERFECT if self._perfect else NEEDED_GAIN
        if gravity / best < needed:
            print(f'expected at most 1/{needed:g} of gravity + feedback', file=sys.stderr)
            return 1
        return 0
