# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Compute an exciting trajectory: a motion that shows masses and friction of a robot best.

The trajectory starts and ends at rest in the same pose. It uses at most 90 % of the position
ranges and 80 % of the velocity and effort limits of the URDF. With --floor or --box links stay
inside. Links keep 10 mm from each other; this needs MuJoCo, and collision shapes in the URDF.

The YAML files are trajectory_msgs/JointTrajectory, as check_trajectory reads them: FILE to fit a
model, FILE_validate to judge it.

With --publish (needs ROS) the robot moves: the trajectory starts at the present pose, or the robot
first moves to the pose of --start. Have the emergency stop at hand, and begin with --speed 0.2.
Ctrl-C stops the motion.

Exit code: 0 done; 1 the motion was stopped; 2 not possible, bad arguments or files.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
import os
from pathlib import Path
import sys

from ..collision import CollisionModel
from ..command_line import OneLineParser, Progress, target, tool
from ..files import write_files
from ..identification import excitation, load, require_scipy
from ..robot import RobotModel
from ..trajectory_check import Quantity
from .arguments import (
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
    speed,
)
from .trajectory_sources import read_trajectory, trajectory_text

TOPIC = 'feedforward/joint_trajectory'
FAILED = 1


def _parser() -> OneLineParser:
    parser = OneLineParser(
        prog='excite', description=__doc__,
        epilog='example: excite --urdf robot.urdf --floor 0.05 --out excite.yaml'
    )
    add = parser.add_argument
    add('--urdf', type=Path, required=True, help='URDF of the robot')
    add('--out', type=target, metavar='FILE',
        help='YAML file to write, beside FILE_validate; needed without --publish')
    add('--start', nargs='+', type=position, default=[], metavar='JOINT=POSITION',
        help='pose at the start and the end, rad or m; default: the present pose with --publish, '
        'else the middle of the ranges')
    add('--joints', nargs='+', metavar='JOINT',
        help='joints that move; default: all. The others hold their start position')
    add('--omit', nargs='+', default=[], metavar='JOINT',
        help='joints that hold and are not part of the trajectory, such as those of a gripper')
    add_collisions(parser)
    add('--after', type=Path, metavar='BAG',
        help='recording to add to: what it determines already counts (needs rosbags)')
    add('--box', nargs=6, type=finite, metavar=('X0', 'X1', 'Y0', 'Y1', 'Z0', 'Z1'),
        help="box for links in the root link's frame, m")
    add('--keep-inside', nargs='+', default=[], metavar='LINK',
        help='links above the floor or in the box; default: all that move towards its sides')
    add_limits(parser, (Quantity.VELOCITY, Quantity.EFFORT))
    add('--duration', type=positive, default=10.0,
        help='duration, s; default 10. Above 15 s the motion is repeated')
    add('--speed', type=speed, default=1.0,
        help='factor of the speed, at most 1 (default): 0.2 for a first slow run')
    add('--seconds', type=positive, default=60.0,
        help='processor time for the search, s; default 60')
    add_gravity(parser)
    add('--motion', type=Path, metavar='YAML',
        help='with --publish: the motion of this file, which excite wrote, instead of a new one')
    add('--publish', nargs='?', const=TOPIC, metavar='TOPIC',
        help=f'move the robot: publish on {TOPIC}, or on the topic of a '
        'joint_trajectory_controller')
    add('--record', type=Path, metavar='BAG',
        help='with --publish: write joint_states to a new bag (needs rosbags)')
    add('--yes', action='store_true', help='with --publish: do not ask before the motion')
    return parser


def _options(args: list[str] | None) -> argparse.Namespace:
    """Return the checked options."""
    parser = _parser()
    options = parser.parse(args)
    if options.publish is None and (options.motion or options.record or options.yes):
        parser.error('--motion, --record and --yes need --publish')
    if options.out is None and options.publish is None:
        parser.error('name the file to write (--out), or --publish')
    if options.motion and (options.start or options.joints or options.omit or options.out):
        parser.error('--motion takes no --start, --joints, --omit or --out: the file has them')
    if options.motion and options.after:
        parser.error('--after is for a new motion, not for --motion')
    if options.floor is not None and options.box is not None:
        parser.error('give --floor or --box, not both')
    if options.keep_inside and options.floor is None and options.box is None:
        parser.error('--keep-inside needs --floor or --box')
    if options.publish is not None and not (options.yes or sys.stdin.isatty()):
        parser.error('--publish asks before the motion, but there is no terminal; see --yes')
    if options.record is not None and os.path.lexists(options.record):
        parser.error(f'--record: {options.record} exists already; choose another name')
    return options


def _bounds(
    options: argparse.Namespace, model: RobotModel
) -> tuple[excitation.JointLimits, excitation.Region | None]:
    """Return the limits of the joints and the region for links."""
    given = given_limits(options)
    limits = excitation.JointLimits.of(model, given[Quantity.VELOCITY], given[Quantity.EFFORT])
    if options.floor is not None:
        return limits, excitation.Region.above(options.floor, options.keep_inside)
    if options.box is not None:
        sides = options.box[:2], options.box[2:4], options.box[4:]
        return limits, excitation.Region.box(*sides, options.keep_inside)
    return limits, None


def _excitation(
    options: argparse.Namespace, model: RobotModel, start: Mapping[str, float]
) -> excitation.Excitation:
    """Return an exciting motion from a start pose; report it and write the files."""
    limits, region = _bounds(options, model)
    for name in options.omit:
        model.position_indices(name)  # raises the error of an unknown joint
    chosen = model.joint_names if options.joints is None else options.joints
    moving = [name for name in chosen if name not in options.omit]
    after = None if options.after is None else load(options.after, model)
    progress = Progress()
    found = excitation.excite(
        model, limits, start=start, joints=moving, region=region,
        collisions=_collisions(options, model, region), after=after,
        duration=options.duration, seconds=options.seconds, progress=progress.share
    )
    progress.end()
    print(excitation.report(found))
    if options.out is not None:
        beside = options.out.with_stem(f'{options.out.stem}_validate')
        write_files({
            path: trajectory_text(motion.slowed(options.speed).request(_published(options, model)))
            for path, motion in ((options.out, found.motion), (beside, found.validation))
        })
    return found


def _collisions(
    options: argparse.Namespace, model: RobotModel, region: excitation.Region | None
) -> CollisionModel | None:
    walls, links = ([], ()) if region is None else (region.walls, region.links)
    found, reason = collisions_of(model, options.urdf, options.srdf, walls, links)
    for text in reason:
        print(text, flush=True)
    return found


def _published(options: argparse.Namespace, model: RobotModel) -> list[str]:
    """Return the joints of the trajectory."""
    return [name for name in model.joint_names if name not in options.omit]


@tool
def main(args: list[str] | None = None) -> int:
    """Compute an exciting trajectory, and move the robot if asked to; return the exit code."""
    options = _options(args)
    if options.motion is None:
        require_scipy()
    model = load_model('excite', options.urdf, options.gravity)
    if options.publish is None:
        _excitation(options, model, dict(options.start))
        return 0
    with needs_ros('--publish needs'):
        from ..live import MovingRobot, confirm, live_node
    known = None if options.motion is None else read_trajectory(options.motion, None, 0)
    with live_node('excite', options.ros_arguments) as live:
        robot = MovingRobot(live, model.joint_names, options.publish)
        pose = robot.pose()
        if known is None:
            joints = _published(options, model)
            start = dict([*zip(model.joint_names, pose, strict=True), *options.start])
            found: excitation.FeasibleMotion = _excitation(options, model, start)
        else:
            joints = list(known.joint_names)
            limits, region = _bounds(options, model)
            collisions = _collisions(options, model, region)
            found = excitation.known_motion(model, limits, known, pose, region, collisions)
        motion = found.motion.slowed(options.speed)
        way = found.way_from(robot.pose()).slowed(options.speed)
        confirm(way.duration, motion.duration, options.speed, yes=options.yes)
        way = found.way_from(robot.pose()).slowed(options.speed)  # it may have moved meanwhile
        return 0 if robot.follow(motion.after(way), joints, options.record) else FAILED


if __name__ == '__main__':
    sys.exit(main())
