# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Check a trajectory before it moves a robot: limits, traps, and how fast it may be.

The trajectory is a trajectory_msgs/JointTrajectory from a YAML file (as ros2 topic echo writes
it), a bag, or the next one on a live topic (then ROS is needed). It is read as the feedforward
node and joint_trajectory_controller read it. Reported are the peaks of position, velocity and
acceleration, which are exact, and of effort, by inverse dynamics at --rate and on both sides of
every point, each with its limit, margin and time; what the feedforward node would refuse; and
by which factor all times may be multiplied at least. Nothing is commanded.

Exit code: 0 fine; 1 a limit is violated, or there is a trap; 2 it could not be checked: bad
arguments or files.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
import math
from pathlib import Path
import sys

from ..checking import RATE, Limits, Quantity, TrajectoryCheck, check, picture, report
from ..command_line import BAD_INPUT, OneLineParser, split_ros_arguments
from ..errors import RneaError
from ..feedforward.trajectory import TrajectoryRequest
from ..robot import RobotModel
from .arguments import add_bag, add_gravity, bag_of, positive
from .model import load_model
from .trajectory_names import in_names_of
from .trajectory_sources import TrajectoryFileError, read_trajectory

LIMITED = (Quantity.VELOCITY, Quantity.ACCELERATION, Quantity.EFFORT)


def _parser() -> OneLineParser:
    parser = OneLineParser(
        prog='check_trajectory',
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog='example: check_trajectory motion.yaml --urdf robot.urdf --picture efforts.png',
    )
    add = parser.add_argument
    add_bag(parser, 'the trajectory: YAML, or a bag')
    add('--urdf', type=Path, required=True, help='the robot')
    add('--topic', help='of a bag, where it has several; without a file, the live topic')
    add('--index', type=int, default=0, help='which trajectory of a file, 0 for the first')
    add('--timeout', type=positive, default=30.0, help='live: give up after so many seconds; 30')
    add('--rate', type=float, default=RATE, help='samples of efforts a second, Hz; 1000')
    add(
        '--start',
        nargs='+',
        default=[],
        metavar='JOINT=POSITION',
        help='where joints are at the start, rad or m: a first point after time 0 is reached '
        'from there, and joints that the trajectory leaves out hold there',
    )
    for quantity in LIMITED:
        add(
            f'--{quantity.value}-limits',
            nargs='+',
            default=[],
            metavar='[JOINT=]LIMIT',
            help=f"instead of the URDF's: {quantity.value} limit of a joint, or of all others",
        )
    add(
        '--payload',
        nargs=5,
        action='append',
        default=[],
        metavar=('LINK', 'MASS', 'X', 'Y', 'Z'),
        help="a mass on a link, kg, and its centre in the link's frame, m; may be repeated",
    )
    add_gravity(parser)
    add('--picture', type=Path, help='PNG of the efforts to write (needs matplotlib)')
    return parser


def _options(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Return checked options, and the arguments that are ROS's own."""
    own, of_ros = split_ros_arguments(arguments)
    parser = _parser()
    options = parser.parse_args(own)
    options.bag = bag_of(parser, options)
    if options.bag is None and options.topic is None:
        parser.error('name a file, or --topic')
    if options.index < 0:
        parser.error(f'--index {options.index} is negative')
    try:
        options.start = _by_joint('--start', options.start)
        if None in options.start:
            raise ValueError(f'--start {options.start[None]:g} is not JOINT=POSITION')
        options.limits = {
            quantity: _by_joint(flag, getattr(options, f'{quantity.value}_limits'))
            for quantity in LIMITED
            for flag in [f'--{quantity.value}-limits']
        }
        options.payload = [
            (link, *(_finite('--payload', number) for number in numbers))
            for link, *numbers in options.payload
        ]
    except ValueError as error:
        parser.error(str(error))
    return options, of_ros


def _by_joint(flag: str, words: Sequence[str]) -> dict[str | None, float]:
    """Return numbers by joint, that of all others by None."""
    given = {}
    for word in words:
        joint, _, number = word.rpartition('=')
        given[joint or None] = _finite(flag, number)
    return given


def _finite(flag: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f'{flag}: {text!r} is no number') from None
    if not math.isfinite(number):
        raise ValueError(f'{flag}: {text} is not finite')
    return number


def _model(options: argparse.Namespace) -> RobotModel:
    model = load_model('check_trajectory', options.urdf, options.gravity)
    for link, mass, *com in options.payload:
        model = model.with_payload(link, mass, com)
    return model


def _request(options: argparse.Namespace, ros_arguments: Sequence[str]) -> TrajectoryRequest:
    if options.bag is not None:
        return read_trajectory(options.bag, options.topic, options.index)
    try:
        from .live import live_trajectory
    except ImportError as error:
        raise TrajectoryFileError(f'live topics need ROS ({error}); or name a file') from error
    return live_trajectory(options.topic, options.timeout, ros_arguments)


def _check(options: argparse.Namespace, ros_arguments: Sequence[str]) -> TrajectoryCheck:
    model = _model(options)
    limits = Limits.of_model(model)
    for quantity, given in options.limits.items():
        limits = limits.with_limits(quantity, given)
    request, renamed = in_names_of(model, _request(options, ros_arguments))
    checked = check(model, request, limits, options.start, options.rate)
    return replace(checked, notes=(*renamed, *checked.notes))


def main(args: list[str] | None = None) -> int:
    """Check a trajectory; return the exit code."""
    options, ros_arguments = _options(sys.argv[1:] if args is None else args)
    try:
        checked = _check(options, ros_arguments)
        print(report(checked))
        if options.picture is not None and checked.figures is not None:
            picture(options.picture, checked.robot, checked.figures)
    except RneaError as error:
        print(f'check_trajectory: {error}', file=sys.stderr)
        return BAD_INPUT
    return int(checked.verdict)


if __name__ == '__main__':
    sys.exit(main())
