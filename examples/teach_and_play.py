# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Teach and play back: a simulated hand guides the weightless arm, which then repeats the motion.

The hand's path is the demo's motion. The motion is taught from the recorded joint states, as by
the tool teach. Options are those of the demo, such as --robot, --urdf and --output.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
import sys

import numpy as np

from rnea_ros.command_line import text_table
from rnea_ros.drawing import new_figure
from rnea_ros.recordings import recording_from
from rnea_ros.sim.demo.arm import DemoRun
from rnea_ros.sim.demo.demo import main
from rnea_ros.sim.demo.robot import GOOD_MODEL, realistic
from rnea_ros.sim.demo.session import Phase, Session
from rnea_ros.teach import MotionLimits, Taught, demonstration, report, smoothed
from rnea_ros.trajectory_check import Quantity, TrajectoryLimits

TOLERANCE = 0.01  # distance of the smoothed motion from the recording, rad or m
PACE = 0.7  # speed of the hand, as a share of the plan's motion
KP = 1600.0  # least gain of computed torque, 1/s^2: stiffer than the plan's
NEEDED = 0.005  # greatest error of the played motion of a shipped arm, rad
USED = (Quantity.VELOCITY, Quantity.ACCELERATION, Quantity.EFFORT)


class Program:
    """One run of teach and play back, in simulated time."""

    def __init__(self, options: DemoRun) -> None:
        self._options, self._arm = options, options.arm
        self.robot, model = realistic(self._arm, GOOD_MODEL), self._arm.model
        positions = dict(zip(model.joint_names, model.neutral_position.tolist(), strict=True))
        idle = {name: q for name, q in positions.items() if name not in self._arm.joints}
        self._limits = MotionLimits.of(model, TrajectoryLimits.of_model(model), idle)

    def run(self) -> int:
        """Guide, teach, play; return the exit code."""
        print(f'{self.robot.difference} Simulated time waits for the control.')
        print('starting the simulated robot and the feedforward node ...')
        with Session.started(self._options, self.robot) as session:
            print('a hand guides the weightless arm ...')
            guided = recording_from(session.guide(self._arm.plan.motion.slowed(PACE)).states)
            shown = demonstration(guided, self._limits.limits, self._arm.joints)
            taught = smoothed(shown, self._limits, TOLERANCE)
            print(report(taught, self._limits.limits))
            # Stiff only from rest: limits of effort and rate would keep a caught arm swinging.
            plan = replace(self._arm.plan, kp=np.maximum(self._arm.plan.kp, KP))
            played = session.follow(taught.motion, 'played', gains=(plan.kp, plan.kd))
        return self.report(taught, played)

    def report(self, taught: Taught, played: Phase) -> int:
        """Print the table, draw the picture; return 1 if a limit or an error is exceeded."""
        checked = self._limits.check(taught.motion)
        assert checked.figures is not None  # a motion from rest to rest
        shares = {(peak.joint, peak.quantity): peak.share for peak in checked.figures.peaks}
        error = np.abs(played.errors()[1]).max(axis=0)
        rows = [('joint', 'smoothed by', *(each.value for each in USED), 'played within')]
        for joint, moved, missed in zip(self._arm.joints, taught.deviation, error, strict=True):
            unit = f'm{self._limits.limits.unit(joint, Quantity.POSITION)}'
            used = [shares[joint, quantity] for quantity in USED]
            rows.append((
                joint, f'{1e3 * moved:.2f} {unit}',
                *('-' if share is None else f'{abs(share):.0%}' for share in used),
                f'{1e3 * missed:.2f} {unit}',
            ))
        print(f'\n{text_table(rows, left=(0,))}\n')
        print('velocity, acceleration, effort: shares of the limits that the motion uses')
        print(f'picture: {self._draw(taught, played)}')
        if checked.violations or (self._arm.shipped and error.max() > NEEDED):
            print('expected a motion within its limits, played within 5 mrad', file=sys.stderr)
            return 1
        return 0

    def _draw(self, taught: Taught, played: Phase) -> Path:
        """Draw the joint that moves most, and the errors of all joints."""
        shown, joints, unit = taught.demonstration, self._arm.joints, self._arm.unit
        reference = taught.motion.of_joints(joints)
        smooth = reference.at(shown.time)[0]
        most = int(np.ptp(smooth, axis=0).argmax())
        times, errors = played.errors()
        repeated = reference.at(times)[0] + errors
        figure = new_figure(10.0, 9.0, window=self._options.show)
        motion, smoothing, playing = axes = figure.subplots(3, 1, sharex=True)
        motion.plot(shown.time, shown.position[:, most], color='0.7', lw=4.0, label='guided')
        motion.plot(shown.time, smooth[:, most], label='taught')
        motion.plot(times, repeated[:, most], 'k:', label='played')
        motion.set(ylabel=f'{joints[most]}, rad or m', title=self._arm.model.name)
        for joint, name in enumerate(joints):
            apart = 1e3 * (smooth - shown.position)[:, joint]
            smoothing.plot(shown.time, apart, label=name, lw=1.0)
            playing.plot(times, 1e3 * errors[:, joint], label=name, lw=1.0)
        smoothing.set(ylabel=unit, title='taught beside guided')
        playing.set(ylabel=unit, title='played beside taught', xlabel='time, s')
        return self._options.save(figure, axes, 'teach_demo.png')


if __name__ == '__main__':
    sys.exit(main(['--teach', *sys.argv[1:]]))
