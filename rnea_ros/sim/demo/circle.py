# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The circle of identification: excite, record, identify, write, start again with the result."""

from __future__ import annotations

from dataclasses import replace
import shutil
import sys

from ... import identification
from ...arrays import Array
from ...files import write_files
from ...identification import Identification, Run
from ...identification.excitation import RestToRestMotion
from ...identification.figures import figures
from ...identification.report import text
from ...recordings import bag_writer, recording_from
from ...urdf import read_urdf
from .arm import DemoRun
from .client import Received, positions
from .motion import exciting_motion, heaviest_pose
from .reports import Performance, draw_identification, identification_table
from .robot import POOR_MODEL, SEED, realistic
from .session import Session

HOLD = 1.0  # duration of gravity compensation, s: with a poor model the arm falls
TOLERANCE = 0.3  # of poses, rad or m: with a poor model the arm stays away from them
NEEDED_TRACKING_GAIN, NEEDED_DRIFT_GAIN = 5.0, 10.0  # RMS error and drift, before / after


class Circle:
    """One run of the circle, with the node's first model. Simulated time waits for the control."""

    def __init__(self, options: DemoRun) -> None:
        self._options, self._arm, self._output = options, options.arm, options.output
        self.robot = realistic(self._arm, POOR_MODEL)

    def run(self) -> int:
        """Run the circle; return the exit code."""
        print(f'{self.robot.difference} Simulated time waits for the control.')
        arm = self._arm
        excitation = exciting_motion(arm.model, arm.joints, arm.plan.pose, SEED)
        heavy = heaviest_pose(arm.model, excitation, arm.joints)
        before, excited = self._before(excitation, heavy)
        # The exciting motion stays as a bag; the user can identify it again with other options.
        bag = self._output / 'exciting_motion'
        shutil.rmtree(bag, ignore_errors=True)  # of an earlier run
        with bag_writer(bag, '/joint_states') as write:
            for message in excited.messages:
                write(message)
        fit = self._identified(excited, before)
        return self.report(before, self._after(heavy), fit)

    def _before(self, excitation: RestToRestMotion, heavy: Array) -> tuple[Performance, Received]:
        """Return the performance with the first model, and the recorded exciting motion."""
        print('starting the simulated robot, and the node with its first model ...')
        options = replace(self._options, output=self._output / 'before')
        with Session.started(options, self.robot, tolerance=TOLERANCE) as session:
            excited = session.follow(excitation, 'exciting motion').received
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
        path = self._output / 'identify_demo.png'
        draw_identification(path, before, after, fit, self._options.show)
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
