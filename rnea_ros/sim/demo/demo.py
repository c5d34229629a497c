# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Demo: a simulated arm under torque control, in separate processes with ROS 2 topics.

The arm is held by gravity compensation. Then it follows a demanding motion three times with equal
gains: feedback only, gravity compensation and feedback, computed torque. The simulated robot
differs from the node's model as a real robot does. The demo prints and draws the tracking errors.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
import os
from pathlib import Path
import sys
import time
import warnings

import numpy as np
import rclpy

from ...command_line import BAD_INPUT, OneLineParser, tool
from ...drawing import require_matplotlib
from ...errors import RneaError, UrdfWarning
from ...feedforward.trajectory import TrajectoryPoint
from ...resources import share_path
from ...robot import RobotModel
from ...urdf import parse_urdf, read_urdf
from ..start_position import USUAL, start_position
from .client import DemoClient, DemoError, Recording
from .motion import KD, KP, Motion, inertias
from .processes import Processes
from .report import Phase, picture, table
from .robot import perfect, realistic

PHASES = (
    ('feedback', 'feedback only'),
    ('gravity_feedback', 'gravity + feedback'),
    ('computed_torque', 'computed torque'),
)
HOLD = 4.0
"""Duration of holding the arm by gravity compensation, s."""

RETURN = 3.0
"""Duration of the return to the start pose, s."""

BLEND = 0.5
"""Duration of the blending of control laws, s."""

LEAD = 0.3
"""Time between sending a motion and the change of the control law, s."""

ARRIVED, ARRIVAL_CHECKS = 0.02, 30
"""Tolerance of the start pose, rad or m; greatest number of checks."""

ROBOTS = ('panda', 'panda_arm', 'ur5e')
"""The robots that come with the package."""

SEED = 1
"""Seed of the differences between robot and model."""

NEEDED_GAIN, NEEDED_GAIN_PERFECT = 1.5, 10.0
"""Required ratio of tracking errors, gravity + feedback to computed torque; perfect model."""


class Demo:
    """
    One run of the demo.

    :param options: options of the command line
    """

    def __init__(self, options: argparse.Namespace) -> None:
        require_matplotlib()  # fail before the motion, not at its end
        self._options = options
        self._output = Path(options.output)
        self._output.mkdir(parents=True, exist_ok=True)
        urdf = Path(options.urdf) if options.urdf else share_path(f'urdf/{options.robot}.urdf')
        self._urdf = urdf.resolve()
        text = read_urdf(self._urdf)
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', UrdfWarning)  # the node logs them
            model = RobotModel.from_urdf(text)
        # A hand has its own controller; the joints of the arms have usual positions.
        arm = tuple(name for name in model.joint_names if name in USUAL)
        joints = model.joint_names if options.urdf else arm
        self._joints = joints
        description = parse_urdf(text)
        self._pose = np.array([start_position(description.joints[name]) for name in joints])
        if options.perfect_model:
            self._robot = perfect(text, joints)
        else:
            self._robot = realistic(text, model, joints, SEED)
        self._inertias = inertias(model, joints, self._pose) + self._robot.armature
        self._motion = Motion.for_robot(model, joints, self._pose, options.seconds)
        self._processes = Processes(self._output)
        self._name = model.name
        self._model_text = text

    def run(self) -> int:
        """Run all phases; return the exit code."""
        print(f'{self._name}: {len(self._joints)} joints, {self._options.rate:g} Hz')
        print(self._robot.difference)
        with self._started() as client:
            client.wait_until_active()
            self._hold(client)
            phases = [self._follow(client, mode, title) for mode, title in PHASES]
        return self.report(phases)

    @contextmanager
    def _started(self) -> Iterator[DemoClient]:
        """Start simulator, node and client; stop them in any case."""
        print('starting the simulated robot and the feedforward node ...')
        try:
            self._processes.start(
                'simulated_robot',
                'rnea_ros.sim.simulated_robot',
                {
                    **self._robot.simulation,
                    'robot_description': self._robot.urdf,
                    'joints': list(self._joints),
                    'initial_positions': self._pose.tolist(),
                },
            )
            self._processes.start(
                'feedforward_node',
                'rnea_ros.node.feedforward_node',
                {
                    **self._robot.control,
                    'robot_description': self._model_text,
                    'rate': float(self._options.rate),
                    'hardware_compensates': ['none'],
                    'ramp_duration': BLEND,
                    # The simulator may stall on a busy computer.
                    'joint_states_timeout': 0.25,
                },
            )
            rclpy.init(args=[])
            client = DemoClient(self._joints, self._processes.check)
            try:
                yield client
            finally:
                client.close()
                rclpy.try_shutdown()
        finally:
            self._processes.stop()

    def _hold(self, client: DemoClient) -> None:
        recording = client.record(time.time() + HOLD)
        positions = np.array(recording.positions)
        drift = 1e3 * float(np.abs(positions - positions[0]).max())
        print(f'held by gravity compensation for {HOLD:g} s: drift {drift:.3f} mrad')

    def _follow(self, client: DemoClient, mode: str, title: str) -> Phase:
        """Move to the start pose, change the control law, follow the motion."""
        self._return(client)
        # Send before the change: a motion must start near the robot; with feedback only it sags.
        start = time.time() + LEAD + BLEND
        client.send(self._motion.points(), start)
        client.record(time.time() + LEAD)
        self._set_law(client, mode)
        late = int(client.diagnostics['late_ticks'])
        rates, shares = [], []

        def progress(recording: Recording) -> None:
            if client.diagnostics['reason']:
                raise DemoError(f'the control ended: {client.diagnostics["reason"]}')
            rates.append(float(client.diagnostics['achieved_rate']))
            shares.append(float(client.diagnostics['cpu_share']))
            self._print_progress(title, recording, start)

        recording = client.record(start + self._motion.duration, progress)
        print()
        rejected = [key for key in client.diagnostics if key.startswith('count/joint_trajectory')]
        if rejected:
            raise DemoError(f'the node rejected a trajectory: {", ".join(rejected)}')
        return Phase(
            title,
            recording,
            start,
            float(np.mean(rates)),
            int(client.diagnostics['late_ticks']) - late,
            float(np.mean(shares)),
        )

    def _return(self, client: DemoClient) -> None:
        """Move to the start pose from any pose, by computed torque."""
        self._set_law(client, 'computed_torque')
        zero = np.zeros(len(self._joints))
        back = TrajectoryPoint(RETURN, self._pose, zero, zero)
        client.send([back])
        client.record(time.time() + RETURN)
        for _ in range(ARRIVAL_CHECKS):
            positions = client.record(time.time() + LEAD).positions
            if positions and np.abs(positions[-1] - self._pose).max() < ARRIVED:
                return
        raise DemoError('the arm did not return to its start pose')

    def _set_law(self, client: DemoClient, mode: str) -> None:
        """
        Change the control law, with equal stiffness and damping for all laws.

        Computed torque multiplies its gains by the mass matrix. The gains of the other laws are
        multiplied by the inertias of the joints here.
        """
        scale = np.ones(len(self._joints)) if mode == 'computed_torque' else self._inertias
        client.set_law(mode, KP * scale, KD * scale)

    def _print_progress(self, title: str, recording: Recording, start: float) -> None:
        t = recording.stamps[-1] - start
        if t < 0.0:
            return
        reference, _, _ = self._motion.state(np.array([t]))
        error = 1e3 * float(np.abs(recording.positions[-1] - reference).max())
        line = f'{title:<20} {t:5.1f} of {self._motion.duration:.0f} s, error {error:8.2f} mrad'
        print(f'\r{line}', end='', flush=True)

    def report(self, phases: Sequence[Phase]) -> int:
        """
        Print the table and draw the picture.

        :param phases: feedback only, gravity + feedback, computed torque
        :return: exit code, 1 if computed torque improves the tracking too little
        """
        motion = self._motion
        print(f'\n{table(phases, motion)}\n')
        path = self._output / 'demo.png'
        show = not self._options.headless and bool(os.environ.get('DISPLAY'))
        title = f'{self._name}: the same motion, the same gains, {self._options.rate:g} Hz'
        picture(path, phases, motion, title, show)
        feedback, gravity, best = (phase.rms(motion) for phase in phases)
        print(
            f'RMS error of computed torque: 1/{gravity / best:.1f} of gravity + feedback, '
            f'1/{feedback / best:.0f} of feedback only'
        )
        print(f'picture: {path.resolve()}')
        needed = NEEDED_GAIN_PERFECT if self._options.perfect_model else NEEDED_GAIN
        if gravity / best < needed:
            print(f'expected at most 1/{needed:g} of gravity + feedback', file=sys.stderr)
            return 1
        return 0


@tool
def main(args: list[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = OneLineParser(prog='demo', description=__doc__)
    parser.add_argument('--robot', choices=ROBOTS, default='panda', help='shipped robot')
    parser.add_argument('--urdf', help='URDF of another robot')
    parser.add_argument('--rate', type=float, default=500.0, help='control rate, Hz')
    parser.add_argument('--seconds', type=float, default=10.0, help='length of the motion, s')
    parser.add_argument(
        '--perfect-model', action='store_true', help="use a robot equal to the node's model"
    )
    parser.add_argument('--headless', action='store_true', help='open no window')
    parser.add_argument('--output', default='demo_output', help='directory of picture and logs')
    options = parser.parse_args(args)
    if not 50.0 <= options.rate <= 2000.0:
        parser.error(f'--rate {options.rate:g} is not between 50 and 2000 Hz')
    if not 2.0 <= options.seconds <= 600.0:
        parser.error(f'--seconds {options.seconds:g} is not between 2 and 600 s')
    # No communication with other computers and ROS domains.
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
    try:
        demo = Demo(options)
    except (RneaError, OSError) as error:
        print(f'demo: {error}', file=sys.stderr)
        return BAD_INPUT
    try:
        return demo.run()
    except BrokenPipeError:
        raise  # for :func:`.tool`
    except (RneaError, OSError) as error:
        print(f'demo: {error}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print('\ninterrupted')
        return 130


if __name__ == '__main__':
    sys.exit(main())
