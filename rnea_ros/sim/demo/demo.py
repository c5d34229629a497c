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

With --teach a simulated hand guides the weightless arm. The motion is taught from the recorded
joint states, as by the tool teach, and played back.

With --teleoperation a hand guides one arm, and a second arm follows it, through the air and to a
wall, without delay and with 50 ms each way. Both arms are in one process, without topics. The demo
prints and draws tracking errors and forces.

Simulated time waits for the control, so a busy computer changes no result. With --real-time it
follows the clock, and the table has rate, late ticks and CPU share of the control.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from importlib.util import find_spec
import os
from pathlib import Path
import socket
import sys
from typing import Protocol

from ...command_line import BAD_INPUT, OneLineParser, tool
from ...drawing import require_matplotlib
from ...errors import RneaError
from ...resources import share_path
from ...shared_memory import LOOPBACK_NOTICE, loopback_by_default
from ..physics import SimulatedRobot
from .arm import ROBOTS, DemoArm, DemoError, DemoRun

PARTICIPANTS = 10  # of a DDS domain that are looked for
EXAMPLES = {'teach': 'teach_and_play', 'teleoperation': 'teleoperation_demo'}


class Program(Protocol):
    """A demo; its exit code is 1 if the result is worse than expected."""

    def run(self) -> int:
        """Run the demo; return the exit code."""


def _program(options: argparse.Namespace) -> Program:
    """Return the program of the options."""
    require_matplotlib()  # fail before the motion, not at its end
    output = Path(options.output)
    output.mkdir(parents=True, exist_ok=True)
    arm = DemoArm.load(options.robot, options.urdf, options.seconds)
    show = not options.headless and bool(os.environ.get('DISPLAY'))
    print(f'{arm.model.name}: {len(arm.joints)} joints, {options.rate:g} Hz')
    for remark in arm.remarks:
        print(remark)
    SimulatedRobot(arm.urdf, joints=arm.joints)  # raises now what its process would log
    if options.browser:
        if find_spec('viser') is None:
            raise DemoError('--browser: viser is not installed: pip install viser')
        print('open http://localhost:8080 (another port: see panel.log in the output)')
    run = DemoRun(arm, options.rate, output, show, options.real_time, options.browser)
    for option, module in EXAMPLES.items():
        if getattr(options, option):
            sys.path.append(str(share_path(f'examples/{module}.py').parent))
            program: Program = import_module(module).Program(run)
            return program
    # Imported here: two arms in one process need no ROS.
    from .circle import Circle
    from .comparison import LawComparison

    if options.identify:
        return Circle(run)
    return LawComparison(run, perfect_model=options.perfect_model)


def unused_domain() -> int:
    """Return a DDS domain, 1 to 100, without a participant on this machine."""
    domains = [1 + (os.getpid() + k) % 100 for k in range(100)]
    return next(filter(_is_unused, domains), domains[0])


def _is_unused(domain: int) -> bool:
    """Return whether the ports of a domain's participants are free; the first may be gone."""
    for participant in range(PARTICIPANTS):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(('', 7410 + 250 * domain + 2 * participant))
            except OSError:
                return False
    return True


@tool
def main(args: list[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = OneLineParser(prog='demo', description=__doc__)
    parser.add_argument('--robot', choices=ROBOTS, default='panda', help='shipped robot')
    parser.add_argument('--urdf', help='URDF of another robot')
    parser.add_argument('--rate', type=float, default=500.0, help='control rate, Hz')
    parser.add_argument('--seconds', type=float, default=10.0, help='length of the motion, s')
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument('--perfect-model', action='store_true',
                      help="use a robot equal to the node's model")
    kind.add_argument('--identify', action='store_true',
                      help='identify the robot; before and after')
    kind.add_argument('--teach', action='store_true',
                      help='teach a motion by a simulated hand, and play it')
    kind.add_argument('--teleoperation', action='store_true', help='two arms: free motion, wall')
    parser.add_argument('--real-time', action='store_true',
                        help='simulated time follows the clock')
    parser.add_argument('--browser', action='store_true',
                        help='show robot and node in a browser, not faster than real time')
    parser.add_argument('--headless', action='store_true', help='open no window with the picture')
    parser.add_argument('--output', default='demo_output', help='directory of picture and logs')
    options = parser.parse_args(args)
    if not 50.0 <= options.rate <= 2000.0:
        parser.error(f'--rate {options.rate:g} is not between 50 and 2000 Hz')
    if (options.identify or options.teach or options.teleoperation) and options.real_time:
        parser.error('--identify, --teach and --teleoperation have no --real-time')
    if options.teleoperation and options.rate != 500.0:
        parser.error('--teleoperation has no other --rate')
    if 1000.0 % options.rate and not options.real_time:
        parser.error(f'1000 Hz is not a multiple of --rate {options.rate:g}; or add --real-time')
    if not 2.0 <= options.seconds <= 600.0:
        parser.error(f'--seconds {options.seconds:g} is not between 2 and 600 s')
    # No communication with other computers and ROS domains.
    if loopback := loopback_by_default(os.environ):
        os.environ.update(loopback)
        print(LOOPBACK_NOTICE)
    os.environ.setdefault('ROS_DOMAIN_ID', str(unused_domain()))
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
