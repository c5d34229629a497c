# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Demo: a simulated arm under torque control, in separate processes with ROS 2 topics.

The arm is held by gravity compensation. Then it follows a demanding motion three times with equal
gains: feedback only, gravity compensation and feedback, computed torque. The simulated robot
differs from the node's model as a real robot does. The demo prints and draws the tracking errors.

With --identify the model is poor. The arm follows an exciting trajectory, its model is identified
from the recorded joint states, and the node starts again with the URDF and the parameters that
were written. The demo prints and draws drift and tracking error before and after.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
import sys

from ...command_line import BAD_INPUT, OneLineParser, tool
from ...drawing import require_matplotlib
from ...errors import RneaError
from .arm import ROBOTS, DemoArm
from .circle import Circle
from .comparison import LawComparison
from .motion import sine_motion
from .session import DemoRun


def _program(options: argparse.Namespace) -> LawComparison | Circle:
    """
    Return the program of the options.

    :raises RneaError: the robot cannot be loaded, or matplotlib is missing
    """
    require_matplotlib()  # fail before the motion, not at its end
    output = Path(options.output)
    output.mkdir(parents=True, exist_ok=True)
    arm = DemoArm.load(options.robot, options.urdf)
    motion = sine_motion(arm.model, arm.joints, arm.pose, options.seconds)
    show = not options.headless and bool(os.environ.get('DISPLAY'))
    print(f'{arm.model.name}: {len(arm.joints)} joints, {options.rate:g} Hz')
    run = DemoRun(arm, motion, options.rate, output, show)
    if options.identify:
        return Circle(run)
    return LawComparison(run, perfect_model=options.perfect_model)


@tool
def main(args: list[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = OneLineParser(prog='demo', description=__doc__)
    parser.add_argument('--robot', choices=ROBOTS, default='panda', help='shipped robot')
    parser.add_argument('--urdf', help='URDF of another robot')
    parser.add_argument('--rate', type=float, default=500.0, help='control rate, Hz')
    parser.add_argument('--seconds', type=float, default=10.0, help='length of the motion, s')
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument(
        '--perfect-model', action='store_true', help="use a robot equal to the node's model"
    )
    kind.add_argument(
        '--identify', action='store_true', help='identify the robot; before and after'
    )
    parser.add_argument('--headless', action='store_true', help='open no window')
    parser.add_argument('--output', default='demo_output', help='directory of picture and logs')
    options = parser.parse_args(args)
    if not 50.0 <= options.rate <= 2000.0:
        parser.error(f'--rate {options.rate:g} is not between 50 and 2000 Hz')
    if options.identify and 1000.0 % options.rate:
        parser.error(f'--rate {options.rate:g} with --identify: 1000 Hz is not a multiple of it')
    if not 2.0 <= options.seconds <= 600.0:
        parser.error(f'--seconds {options.seconds:g} is not between 2 and 600 s')
    # No communication with other computers and ROS domains.
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
    try:
        program = _program(options)
    except (RneaError, OSError) as error:
        print(f'demo: {error}', file=sys.stderr)
        return BAD_INPUT
    try:
        return program.run()
    except BrokenPipeError:
        raise  # for :func:`.tool`
    except (RneaError, OSError) as error:
        print(f'demo: {error}', file=sys.stderr)
        return 1


if __name__ == '__main__':
    sys.exit(main())
