# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Check a trajectory before it moves a robot: limits, traps, and the fastest time scaling.

The trajectory is a trajectory_msgs/JointTrajectory from a YAML file (as ros2 topic echo writes
it), from a bag, or the next one on a live topic (needs ROS). It is interpolated as in the
feedforward node and in joint_trajectory_controller. Nothing is commanded.

The report shows the peaks of position, velocity, acceleration (exact) and effort (inverse dynamics
at --rate and on both sides of every point), each with its limit, margin and time; the rules by
which the feedforward node would reject the trajectory; and the least factor by which all times may
be multiplied; and the first collision of links with each other or with the --floor (needs MuJoCo,
and collision shapes in the URDF).

Exit code: 0 fine; 1 a violated limit or a trap; 2 not checked: bad arguments or files.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
import sys

from ..collision import Wall
from ..command_line import OneLineParser, target, tool
from ..feedforward.motion import Interpolation, TrajectoryRequest
from ..trajectory_check import RATE, TrajectoryCheck, TrajectoryLimits, check, picture, report
from .arguments import (
    add_bag,
    add_collisions,
    add_gravity,
    add_limits,
    collisions_of,
    finite,
    given_limits,
    load_model,
    needs_ros,
    position,
    positive,
)
from .trajectory_sources import read_trajectory, with_model_names


def _parser() -> OneLineParser:
    parser = OneLineParser(
        prog='check_trajectory', description=__doc__,
        epilog='example: check_trajectory motion.yaml --urdf robot.urdf --picture efforts.png'
    )
    add = parser.add_argument
    add_bag(parser, 'the trajectory: YAML, or a bag')
    add('--urdf', type=Path, required=True, help='URDF of the robot')
    add('--topic', help='topic of a bag with several topics; without a file, the live topic')
    add('--index', type=int, default=0, help='index of the trajectory in a file, from 0; 0')
    add('--timeout', type=positive, default=30.0, help='longest wait on a live topic, s; 30')
    add('--rate', type=float, default=RATE, help='rate of effort samples, Hz; 1000')
    add('--start', nargs='+', type=position, default=[], metavar='JOINT=POSITION',
        help='joint positions at the start, rad or m: the way to a first point after time 0 '
        'begins there, and joints that the trajectory leaves out hold there')
    add('--interpolation', choices=[each.value for each in Interpolation],
        default=Interpolation.LINEAR.value,
        help='as the parameter of the feedforward node, for points with positions only; linear')
    add_limits(parser)
    add('--payload', nargs=5, action='append', default=[],
        metavar=('LINK', 'MASS', 'X', 'Y', 'Z'),
        help="mass on a link, kg, and its centre in the link's frame, m; may be repeated")
    add_gravity(parser)
    add_collisions(parser)
    add('--picture', type=target, help='PNG file for a picture of the efforts (needs matplotlib)')
    return parser


def _options(args: list[str] | None) -> argparse.Namespace:
    """Return the checked options."""
    parser = _parser()
    options = parser.parse(args)
    if options.bag is None and options.topic is None:
        parser.error('name a file, or --topic')
    if options.index < 0:
        parser.error(f'--index {options.index} is negative')
    options.walls = []
    if options.floor is not None:
        options.walls.append(Wall('the floor', (0.0, 0.0, options.floor), (0.0, 0.0, 1.0)))
    try:
        options.payload = [(link, *map(finite, numbers)) for link, *numbers in options.payload]
    except argparse.ArgumentTypeError as error:
        parser.error(f'--payload: {error}')
    return options


def _request(options: argparse.Namespace) -> TrajectoryRequest:
    if options.bag is not None:
        return read_trajectory(options.bag, options.topic, options.index)
    with needs_ros('live topics need', '; or name a file'):
        from ..live import live_trajectory
    return live_trajectory(options.topic, options.timeout, options.ros_arguments)


def _check(options: argparse.Namespace) -> TrajectoryCheck:
    model = load_model('check_trajectory', options.urdf, options.gravity)
    for link, mass, *com in options.payload:
        model = model.with_payload(link, mass, com)
    limits = TrajectoryLimits.of_model(model, given_limits(options))
    request, renamed = with_model_names(model, _request(options))
    interpolation = Interpolation(options.interpolation)
    distances, reason = collisions_of(model, options.urdf, options.srdf, options.walls)
    start = dict(options.start)
    checked = check(model, request, limits, start, options.rate, interpolation, distances)
    return replace(checked, notes=(*renamed, *reason, *checked.notes))


@tool
def main(args: list[str] | None = None) -> int:
    """Check a trajectory and print the report; return the exit code."""
    options = _options(args)
    checked = _check(options)
    print(report(checked))
    if options.picture is not None and checked.figures is not None:
        picture(options.picture, checked.robot, checked.figures)
    return int(checked.verdict)


if __name__ == '__main__':
    sys.exit(main())
