# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The circle of identification: excite, record, identify, write, start again with the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
import shutil
import sys
from typing import TYPE_CHECKING

import numpy as np

from ... import identification
from ...arrays import Array
from ...command_line import Progress, elapsed_shown, text_table
from ...drawing import new_figure
from ...files import write_files
from ...identification import Identification, Run, excitation
from ...identification.excitation import RestToRestMotion
from ...identification.figures import figures
from ...identification.report import text
from ...recordings import bag_writer, recording_from
from ...robot import RobotModel
from ...urdf import read_urdf
from .arm import DemoRun
from .client import Received, positions
from .robot import POOR_MODEL, SEED, realistic
from .session import Phase, Session

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HOLD = 1.0  # duration of gravity compensation, s: with a poor model the arm falls
TOLERANCE = 0.3  # of poses, rad or m: with a poor model the arm stays away from them
EXCITATION = 30.0  # duration of the exciting motion, s: three periods
EVALUATIONS = 1500  # of the search of the exciting motion: the same motion on every computer
MAX_SEARCH = 120.0  # processor time for it, s
MIN_ERROR = 0.05  # lower end of the drawn errors, mrad
NEEDED_TRACKING_GAIN, NEEDED_DRIFT_GAIN = 5.0, 10.0  # RMS error and drift, before / after


@dataclass(frozen=True)
class Performance:
    """Performance of the control with one model."""

    time: Array  # since the start of gravity compensation, shape (N,), s
    deviation: Array  # of the joints from then on, shape (N, m), rad or m
    phase: Phase  # the motion under computed torque

    @property
    def drift(self) -> float:
        """Greatest deviation under gravity compensation, rad or m."""
        return float(np.abs(self.deviation).max())


class Circle:
    """One run of the circle, with the node's first model. Simulated time waits for the control."""

    def __init__(self, options: DemoRun) -> None:
        self._options, self._arm, self._output = options, options.arm, options.output
        self.robot = realistic(self._arm, POOR_MODEL)

    def run(self) -> int:
        """Run the circle; return the exit code."""
        print(f'{self.robot.difference} Simulated time waits for the control.')
        arm = self._arm
        exciting = exciting_motion(arm.model, arm.joints, arm.plan.pose, SEED)
        heavy = heaviest_pose(arm.model, exciting, arm.joints)
        before, excited = self._before(exciting, heavy)
        # The exciting motion stays as a bag; the user can identify it again with other options.
        bag = self._output / 'exciting_motion'
        shutil.rmtree(bag, ignore_errors=True)  # of an earlier run
        with bag_writer(bag, '/joint_states') as write:
            for message in excited.messages:
                write(message)
        fit = self._identified(excited, before)
        return self.report(before, self._after(heavy), fit)

    def _before(self, exciting: RestToRestMotion, heavy: Array) -> tuple[Performance, Received]:
        """Return the performance with the first model, and the recorded exciting motion."""
        print('starting the simulated robot, and the node with its first model ...')
        options = replace(self._options, output=self._output / 'before')
        with Session.started(options, self.robot, tolerance=TOLERANCE) as session:
            excited = session.follow(exciting, 'exciting motion').received
            return self._performance(session, 'before', heavy), excited

    def _after(self, heavy: Array) -> Performance:
        """Return the performance with what was written."""
        print('starting again, the node with identified.urdf and identified.yaml ...')
        arm = replace(self._arm, urdf=read_urdf(self._output / 'identified.urdf'))
        robot = replace(self.robot, control={'friction.velocity': 'desired'})
        options = replace(self._options, arm=arm, output=self._output / 'after')
        files = [self._output / 'identified.yaml']
        with Session.started(options, robot, files=files, tolerance=TOLERANCE) as session:
            return self._performance(session, 'after', heavy)

    def _performance(self, session: Session, title: str, heavy: Array) -> Performance:
        """Follow the motion, then hold; the arm may fall, so nothing comes after it."""
        phase = session.follow(self._arm.plan.motion, title)
        session.move_to(heavy)
        stamps, measured = positions(session.hold(HOLD).states, self._arm.joints)
        during = stamps <= stamps[0] + HOLD
        return Performance(stamps[during] - stamps[0], measured[during] - measured[0], phase)

    def _identified(self, excited: Received, before: Performance) -> Identification:
        """Identify the robot from the exciting motion, judge it on the other, write it."""
        print('identifying the robot ...')
        with elapsed_shown('identifying'):
            fit = identification.identify(
                self._arm.model, self._run(excited, 'exciting motion'),
                validate=self._run(before.phase.received, "the demo's motion")
            )
        report = text(figures(fit))
        verdict, _, _ = report.partition('\n\n')
        print(verdict)
        write_files({
            self._output / 'identified.txt': f'{report}\n',
            self._output / 'identified.urdf': fit.urdf()[0],
            self._output / 'identified.yaml': fit.parameter_file(),
        })
        return fit

    def _run(self, received: Received, name: str) -> Run:
        recording = recording_from(received.states).of_joints(self._arm.joints)
        return identification.run_from(recording, self._arm.model, name=name)

    def report(self, before: Performance, after: Performance, fit: Identification) -> int:
        """Print the table, draw the picture; return 1 if the arm gains too little, or is worse."""
        print(f'\n{identification_table(before, after)}\n')
        draw_identification(self._options, before, after, fit)
        print(f'URDF, parameters, report, bag and picture: {self._output.resolve()}')
        tracking = before.phase.rms() / after.phase.rms()
        drift = before.drift / after.drift
        if tracking >= NEEDED_TRACKING_GAIN and drift >= NEEDED_DRIFT_GAIN:
            return 0
        usual = f'1/{NEEDED_TRACKING_GAIN:g} of the RMS error, 1/{NEEDED_DRIFT_GAIN:g} of drift'
        if self._arm.shipped or tracking < 1.0:
            needed = f'at most {usual}' if self._arm.shipped else 'no larger RMS error than before'
            print(f'expected {needed}', file=sys.stderr)
            return 1
        print(
            f'gained: 1/{tracking:.1f} of the RMS error, 1/{drift:.1f} of the drift; the shipped '
            f'arms gain {usual} or more.\nOften friction of gears limits it: it holds the arm '
            'against errors of the weight before, and its changes remain after.'
        )
        return 0


def exciting_motion(
    model: RobotModel, joints: Sequence[str], pose: Array, seed: int
) -> RestToRestMotion:
    """Return a motion of all joints from the pose and back to it, within the URDF's limits."""
    print('searching an exciting motion ...')
    progress = Progress()
    found = excitation.excite(
        model, excitation.JointLimits.of(model),
        start=dict(zip(joints, pose.tolist(), strict=True)), joints=joints, duration=EXCITATION,
        seconds=MAX_SEARCH, evaluations=EVALUATIONS, seed=seed, progress=progress.share
    )
    progress.end()
    print(
        f'condition number of the base parameters: {found.condition:.0f}, '
        f'of random motions {found.random_condition:.0f}'
    )
    return found.motion


def heaviest_pose(model: RobotModel, motion: RestToRestMotion, joints: Sequence[str]) -> Array:
    """Return the pose of a motion with the greatest gravity torques, shape (m,), rad or m."""
    weight = np.linalg.norm(model.gravity_torques_batch(motion.positions), axis=1)
    pose: Array = motion.of_joints(joints).positions[np.argmax(weight)]
    return pose


def identification_table(before: Performance, after: Performance) -> str:
    """Return drift and tracking errors before and after as a table of text."""
    unit, rows = before.phase.unit, [('', 'before', 'after', 'ratio')]
    for label, old, new in (
        (f'drift in {before.time[-1]:.1f} s, gravity only', before.drift, after.drift),
        ('RMS error of the motion', before.phase.rms(), after.phase.rms()),
        ('peak error of the motion', before.phase.peak(), after.phase.peak()),
    ):
        ratio = f'1/{old / new:.0f}'
        rows.append((label, f'{1e3 * old:.2f} {unit}', f'{1e3 * new:.2f} {unit}', ratio))
    return text_table(rows, left=(0,))


def draw_identification(
    options: DemoRun, before: Performance, after: Performance, fit: Identification
) -> None:
    """Draw drift and tracking errors before and after, and efforts of one joint."""
    figure, unit = new_figure(10.0, 10.0, window=options.show), before.phase.unit
    drift, errors, efforts = axes = figure.subplots(3, 1)
    for performance, model in ((before, 'first model'), (after, 'identified model')):
        phase = performance.phase
        for axis, t, deviation in (
            (drift, performance.time, performance.deviation),
            (errors, *phase.errors()),
        ):
            greatest = 1e3 * np.abs(deviation).max(axis=1)
            axis.semilogy(t, np.maximum(greatest, MIN_ERROR), label=model, lw=1.0)
    drift.set(ylabel=f'drift, {unit}', title='gravity compensation: greatest drift of any joint')
    errors.set(ylabel=f'error, {unit}', title='computed torque: greatest error of any joint')
    for axis in (drift, errors):
        axis.yaxis.set_major_formatter('{x:g}')
    _draw_efforts(efforts, fit)
    for axis in axes:
        axis.set_xlabel('time, s')
        axis.margins(x=0.01)
    figure.suptitle(f'{fit.prior.name}, before and after its identification')
    options.save(figure, axes, 'identify_demo.png')


def _draw_efforts(axis: Axes, fit: Identification) -> None:
    """Draw the efforts of the joint whose error has decreased most."""
    compared = fit.comparison
    joint = int(np.nanargmax(compared.urdf.rms - compared.identified.rms))
    run = compared.held_out[0]
    t = run.time - run.time[0]
    for predicted, label in (
        (compared.urdf.predicted, 'first URDF'),
        (compared.identified.predicted, 'identified model'),
    ):
        axis.plot(t, predicted[0][:, joint], label=label)
    axis.plot(t, run.effort[:, joint], 'k:', label='measured')
    name = fit.prior.joint_names[joint]
    axis.set(ylabel=f'{name}, N m or N', title='effort of the same motion, which was not fitted')
